package rest

import (
	"net/http"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// Action is what can be done with a record beside writing it, by POST to its path and a verb. T is the body of the
// record and B that of the request, NoBody where it takes none. Its route, its place in the OpenAPI document, the
// reading of the request's body, If-Match and the answer with its ETag are made of this by Act.
type Action[T, B any] struct {
	Verb    string // last part of the path: "pickup"
	ID      string // operation id; made of the verb and the noun of the kind unless given: "pickupBooking"
	Summary string
	About   string // more words, in Markdown

	// Refuses begins the sentence that says which states of the record do not allow the action, if it depends on them.
	// Whoever writes the record refuses them with a *record.TransitionError.
	Refuses string

	Scope       auth.Scope // needed; that of writing the kind unless given
	Params      []Param    // beside If-Match
	Optional    bool       // the body may be left out, and is the zero value then
	Status      int        // of success; 200 by default
	Accepts     bool       // success may also be a 202: it goes on after the answer
	AnyRevision bool       // it does not depend on the revision, so that it takes no If-Match

	// Path is that of the record, which its last parameter names; the path of the kind and {id} unless given.
	Path string
	// CheckOwner, if not nil, reads from the path whose record it must be, and gives what refuses another's.
	CheckOwner func(r *http.Request) (func(*record.Record[T]) error, error)

	// Do does it, and returns the record as it is then, which is answered.
	Do func(c *Call[T], sent B) (record.Record[T], error)
	// Answer does it in the place of Do where something else is answered, of the type of Reply.
	Answer func(w http.ResponseWriter, c *Call[T], sent B) error
	Reply  any // zero value of the answer's type; a shown record unless given
}

// NoBody is the body of an action that takes none.
type NoBody struct{}

// OtherState begins the sentence about states where there is no more to be said of them; byState ends it.
const (
	OtherState = "A state that does not allow it"
	byState    = " is a 409 with `current_state` and `allowed_transitions`."
)

// Call is one request for an action: who asks for it, and of which record.
type Call[T any] struct {
	*http.Request
	By      record.Author
	Account fleet.AccountID
	ID      uint64 // of the record that the path names

	log     *record.Log[T]
	belongs func(*record.Record[T]) error // may be nil
}

// CheckRecord refuses a record that is not the one of the path, or not of the revision that If-Match names. Each action
// that takes If-Match asks it about the revision that it changes.
func (c *Call[T]) CheckRecord(rec *record.Record[T]) error {
	if c.belongs != nil {
		if err := c.belongs(rec); err != nil {
			return err
		}
	}
	return Precondition(c.Request, rec.Revision)
}

// Update changes the record that is meant by mutate, which may run several times.
func (c *Call[T]) Update(mutate func(*record.Record[T]) error) (record.Record[T], error) {
	return c.log.Update(c.Context(), c.By, c.Account, c.ID, 0, func(rec *record.Record[T]) error {
		if err := c.CheckRecord(rec); err != nil {
			return err
		}
		return mutate(rec)
	})
}

// Act registers an action on the records of a kind.
func Act[T, B any](s *Resource[T], what Action[T, B]) {
	rt := what.route(s)
	s.Server.Handle(rt, func(w http.ResponseWriter, r *http.Request) error {
		c, err := what.call(s, r)
		if err != nil {
			return err
		}
		var sent B
		if rt.Body != nil {
			if err := s.Server.DecodeBody(r, &sent); err != nil {
				return err
			}
		}
		if what.Answer != nil {
			return what.Answer(w, c, sent)
		}
		rec, err := what.Do(c, sent)
		if err != nil {
			return err
		}
		return s.Answer(w, r, rt.Status, rec)
	})
}

// route is the route of an action on the records of a kind.
func (what *Action[T, B]) route(s *Resource[T]) Route {
	rt := Route{
		Method: http.MethodPost, Path: what.path(s) + "/" + what.Verb, ID: what.ID, Tag: s.Tag, Scope: what.Scope,
		Summary: what.Summary, About: what.About, Params: what.Params, Optional: what.Optional,
		Status: what.Status, Accepts: what.Accepts, Reply: what.Reply,
	}
	if rt.ID == "" {
		verb := joined(strings.ReplaceAll(what.Verb, "_", " "))
		rt.ID = strings.ToLower(verb[:1]) + verb[1:] + joined(s.Noun)
	}
	if what.Refuses != "" {
		rt.About = strings.TrimSpace(rt.About + " " + what.Refuses + byState)
	}
	if rt.Scope == "" {
		rt.Scope = s.Scope.Write
	}
	if !what.AnyRevision {
		rt.Params = append([]Param{IfMatchParam}, rt.Params...)
	}
	var body B
	if any(body) != any(NoBody{}) {
		rt.Body = body
	}
	if rt.Status == 0 {
		rt.Status = http.StatusOK
	}
	if rt.Reply == nil {
		rt.Reply = s.View
	}
	return rt
}

// path is that of the records which an action is done with.
func (what *Action[T, B]) path(s *Resource[T]) string {
	if what.Path != "" {
		return what.Path
	}
	return s.Path + "/{id}"
}

// call reads from a request what it asks the action of.
func (what *Action[T, B]) call(s *Resource[T], r *http.Request) (*Call[T], error) {
	c := &Call[T]{Request: r, By: Author(r), Account: auth.From(r.Context()).Account, log: s.Log}
	if what.CheckOwner != nil {
		var err error
		if c.belongs, err = what.CheckOwner(r); err != nil {
			return nil, err
		}
	}
	names := pathNames(what.path(s))
	var err error
	c.ID, err = NamedID(r, names[len(names)-1], s.Noun, s.Log.Kind().Prefix)
	return c, err
}
