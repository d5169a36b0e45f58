package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Resource is one kind of record as the interface shows it: what it declares, and seven hooks for what is its own. What
// all kinds have stands in the files resource_*.go and list*.go, and in those of batches, imports and exports.
type Resource[T any] struct {
	Server  *Server
	Log     *record.Log[T]
	Listing *query.Listing
	Titles
	Views
	Scope    Scopes
	Params   Params
	Table    *PeopleTable[T] // of lists and exports; nil if there is none for people
	Writable func(*T) any    // pointer to the part of a body that callers write, of the type of Fields
	fixed    bool            // it cannot be patched; Register knows

	// Make makes the body of a new record from what was sent, already held against the schema of Create. Unless given,
	// what was sent is the part that callers write, and there is nothing else.
	Make func(r *http.Request, object map[string]any) (T, error)
	// Show makes the views of records, in order.
	Show func(ctx context.Context, records []record.Record[T], expand []string) ([]Shown, error)
	// Ready, if not nil, shows records that are asked for again and again.
	Ready *Ready[T]
	// Prepare, if not nil, completes a body that is about to be written, and may refuse it: what its schema cannot refuse,
	// and names of records that do not exist. For a new record before is nil and id zero.
	Prepare func(r *http.Request, id uint64, before, after *T) error
	// Write, if not nil, writes in the place of the log: single records, batches and imports alike.
	Write func(r *http.Request, w Writing[T]) (record.Record[T], error)
	// Early says that whoever makes a single record is answered as soon as the log has it. What Write reads of the account
	// it must read from the log or from memory then.
	Early bool
	// Together, if not nil, writes many new records of an import at once.
	Together *Together[T]
	// ReadyAtOnce, if more than of a batch, is how many rows of an import are made ready at the same time: what Prepare
	// asks of the store they must ask together.
	ReadyAtOnce int
	// Choose, if not nil, narrows what a list asks for, or changes the values of its filters.
	Choose func(r *http.Request, req *query.ListRequest) error
	// MayArchive, if not nil, begins an attempt to archive the record of the id: may can refuse it, and is asked again if
	// another write came first. Done, if not nil, is told what became of the attempt.
	MayArchive func(r *http.Request, id uint64) (may func(*record.Record[T]) error, done func(error))
}

// Titles say how a resource is called.
type Titles struct {
	Path  string // "/v1/vehicles"
	Tag   string // "Vehicles"
	Noun  string // "vehicle"
	Nouns string // "vehicles"
	About string // what is said of making one, if anything
}

// Views are the forms of a record.
type Views struct {
	View     any            // zero value of a shown record
	Fields   any            // zero value of what callers write
	Create   any            // zero value of what callers write when creating, if that is more
	Expand   []string       // what expand= may name
	Moving   []string       // members of the view that change by themselves
	States   []string       // of its status, if a list can be filtered by that
	Imported map[string]any // members that a record has which is imported, unless its row says otherwise
}

// Scopes are what it takes to read and to write the records.
type Scopes struct {
	Read, Write auth.Scope
	Needs       map[string]auth.Scope // that members of expand need beside Read
}

// Params are the parameters of a resource that others do not have.
type Params struct {
	List   []Param // that Choose reads
	Change []Param // of PUT and PATCH, that Write reads
}

// Together is how new records are written many at once, each with what the hook Write would have made of it.
type Together[T any] struct {
	By   string // the member of which records that have the same value are best written together; those without are not
	Most int    // records at once
	// Write returns the error of each record, nil for those that stand: record.ErrNotYet for one of which nothing was
	// written, and that is for the hook Write. It is called for several lots at the same time.
	Write func(r *http.Request, ids []uint64, bodies []T) []error
}

// Shown is a record as it is answered.
type Shown struct {
	View  any
	Live  []byte    // of what the view shows beside the record itself, for its tag; nil if nothing
	Until time.Time // the last instant at which it is shown so if nothing is written; zero if that cannot be told
}

// ShowEach makes the hook Show for records of which nothing else is known than what they hold.
func ShowEach[T any](
	view func(record.Record[T]) any,
) func(context.Context, []record.Record[T], []string) ([]Shown, error) {
	return func(_ context.Context, records []record.Record[T], _ []string) ([]Shown, error) {
		views := make([]Shown, len(records))
		for i, rec := range records {
			views[i].View = view(rec)
		}
		return views, nil
	}
}

// ArchiveIf makes the hook MayArchive of a function that refuses or does not, and holds nothing.
func ArchiveIf[T any](
	may func(*http.Request, *record.Record[T]) error,
) func(*http.Request, uint64) (func(*record.Record[T]) error, func(error)) {
	return func(r *http.Request, _ uint64) (func(*record.Record[T]) error, func(error)) {
		return func(rec *record.Record[T]) error { return may(r, rec) }, nil
	}
}
