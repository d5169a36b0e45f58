package api

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

func (s *resource[T]) post(w http.ResponseWriter, r *http.Request) error {
	object, err := parseObject(bodyOf(r))
	if err != nil {
		return err
	}
	body, err := s.newBody(r, object)
	if err != nil {
		return err
	}
	rec, err := s.insert(r, s.api.newID(r), body)
	if err != nil {
		return err
	}
	return s.answer(w, r, http.StatusCreated, rec)
}

// newBody makes the body of a new record from what was sent, or says what is wrong with it.
func (s *resource[T]) newBody(r *http.Request, object map[string]any) (T, error) {
	var none T
	if err := s.api.knownNulls(object, s.create, s.view); err != nil {
		return none, err
	}
	dropNulls(object)
	if err := s.refuseReadOnly(object, nil, s.create); err != nil {
		return none, err
	}
	if err := s.api.validate(reflect.TypeOf(s.create), object); err != nil {
		return none, err
	}
	body, err := s.make(r, object)
	if err != nil {
		return none, err
	}
	return body, s.complete(r, 0, nil, &body)
}

// makeOfWritable makes the body of a new record whose callers write everything that it begins with.
func (s *resource[T]) makeOfWritable(_ *http.Request, object map[string]any) (T, error) {
	var body T
	return body, s.api.decodeObject(object, s.writable(&body))
}

// insert writes a new record.
func (s *resource[T]) insert(r *http.Request, id uint64, body T) (record.Record[T], error) {
	return s.store(r, writing[T]{id: id, body: &body})
}

// complete completes a body that is about to be written, or refuses it.
func (s *resource[T]) complete(r *http.Request, id uint64, before, after *T) error {
	if s.prepare == nil {
		return nil
	}
	return s.prepare(r, id, before, after)
}

// answer shows a record that was just written.
func (s *resource[T]) answer(w http.ResponseWriter, r *http.Request, status int, rec record.Record[T]) error {
	views, err := s.show(r.Context(), []record.Record[T]{rec}, nil)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", etagOf(rec.Revision, views[0].live))
	if status == http.StatusCreated {
		home := s.path // of the records; those of another record's are under the path that they are made by
		if strings.Contains(home, "{") {
			home = r.URL.Path
		} else if strings.HasPrefix(r.URL.Path, "/api/") {
			home = "/api" + home
		}
		w.Header().Set("Location", home+"/"+fleet.FormatID(s.log.Kind().Prefix, rec.ID))
	}
	return writeJSON(w, r, status, s.api.full(views[0].view))
}

func (s *resource[T]) put(w http.ResponseWriter, r *http.Request) error {
	object, err := parseObject(bodyOf(r))
	if err == nil {
		err = s.api.knownNulls(object, s.fields, s.view)
	}
	if err != nil {
		return err
	}
	// Each attempt gets its own copy: what is read-only is taken out of it, and must be looked at again by the next.
	return s.change(w, r, func(_ map[string]any) map[string]any { return maps.Clone(object) })
}

func (s *resource[T]) patch(w http.ResponseWriter, r *http.Request) error {
	patch, err := parseObject(bodyOf(r))
	if err == nil {
		err = s.api.knownNulls(patch, s.fields, s.view)
	}
	if err != nil {
		return err
	}
	return s.change(w, r, func(present map[string]any) map[string]any {
		mergePatch(present, patch)
		return present
	})
}

// change writes the record with what next makes of the members that callers write, and answers with it.
func (s *resource[T]) change(w http.ResponseWriter, r *http.Request, next func(present map[string]any) map[string]any) error {
	before, err := s.load(r)
	if err != nil {
		return err
	}
	rec, err := s.edit(r, before, next)
	if err != nil {
		return err
	}
	return s.answer(w, r, http.StatusOK, rec)
}

// edit writes a record that was read with what next makes of the members that callers write.
func (s *resource[T]) edit(r *http.Request, before record.Record[T], next func(present map[string]any) map[string]any) (record.Record[T], error) {
	mutate, err := s.editing(r, before, next)
	if err != nil {
		return before, err
	}
	return s.store(r, writing[T]{id: before.ID, change: mutate})
}

// editing is the change of a record that was read to what next makes of the members that callers write.
func (s *resource[T]) editing(r *http.Request, before record.Record[T], next func(present map[string]any) map[string]any) (func(*record.Record[T]) error, error) {
	views, err := s.show(r.Context(), []record.Record[T]{before}, nil)
	if err != nil {
		return nil, err
	}
	return func(rec *record.Record[T]) error {
		if err := precondition(r, rec.Revision); err != nil {
			return err
		}
		target := s.writable(&rec.Body)
		present, err := members(target)
		if err != nil {
			return err
		}
		if rec.Revision != before.Revision {
			// Another write came first: read-only members are held against what it made.
			if views, err = s.show(r.Context(), []record.Record[T]{*rec}, nil); err != nil {
				return err
			}
			before.Revision = rec.Revision
		}
		object := next(present)
		dropNulls(object)
		if err := s.refuseReadOnly(object, views[0].view, s.fields); err != nil {
			return err
		}
		sent, fresh := reflect.New(reflect.TypeOf(target).Elem()), reflect.New(reflect.TypeOf(target).Elem())
		if err := s.api.decodeObject(object, sent.Interface()); err != nil {
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
		return s.complete(r, rec.ID, &was, &rec.Body)
	}, nil
}

// writing is what is to be written under an id: the body of a new record, or a change of one that there is.
type writing[T any] struct {
	id     uint64
	body   *T // made and prepared; what is written again under its id must give what the first time gave
	change func(*record.Record[T]) error
}

// to writes it to a log.
func (w *writing[T]) to(r *http.Request, log *record.Log[T]) (record.Record[T], error) {
	account := auth.From(r.Context()).Account
	if w.body == nil {
		return log.Update(r.Context(), author(r), account, w.id, 0, w.change)
	}
	rec, _, err := log.Create(r.Context(), author(r), account, w.id, *w.body)
	return rec, err
}

// store writes by the hook, or else to the log.
func (s *resource[T]) store(r *http.Request, w writing[T]) (record.Record[T], error) {
	if s.write != nil {
		return s.write(r, w)
	}
	return w.to(r, s.log)
}
