package rest

import (
	"fmt"
	"net/http"

	"github.com/motorpool/fleet/api/record"
)

// Revision is one entry of a record's history.
type Revision struct {
	Revision  uint64         `json:"revision"`
	At        record.Instant `json:"at"`
	Action    string         `json:"action" doc:"create, update or archive."`
	Actor     string         `json:"actor" doc:"Who did it: the id of a user or an API key, or cli."`
	RequestID string         `json:"request_id,omitempty"`
	Changes   []FieldChange  `json:"changes"`
}

// FieldChange is one member that a revision changed.
type FieldChange struct {
	Field string `json:"field" doc:"JSON pointer of the member." example:"/color"`
	Old   any    `json:"old" doc:"Null where the member was absent, and for secrets."`
	New   any    `json:"new" doc:"Null where the member is absent since, and for secrets."`
}

func (s *Resource[T]) history(w http.ResponseWriter, r *http.Request) error {
	rec, err := s.Load(r)
	if err != nil {
		return err
	}
	mark := r.URL.Path
	p, err := PageOf(r, mark)
	if err != nil {
		return err
	}
	// Revisions are numbered without gaps, so that a page is a range of numbers.
	total := int(rec.Revision)
	below := uint64(max(0, total-p.Offset())) + 1
	if p.After != nil {
		if _, err := fmt.Sscan(p.After[0], &below); err != nil {
			return InvalidParam("cursor", "is not a next_cursor of this list")
		}
	}
	var data []Revision
	var next uint64
	if below > 1 {
		var revisions []record.Revision
		if revisions, next, err = s.Log.History(r.Context(), rec.Account, rec.ID, below, p.PerPage); err != nil {
			return err
		}
		for _, v := range revisions {
			data = append(data, showRevision(v))
		}
	}
	var after []string
	if next != 0 {
		after = []string{fmt.Sprint(next)}
	}
	return WriteList(w, r, mark, p, data, total, after)
}

func showRevision(v record.Revision) Revision {
	shown := Revision{Revision: v.Number, At: record.InstantOf(v.At), Action: v.Action, Actor: v.Actor,
		RequestID: v.RequestID, Changes: []FieldChange{}}
	for _, c := range v.Changes {
		shown.Changes = append(shown.Changes, FieldChange{Field: c.Path, Old: c.Old, New: c.New})
	}
	return shown
}
