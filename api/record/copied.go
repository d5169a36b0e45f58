package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// kept is the body of a revision as it was written or decoded once: of drafts, where the same few revisions are read
// again and again.
type kept struct {
	mu     sync.Mutex
	bodies []any // pointers, one of each type
	made   any   // the one that a draft made the revision of; nil of one that was read
}

// decode reads the body of a revision into what its caller may change, a pointer.
func decode(r *revision, into any) error {
	if r.kept == nil {
		return json.Unmarshal([]byte(r.body), into)
	}
	to := reflect.ValueOf(into).Elem()
	body, err := r.shared(to.Type())
	if err == nil {
		to.Set(reflect.ValueOf(body).Elem())
		unshare(to)
	}
	return err
}

// sharedBody reads the body of a revision into what nobody may change: all who read that of a draft share it.
func sharedBody[T any](r *revision) (*T, error) {
	body, err := r.shared(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return body.(*T), nil
}

// shared returns a pointer to the body, of a type.
func (r *revision) shared(of reflect.Type) (any, error) {
	if r.kept == nil {
		body := reflect.New(of).Interface()
		return body, json.Unmarshal([]byte(r.body), body)
	}
	r.kept.mu.Lock()
	defer r.kept.mu.Unlock()
	for _, body := range r.kept.bodies {
		if reflect.TypeOf(body) == reflect.PointerTo(of) {
			return body, nil
		}
	}
	body := reflect.New(of).Interface()
	if err := json.Unmarshal([]byte(r.body), body); err != nil {
		return nil, err
	}
	r.kept.bodies = append(r.kept.bodies, body)
	return body, nil
}

// Altered returns of which records of a draft the bodies, which all share who read them, are not what was written any
// more. Nobody may change them, which tests look after.
func (d *Draft) Altered() ([]Ref, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Ref
	for _, r := range append(slices.Collect(maps.Values(d.heads)), d.all...) {
		for ; r != nil && r.kept != nil && r.body != ""; r = r.before { // a gate has no text until it is written
			same, err := r.unaltered()
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", r.kind, err)
			}
			if !same {
				all = append(all, Ref{r.kind, r.id})
			}
		}
	}
	return all, nil
}

// unaltered says whether what the body was decoded to is what it says.
func (r *revision) unaltered() (bool, error) {
	r.kept.mu.Lock()
	defer r.kept.mu.Unlock()
	for _, body := range r.kept.bodies {
		fresh := reflect.New(reflect.TypeOf(body).Elem()).Interface()
		if err := json.Unmarshal([]byte(r.body), fresh); err != nil {
			return false, err
		}
		is, err := json.Marshal(body)
		if err != nil {
			return false, err
		}
		if was, err := json.Marshal(fresh); err != nil || !bytes.Equal(is, was) {
			return false, err
		}
	}
	return true, nil
}

// Copied returns a copy of a body that shares nothing with it that can be changed.
func Copied[T any](body T) T {
	unshare(reflect.ValueOf(&body).Elem())
	return body
}

// copied is Copied of what a pointer points to.
func copied(body any) any {
	from := reflect.ValueOf(body).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	unshare(to.Elem())
	return to.Interface()
}

// unshare gives a value that can be set copies of all that it refers to. What is not exported, as in a time.Time,
// nobody changes.
func unshare(v reflect.Value) {
	if sharesNothing(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				unshare(f)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			unshare(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			unshare(fresh.Elem())
			v.Set(fresh)
		}
	case reflect.Slice:
		if !v.IsNil() {
			fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(fresh, v)
			if !sharesNothing(v.Type().Elem()) {
				for i := range fresh.Len() {
					unshare(fresh.Index(i))
				}
			}
			v.Set(fresh)
		}
	case reflect.Map:
		if !v.IsNil() {
			fresh := reflect.MakeMapWithSize(v.Type(), v.Len())
			for each := v.MapRange(); each.Next(); {
				value := reflect.New(v.Type().Elem()).Elem()
				value.Set(each.Value())
				unshare(value)
				fresh.SetMapIndex(each.Key(), value)
			}
			v.Set(fresh)
		}
	case reflect.Interface:
		if !v.IsNil() {
			fresh := reflect.New(v.Elem().Type()).Elem()
			fresh.Set(v.Elem())
			unshare(fresh)
			v.Set(fresh)
		}
	}
}

// sharing says of types whether their values refer to nothing that can be changed.
var sharing sync.Map

func sharesNothing(t reflect.Type) bool {
	if is, known := sharing.Load(t); known {
		return is.(bool)
	}
	is := true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		is = false
	case reflect.Array:
		is = sharesNothing(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && !sharesNothing(f.Type) {
				is = false
			}
		}
	}
	sharing.Store(t, is)
	return is
}
