package rest

import (
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

func (s *Resource[T]) archive(w http.ResponseWriter, r *http.Request) error {
	id, err := PathID(r, s.Noun, s.Log.Kind().Prefix)
	if err != nil {
		return err
	}
	var may func(*record.Record[T]) error
	var done func(error)
	if s.MayArchive != nil {
		may, done = s.MayArchive(r, id)
	}
	_, err = s.Log.Archive(r.Context(), Author(r), auth.From(r.Context()).Account, id, 0,
		func(rec *record.Record[T]) error {
			if err := Precondition(r, rec.Revision); err != nil {
				return err
			}
			if may == nil {
				return nil
			}
			return may(rec)
		})
	if done != nil {
		done(err)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
