package api

import (
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

func (s *resource[T]) archive(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, s.noun, s.log.Kind().Prefix)
	if err != nil {
		return err
	}
	var may func(*record.Record[T]) error
	var done func(error)
	if s.mayArchive != nil {
		may, done = s.mayArchive(r, id)
	}
	_, err = s.log.Archive(r.Context(), author(r), auth.From(r.Context()).Account, id, 0, func(rec *record.Record[T]) error {
		if err := precondition(r, rec.Revision); err != nil {
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
