package record

import (
	"time"

	"github.com/motorpool/fleet"
)

// Cell is a column of a table of current records, with its value. Kinds that are written often make their rows themselves (Kind.Row), which
// costs a third of what the query of their feed costs. Both say the same: the query is what fills a table anew and mends it.
type Cell struct {
	Column string
	Value  any
}

// Stored is an instant as tables hold it: one that is not known is 1970.
func Stored(i Instant) time.Time {
	if i.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return i.UTC()
}

// archived is an instant of archiving as tables hold it.
func archived(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// rowOf makes the row of a revision, if its kind does.
func (l *Log[T]) rowOf(r *revision, body T) []Cell {
	if l.kind.Row == nil {
		return nil
	}
	rec := Record[T]{Account: fleet.AccountID(r.account), ID: r.id, Revision: r.number, CreatedAt: r.createdAt, UpdatedAt: r.at, Body: body}
	if r.archivedAt != nil {
		rec.ArchivedAt = *r.archivedAt
	}
	return l.kind.Row(&rec, r.body)
}
