package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// owedKept is for how long what was done is kept, so that the past can be derived again.
const owedKept = 400 * 24 * time.Hour

// owedOverlap is how far a reading of everything looks back for what others may have missed. It cannot be all, as for
// the other records, because bookings are many.
const owedOverlap = 7 * 24 * time.Hour

// owed is something a vehicle is bound by, as it was read.
type owed struct {
	account  fleet.AccountID
	vehicle  fleet.VehicleID
	revision uint64
	at       time.Time // of the write
	after    fleet.Millis
	due      string // local date; "" for none
	gone     bool
	fleet.Obligation
}

// owedKey names it: one record may bind by several kinds.
type owedKey struct{ kind, ref string }

// readOwed reads what vehicles are bound by, of what was written since a time.
func (p *Policies) readOwed(ctx context.Context, since, now time.Time) ([]owed, error) {
	return schemas.AllRows(ctx, p.db, "read obligations", schemas.Query("policy_obligations"), []any{
		clickhouse.Named("since", max(since.UnixMilli(), 0)),
		clickhouse.Named("horizon", now.Add(-owedKept).UnixMilli()),
	}, func(o *owed, row schemas.Row) error {
		return row.Scan((*uint64)(&o.account), (*uint64)(&o.vehicle), &o.Kind, &o.Ref, &o.revision, &o.at,
			(*int64)(&o.From), (*int64)(&o.To), &o.Done, (*int64)(&o.DoneAt), (*int64)(&o.after), &o.due, &o.gone)
	})
}

// takeOwed notes what a vehicle is bound by, and its account as changed if that is news.
func (p *Policies) takeOwed(o *owed, changed map[fleet.AccountID]bool) {
	a, key := p.recordsOf(uint64(o.account)), owedKey{o.Kind, o.Ref}
	was := a.owed[key]
	if was != nil && o.revision <= was.revision || was == nil && o.gone {
		return
	}
	changed[o.account] = true
	if was != nil {
		a.unbind(was)
		if was.vehicle != o.vehicle && was.Kind == "booking" && !was.gone && !o.gone {
			// It was swapped for another: what it did until then it did for the booking.
			left := *was
			left.Ref, left.Done, left.DoneAt, left.after =
				fmt.Sprintf("%s until %d", was.Ref, o.revision), true, fleet.MillisOf(o.at), 0
			a.bind(&left)
		}
	}
	a.bind(o)
}

func (a *accountRecords) bind(o *owed) {
	a.owed[owedKey{o.Kind, o.Ref}] = o
	a.stale[o.vehicle] = true
	if o.gone {
		return
	}
	if a.bound[o.vehicle] == nil {
		a.bound[o.vehicle] = map[owedKey]*owed{}
	}
	a.bound[o.vehicle][owedKey{o.Kind, o.Ref}] = o
}

func (a *accountRecords) unbind(o *owed) {
	delete(a.bound[o.vehicle], owedKey{o.Kind, o.Ref})
	a.stale[o.vehicle] = true
}

// obligations adds what the vehicle is bound by to what its record says.
func (a *accountRecords) obligations(vehicle fleet.VehicleID, t *fleet.Traits) {
	for _, o := range a.bound[vehicle] {
		made := o.Obligation
		if day, err := time.ParseInLocation(time.DateOnly, o.due, t.Zone); err == nil {
			made.To = fleet.MillisOf(day.AddDate(0, 0, 1))
		}
		t.Obligations = append(t.Obligations, made)
		if o.after > o.DoneAt && o.DoneAt != 0 {
			t.Obligations = append(t.Obligations,
				fleet.Obligation{Kind: o.Kind, Ref: o.Ref + " after", From: o.DoneAt, To: o.after, Done: true, DoneAt: o.after})
		}
	}
	slices.SortStableFunc(t.Obligations, func(a, b fleet.Obligation) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
}
