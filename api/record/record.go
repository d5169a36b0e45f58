// Package record is the only writer of business records: accounts and API keys, vehicles and devices, bookings,
// customers, payments and all others. It has the body of each kind, and the checks that need nothing beside it.
//
// A record's truth is its append-only log of revisions in record_log; the current tables (vehicles, devices, ...) are
// fed from it before a write is answered (schemas.Feed). A write is compare-and-set without any lock, from any number
// of processes: read revision r, insert revision r+1 with the token "<kind>:<account>:<id>:<r+1>", and hear from the
// server whether it stored the row or took it for another's; where it does not say, read back whose write_id became
// r+1. Of concurrent inserts with one token the server keeps exactly one, as long as its deduplication window (10,000
// inserts) holds more inserts than can happen between the read and the insert: within a write's deadline (5 s), and
// half of it before where the caller had seen the record (Log.UpdateSeen). That is 1,300 writes a second to one table,
// sustained. A write past its deadline gives up. Store.Audit counts revisions with two rows, which must stay zero.
//
// A value that must be unique (a VIN, a plate, a device's unique id) is claimed the same way in claim_log before the
// record that holds it is written:
//
//	free ──claim──> claimed by id ──record written──> held ──value changed, record archived──> released
//	                     │
//	                     └── never written, and Config.Abandoned has passed: the next one takes it over
//
// What others call a booking is claimed by thousands in one insert, and looked at afterwards (claimtogether.go). A
// claim is released only by whoever can know that no revision holds the value; every other claim that came to nothing
// lapses. Nothing here trusts a clock of ours: the age of a claim is measured by the server.
//
// Log is one kind of record; its methods block until the write is decided or its deadline has passed. An error is a
// *fleet.Error if the caller of the interface is meant (not found, stale, a value is taken), and otherwise says what
// could not be read or written. All types are safe for concurrent use.
package record

import (
	"time"

	"github.com/motorpool/fleet"
)

// Record is one revision of a business record.
type Record[T any] struct {
	Account    fleet.AccountID
	ID         uint64
	Revision   uint64 // from 1
	CreatedAt  time.Time
	UpdatedAt  time.Time // of this revision
	ArchivedAt time.Time // zero while the record is in use
	Body       T
}

// Archived says whether the record has been archived.
func (r *Record[T]) Archived() bool { return !r.ArchivedAt.IsZero() }

// Author is who writes, for the audit trail.
type Author struct {
	Actor     string // "key_123", "cli", "pipeline"
	RequestID string // of the request that led to it, if any; callers choose it, so it tells nothing
	// Command names the command that writes. All attempts of it have the same, and nobody else has: what it wrote is
	// known by it. It is zero where an id says what it is the id of, so that whoever finds a record under it has found
	// the right one.
	Command uint32
	Again   bool // the command is repeated: an earlier attempt was cut short and may have done its work
}

// System is the author of what nobody asked for: what time brings about, and what follows from other records.
var System = Author{Actor: "system"}

// Claim is a value that only one record may hold at a time. A field that is unique over all accounts has Global set.
type Claim struct {
	Field  string // "vehicle.vin"
	Value  string // normalised: two spellings of one value are one value
	Global bool
	Says   string // the pointer of the member that holds it, for errors: "/vin"
}

// Kind describes one kind of record.
type Kind[T any] struct {
	Name   string // in record_log and in tokens: "vehicle"
	Prefix string // of its ids: "veh_"
	Letter string // of the numbers of its records, if T is Numbered: "B"
	Claims func(*T) []Claim
	Hidden []string // members that history does not show
}

// Actions, as they stand in the log.
const (
	ActionCreate  = "create"
	ActionUpdate  = "update"
	ActionArchive = "archive"
)
