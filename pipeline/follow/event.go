package follow

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/motorpool/fleet"
)

// types names the events of a kind that has a beginning and an end.
var types = map[fleet.Kind]struct{ begun, ended, updated, deleted string }{
	fleet.KindTrip: {fleet.EventTripStarted, fleet.EventTripEnded, fleet.EventTripUpdated, fleet.EventTripDeleted},
	fleet.KindStop: {fleet.EventStopStarted, fleet.EventStopEnded, fleet.EventStopUpdated, fleet.EventStopDeleted},
	fleet.KindCharging: {fleet.EventChargingStarted, fleet.EventChargingEnded, fleet.EventChargingUpdated,
		fleet.EventChargingDeleted},
	fleet.KindVisit: {fleet.EventFenceEntered, fleet.EventFenceExited, fleet.EventVisitUpdated,
		fleet.EventVisitDeleted},
	fleet.KindDriving: {fleet.EventDrivingNoted, fleet.EventDrivingUpdated, fleet.EventDrivingUpdated,
		fleet.EventDrivingDeleted},
	fleet.KindAlert: {fleet.EventAlertRaised, fleet.EventAlertResolved, fleet.EventAlertUpdated,
		fleet.EventAlertWithdrawn},
	fleet.KindRun: {fleet.EventRunStarted, fleet.EventRunEnded, fleet.EventRunUpdated, fleet.EventRunDeleted},
}

// note appends the events of a new version of a thing. before is what was stored, nil if there was nothing; one that
// was deleted begins again.
func (o *outbox) note(before *storedRow, e fleet.Entity, r *row, mark uint64) {
	t, h := types[e.Kind()], e.Header()
	fresh := before == nil || before.deleted
	add := func(name string, at fleet.Millis, of uint64) { o.event(name, at, of, r) }
	// A beginning is told once, whatever the thing looks like by then; so its event's identity does not come from the
	// version. Only after a deletion there is another beginning.
	begin := uint64(0)
	if before != nil && before.deleted {
		begin = uint64(before.revision)
	}
	visit, _ := e.(*fleet.Visit)
	switch {
	case visit != nil && fresh && visit.Crossed:
		add(fleet.EventFenceCrossed, h.Start, begin)
		return
	case visit != nil && fresh && visit.Initial && h.Open && visit.DwelledAt == 0:
		add(t.updated, h.Start, r.digest) // nobody saw it enter
		return
	case fresh && (visit == nil || !visit.Initial):
		add(t.begun, h.Start, begin)
	}
	told := fresh && (visit == nil || !visit.Initial)
	if visit != nil && visit.DwelledAt != 0 && (fresh || before.mark == 0) && (fresh || before.open) {
		add(fleet.EventFenceDwelled, visit.DwelledAt, begin)
		told = true
	}
	wasOpen := fresh || before.open
	switch {
	case wasOpen && !h.Open:
		if fresh && e.Kind() == fleet.KindDriving {
			return // a moment
		}
		if visit != nil && visit.ExitReason != "left" {
			add(t.updated, h.End, r.digest)
			return
		}
		add(t.ended, h.End, r.digest)
	case told:
	case wasOpen && e.Kind() != fleet.KindAlert && e.Kind() != fleet.KindRun: // it goes on
	case wasOpen && mark == before.mark: // likewise: no worse than before
	default:
		add(t.updated, max(h.End, h.Start), r.digest)
	}
}

// gone appends the event of a thing that does not hold.
func (o *outbox) gone(r *row) { o.event(types[r.kind].deleted, r.start, uint64(r.revision), r) }

// event appends an event about a row. of tells events of one type about one thing apart.
func (o *outbox) event(name string, at fleet.Millis, of uint64, r *row) {
	hash := fnv.New64a()
	var b [16]byte
	binary.BigEndian.PutUint64(b[0:], r.id)
	binary.BigEndian.PutUint64(b[8:], of)
	hash.Write([]byte(name))
	hash.Write([]byte(r.kind))
	hash.Write(b[:])
	o.events = append(o.events, fleet.Event{
		ID: max(hash.Sum64()>>1, 1), Type: name, Account: r.key.Account, Vehicle: r.key.Vehicle, At: at, Late: r.late,
		Kind: r.kind, Object: r.id, Revision: r.revision, Body: r.body,
	})
}

// digest tells versions of a thing apart.
func digest(h *fleet.Head, body []byte) uint64 {
	hash := fnv.New64a()
	hash.Write(body) // with start, end and open
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(h.RecognisedAt))
	hash.Write(b[:])
	return hash.Sum64()
}
