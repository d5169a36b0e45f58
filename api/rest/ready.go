package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// Ready is how records are shown that are asked for again and again: each is made ready once, and sent as it is for as
// long as its revision, what else is known of it and the time allow. It shows them as Resource.Show does with nothing
// to expand.
type Ready[T any] struct {
	// Facts tells what is known of records beside what they hold, in their order, and the instant for which it is known.
	Facts func(ctx context.Context, account fleet.AccountID, ids []uint64) (facts []Fact, now time.Time, err error)
	// Show makes the views of records by such facts at an instant, and says of each in Shown.Until how long it holds.
	Show func(ctx context.Context, records []record.Record[T], facts []Fact, now time.Time) ([]Shown, error)

	pieces *roster.Pieces
}

// Fact is what is known of a record. What has the number of before is the same as before.
type Fact struct {
	Of     any
	Number uint64
}

// ready returns records as they are answered to a request, with all members, in their order.
func (s *Resource[T]) ready(r *http.Request, stored []query.Stored) ([]*roster.Piece, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	ctx, account := r.Context(), auth.From(r.Context()).Account
	ids := make([]uint64, len(stored))
	for i := range stored {
		ids[i] = stored[i].ID
	}
	facts, now, err := s.Ready.Facts(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	metric := MetricUnits(r) && ListParam(r, "fields") == nil // pick takes what is shown in miles
	pieces := make([]*roster.Piece, len(stored))
	var missing []int
	for i := range stored {
		of := roster.PieceOf{Account: account, ID: ids[i], Metric: metric}
		if pieces[i] = s.Ready.pieces.Get(of, stored[i].Revision, facts[i].Number, now); pieces[i] == nil {
			missing = append(missing, i)
		}
	}
	if missing == nil {
		return pieces, nil
	}
	records, theirs := make([]record.Record[T], len(missing)), make([]Fact, len(missing))
	for n, i := range missing {
		if records[n], err = FromStored[T](account, stored[i]); err != nil {
			return nil, err
		}
		theirs[n] = facts[i]
	}
	shown, err := s.Ready.Show(ctx, records, theirs, now)
	if err != nil {
		return nil, err
	}
	for n, i := range missing {
		text, err := EncodeJSON(s.Server.WithAllMembers(shown[n].View), metric)
		if err != nil {
			return nil, err
		}
		pieces[i] = &roster.Piece{JSON: bytes.Clone(bytes.TrimSuffix(text, []byte{'\n'})), Revision: stored[i].Revision,
			Tag: ETagOf(stored[i].Revision, shown[n].Live), By: facts[i].Number, From: now, Until: shown[n].Until}
		if now.Before(shown[n].Until) {
			s.Ready.pieces.Put(roster.PieceOf{Account: account, ID: ids[i], Metric: metric}, pieces[i])
		}
	}
	return pieces, nil
}

// answers are where answers are put together.
var answers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// largeAnswer is how large one is whose room is not kept for the next.
const largeAnswer = 1 << 20

// newAnswer returns an empty one, and what gives its room back when it was sent.
func newAnswer() (b *bytes.Buffer, done func()) {
	b = answers.Get().(*bytes.Buffer)
	b.Reset()
	return b, func() {
		if b.Cap() <= largeAnswer {
			answers.Put(b)
		}
	}
}

// listReady answers with one page of records that are ready.
func (s *Resource[T]) listReady(w http.ResponseWriter, r *http.Request, mark string, p Page,
	found query.ListPage) error {
	pieces, err := s.ready(r, found.Records)
	if err != nil {
		return err
	}
	if ListParam(r, "fields") != nil {
		data := make([]any, len(pieces))
		for i, piece := range pieces {
			if data[i], err = s.pickOf(r, piece.JSON); err != nil {
				return err
			}
		}
		return WriteList(w, r, mark, p, data, found.Total, found.Next)
	}
	pagination := paginationOf(w, r, mark, p, found.Total, found.Next)
	last, err := json.Marshal(pagination)
	if err != nil {
		return err
	}
	b, done := newAnswer()
	defer done()
	b.WriteString(`{"data":[`)
	for i, piece := range pieces {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(piece.JSON)
	}
	b.WriteString(`],"pagination":`)
	b.Write(last)
	b.WriteString("}\n")
	return writeBody(w, r, http.StatusOK, b.Bytes())
}

// getReady answers with a record that is ready, or with a 304 if the caller has it.
func (s *Resource[T]) getReady(w http.ResponseWriter, r *http.Request, stored query.Stored) error {
	pieces, err := s.ready(r, []query.Stored{stored})
	if err != nil {
		return err
	}
	piece := pieces[0]
	w.Header().Set("ETag", piece.Tag)
	if Unchanged(r, piece.Tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if ListParam(r, "fields") != nil {
		view, err := s.pickOf(r, piece.JSON)
		if err != nil {
			return err
		}
		return WriteJSON(w, r, http.StatusOK, view)
	}
	b, done := newAnswer()
	defer done()
	b.Write(piece.JSON)
	b.WriteByte('\n')
	return writeBody(w, r, http.StatusOK, b.Bytes())
}
