package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

func (s *Resource[T]) post(w http.ResponseWriter, r *http.Request) error {
	object, err := ParseObject(RequestBody(r))
	if err != nil {
		return err
	}
	body, err := s.NewBody(r, object)
	if err != nil {
		return err
	}
	rec, err := s.Insert(r, s.Server.NewID(r), body)
	if err != nil {
		return err
	}
	return s.Answer(w, r, http.StatusCreated, rec)
}

// NewBody makes the body of a new record from what was sent, or says what is wrong with it.
func (s *Resource[T]) NewBody(r *http.Request, object map[string]any) (T, error) {
	var none T
	if err := s.Server.knownNulls(object, s.Create, s.View); err != nil {
		return none, err
	}
	dropNulls(object)
	if err := s.refuseReadOnly(object, nil, s.Create); err != nil {
		return none, err
	}
	if err := s.Server.validate(reflect.TypeOf(s.Create), object); err != nil {
		return none, err
	}
	body, err := s.Make(r, object)
	if err != nil {
		return none, err
	}
	return body, s.Complete(r, 0, nil, &body)
}

// makeOfWritable makes the body of a new record whose callers write everything that it begins with.
func (s *Resource[T]) makeOfWritable(_ *http.Request, object map[string]any) (T, error) {
	var body T
	return body, s.Server.DecodeObject(object, s.Writable(&body))
}

// Insert writes a new record.
func (s *Resource[T]) Insert(r *http.Request, id uint64, body T) (record.Record[T], error) {
	return s.store(r, Writing[T]{ID: id, Body: &body})
}

// Complete completes a body that is about to be written, or refuses it.
func (s *Resource[T]) Complete(r *http.Request, id uint64, before, after *T) error {
	if s.Prepare == nil {
		return nil
	}
	return s.Prepare(r, id, before, after)
}

// Answer shows a record that was just written.
func (s *Resource[T]) Answer(w http.ResponseWriter, r *http.Request, status int, rec record.Record[T]) error {
	views, err := s.Show(r.Context(), []record.Record[T]{rec}, nil)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", ETagOf(rec.Revision, views[0].Live))
	if status == http.StatusCreated {
		home := s.Path // of the records; those of another record's are under the path that they are made by
		if strings.Contains(home, "{") {
			home = r.URL.Path
		} else if strings.HasPrefix(r.URL.Path, "/api/") {
			home = "/api" + home
		}
		w.Header().Set("Location", home+"/"+fleet.FormatID(s.Log.Kind().Prefix, rec.ID))
	}
	return WriteJSON(w, r, status, s.Server.WithAllMembers(views[0].View))
}

func (s *Resource[T]) put(w http.ResponseWriter, r *http.Request) error {
	object, err := ParseObject(RequestBody(r))
	if err == nil {
		err = s.Server.knownNulls(object, s.Fields, s.View)
	}
	if err != nil {
		return err
	}
	// Each attempt gets its own copy: what is read-only is taken out of it, and must be looked at again by the next.
	return s.change(w, r, func(_ map[string]any) map[string]any { return maps.Clone(object) })
}

func (s *Resource[T]) patch(w http.ResponseWriter, r *http.Request) error {
	patch, err := ParseObject(RequestBody(r))
	if err == nil {
		err = s.Server.knownNulls(patch, s.Fields, s.View)
	}
	if err != nil {
		return err
	}
	return s.change(w, r, func(present map[string]any) map[string]any {
		MergePatch(present, patch)
		return present
	})
}

// change writes the record with what next makes of the members that callers write, and answers with it.
func (s *Resource[T]) change(w http.ResponseWriter, r *http.Request,
	next func(present map[string]any) map[string]any) error {
	before, err := s.Load(r)
	if err != nil {
		return err
	}
	rec, err := s.edit(r, before, next)
	if err != nil {
		return err
	}
	return s.Answer(w, r, http.StatusOK, rec)
}

// edit writes a record that was read with what next makes of the members that callers write.
func (s *Resource[T]) edit(r *http.Request, before record.Record[T],
	next func(present map[string]any) map[string]any) (record.Record[T], error) {
	mutate, err := s.editing(r, before, next)
	if err != nil {
		return before, err
	}
	return s.store(r, Writing[T]{ID: before.ID, Change: mutate})
}

// editing is the change of a record that was read to what next makes of the members that callers write.
func (s *Resource[T]) editing(r *http.Request, before record.Record[T],
	next func(present map[string]any) map[string]any) (func(*record.Record[T]) error, error) {
	views, err := s.Show(r.Context(), []record.Record[T]{before}, nil)
	if err != nil {
		return nil, err
	}
	return func(rec *record.Record[T]) error {
		if err := Precondition(r, rec.Revision); err != nil {
			return err
		}
		target := s.Writable(&rec.Body)
		present, err := Members(target)
		if err != nil {
			return err
		}
		if rec.Revision != before.Revision {
			// Another write came first: read-only members are held against what it made.
			if views, err = s.Show(r.Context(), []record.Record[T]{*rec}, nil); err != nil {
				return err
			}
			before.Revision = rec.Revision
		}
		object := next(present)
		dropNulls(object)
		if err := s.refuseReadOnly(object, views[0].View, s.Fields); err != nil {
			return err
		}
		sent, fresh := reflect.New(reflect.TypeOf(target).Elem()), reflect.New(reflect.TypeOf(target).Elem())
		if err := s.Server.DecodeObject(object, sent.Interface()); err != nil {
			return err
		}
		// As it will be read back: what is empty is absent, so that whoever sends what a GET answered changes nothing.
		text, err := json.Marshal(sent.Interface())
		if err != nil {
			return fmt.Errorf("encode %T: %w", sent.Interface(), err)
		}
		if err := json.Unmarshal(text, fresh.Interface()); err != nil {
			return fmt.Errorf("decode %T: %w", sent.Interface(), err)
		}
		was := rec.Body
		reflect.ValueOf(target).Elem().Set(fresh.Elem())
		return s.Complete(r, rec.ID, &was, &rec.Body)
	}, nil
}

// Writing is what is to be written under an id: the body of a new record, or a change of one that there is.
type Writing[T any] struct {
	ID     uint64
	Body   *T // made and prepared; what is written again under its id must give what the first time gave
	Change func(*record.Record[T]) error
}

// To writes it to a log.
func (w *Writing[T]) To(r *http.Request, log *record.Log[T]) (record.Record[T], error) {
	account := auth.From(r.Context()).Account
	if w.Body == nil {
		return log.Update(r.Context(), Author(r), account, w.ID, 0, w.Change)
	}
	rec, _, err := log.Create(r.Context(), Author(r), account, w.ID, *w.Body)
	return rec, err
}

// store writes by the hook, or else to the log.
func (s *Resource[T]) store(r *http.Request, w Writing[T]) (record.Record[T], error) {
	if s.Write != nil {
		return s.Write(r, w)
	}
	return w.To(r, s.Log)
}
