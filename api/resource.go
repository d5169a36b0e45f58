package api

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// resource is one kind of record as the interface shows it: what it declares, and six hooks for what is its own. What
// all kinds have stands in the files resource_*.go and list*.go, and in those of batches, imports and exports.
type resource[T any] struct {
	api     *API
	log     *record.Log[T]
	listing *query.Listing
	titles
	views
	scope    scopes
	params   params
	table    *peopleTable[T] // of lists and exports; nil if there is none for people
	writable func(*T) any    // pointer to the part of a body that callers write, of the type of fields
	fixed    bool            // it cannot be patched; register knows

	// make makes the body of a new record from what was sent, already held against the schema of create. Unless given,
	// what was sent is the part that callers write, and there is nothing else.
	make func(r *http.Request, object map[string]any) (T, error)
	// show makes the views of records, in order.
	show func(ctx context.Context, records []record.Record[T], expand []string) ([]shown, error)
	// prepare, if not nil, completes a body that is about to be written, and may refuse it: what its schema cannot refuse,
	// and names of records that do not exist. For a new record before is nil and id zero.
	prepare func(r *http.Request, id uint64, before, after *T) error
	// write, if not nil, writes in the place of the log: single records, batches and imports alike.
	write func(r *http.Request, w writing[T]) (record.Record[T], error)
	// choose, if not nil, narrows what a list asks for, or changes the values of its filters.
	choose func(r *http.Request, req *query.ListRequest) error
	// mayArchive, if not nil, begins an attempt to archive the record of the id: may can refuse it, and is asked again if
	// another write came first. Done, if not nil, is told what became of the attempt.
	mayArchive func(r *http.Request, id uint64) (may func(*record.Record[T]) error, done func(error))
}

// titles say how a resource is called.
type titles struct {
	path  string // "/v1/vehicles"
	tag   string // "Vehicles"
	noun  string // "vehicle"
	nouns string // "vehicles"
	about string // what is said of making one, if anything
}

// views are the forms of a record.
type views struct {
	view     any            // zero value of a shown record
	fields   any            // zero value of what callers write
	create   any            // zero value of what callers write when creating, if that is more
	expand   []string       // what expand= may name
	moving   []string       // members of the view that change by themselves
	states   []string       // of its status, if a list can be filtered by that
	imported map[string]any // members that a record has which is imported, unless its row says otherwise
}

// scopes are what it takes to read and to write the records.
type scopes struct {
	read, write auth.Scope
	needs       map[string]auth.Scope // that members of expand need beside read
}

// params are the parameters of a resource that others do not have.
type params struct {
	list   []param // that choose reads
	change []param // of PUT and PATCH, that write reads
}

// shown is a record as it is answered.
type shown struct {
	view any
	live []byte // of what the view shows beside the record itself, for its tag; nil if nothing
}

// each makes the hook show for records of which nothing else is known than what they hold.
func each[T any](view func(record.Record[T]) any) func(context.Context, []record.Record[T], []string) ([]shown, error) {
	return func(_ context.Context, records []record.Record[T], _ []string) ([]shown, error) {
		views := make([]shown, len(records))
		for i, rec := range records {
			views[i].view = view(rec)
		}
		return views, nil
	}
}

// onlyIf makes the hook mayArchive of a function that refuses or does not, and holds nothing.
func onlyIf[T any](
	may func(*http.Request, *record.Record[T]) error,
) func(*http.Request, uint64) (func(*record.Record[T]) error, func(error)) {
	return func(r *http.Request, _ uint64) (func(*record.Record[T]) error, func(error)) {
		return func(rec *record.Record[T]) error { return may(r, rec) }, nil
	}
}
