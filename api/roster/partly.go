package roster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/motorpool/fleet/query"
)

// partly says which records of a kind are kept of an account of which the table has more than most rows.
type partly struct {
	most  int
	of    func(now time.Time) []query.Filter // of which one finds each of them
	never map[string]string                  // instants that are never after another, of which there is a filter
}

// keptPartly are the kinds of which there are more and more, by their names.
var keptPartly = map[string]partly{
	"booking": {
		most: 30_000,
		of: func(now time.Time) []query.Filter {
			since := strconv.FormatInt(now.Add(-HeldSince).UnixMilli(), 10)
			return []query.Filter{{Field: "status", Op: "eq", Values: query.NotOver},
				{Field: "return_at", Op: "gte", Values: []string{since}}}
		},
		never: map[string]string{"pickup_at": "return_at"},
	},
}

// share is which records of an account are kept, if not all.
type share struct {
	listing *query.Listing
	filters []query.Filter
	finds   []*query.Question
	never   map[string]string
}

func newShare(l *query.Listing, of partly, now time.Time) (*share, error) {
	s := &share{listing: l, filters: of.of(now), never: of.never}
	for _, f := range s.filters {
		q, ok, err := l.InMemory(query.ListRequest{Filters: []query.Filter{f}, Limit: 1})
		if err != nil || !ok {
			return nil, errors.Join(err, fmt.Errorf("%s are not found in memory by %s", l.Table, f.Field))
		}
		s.finds = append(s.finds, q)
	}
	return s, nil
}

// has says whether a record is one of those that are kept; without a share all are.
func (s *share) has(h *query.Held) bool {
	return s == nil || slices.ContainsFunc(s.finds, func(q *query.Question) bool { return q.Match(h) })
}

// any are the filters by which records are read.
func (s *share) any() []query.Filter {
	if s == nil {
		return nil
	}
	return s.filters
}

// tells says whether all that a request can find is kept.
func (s *share) tells(req query.ListRequest, t *table) bool {
	if s == nil {
		return true
	}
	if req.Only != nil && !slices.ContainsFunc(*req.Only, func(id uint64) bool { return t.get(id) == nil }) {
		return true
	}
	for _, f := range req.Filters {
		later := f
		later.Field = s.never[f.Field]
		for _, kept := range s.filters {
			if s.listing.Within(f, kept) || s.listing.Within(later, kept) {
				return true
			}
		}
	}
	return false
}
