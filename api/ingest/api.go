// Package ingest takes what trackers, phones and gateways report over HTTP, and shows the dead letters of what
// could not be read.
package ingest

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Publisher puts reports of an account's devices on a topic and returns when all of them are acknowledged.
type Publisher interface {
	Publish(ctx context.Context, account fleet.AccountID, topic string, reports []fleet.Report) error
}

// RecordReader reads the reports of a record, or of a body that has the form of one, as the pipeline does. The
// formats are those of dead letters. The reports are the caller's; an error is the record's fault.
type RecordReader interface {
	ReadRecord(format string, record []byte) ([]fleet.Report, error)
}

// API holds the ways in.
type API struct {
	*rest.Server
	Publisher Publisher    // nil answers 503
	Reader    RecordReader // without it neither Traccar's positions nor dead letters are taken

	desk     *desk.Desk
	trackers *knownTrackers[query.TrackerName] // of accounts whose keys report
	phones   *knownTrackers[string]            // that report for themselves, by their unique ids
}

// New makes the ways in on a server. It registers no routes.
func New(s *rest.Server, d *desk.Desk, publisher Publisher, reader RecordReader) *API {
	a := &API{Server: s, Publisher: publisher, Reader: reader, desk: d}
	changed := func(ctx context.Context, since time.Time) (map[query.TrackerName]uint64, error) {
		return query.ChangedTrackers(ctx, a.DB, since)
	}
	a.trackers = newKnownTrackers(a.Now, changed,
		func(ctx context.Context, names []query.TrackerName) (map[query.TrackerName]query.Tracker, error) {
			return query.FindTrackers(ctx, a.DB, names...)
		})
	a.phones = newKnownTrackers(a.Now, changed,
		func(ctx context.Context, uniqueIDs []string) (map[string]query.Tracker, error) {
			return query.TrackersByUniqueID(ctx, a.DB, uniqueIDs...)
		})
	d.Store.Beside(record.Devices.Name, "intake looks again", a.forgetWritten)
	return a
}
