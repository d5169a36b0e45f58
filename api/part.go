package api

import (
	"math"
	"net/http"
	"strconv"

	"github.com/motorpool/fleet"
)

// partOf reads where a page begins of what is worked out all at once, so that a page is a part of it by number, and the time at which
// its first page ended: all pages are of one span.
func (a *API) partOf(p page) (begin int, now fleet.Millis, err error) {
	if p.After == nil {
		return p.Offset(), fleet.MillisOf(a.Now()), nil
	}
	begin, bad1 := strconv.Atoi(p.After[0])
	ended, bad2 := strconv.ParseInt(p.After[len(p.After)-1], 10, 64)
	if bad1 != nil || bad2 != nil || begin < 0 {
		return 0, 0, invalidParam("cursor", "is not a next_cursor of this list")
	}
	return begin, fleet.Millis(ended), nil
}

// writePart writes the page of views that begins at a number; to is the end of their span.
func writePart[V any](w http.ResponseWriter, r *http.Request, list string, p page, views []V, begin int, to fleet.Millis) error {
	begin = min(begin, len(views))
	end := min(begin+p.PerPage, len(views))
	var after []string
	if end < len(views) {
		after = []string{strconv.Itoa(end), strconv.FormatInt(int64(to), 10)}
	}
	return writeList(w, r, list, p, views[begin:end], len(views), after)
}

// shareOf is a ratio in basis points; null without a whole.
func shareOf(a, b float64) *int64 {
	if b <= 0 {
		return nil
	}
	v := int64(math.Round(a / b * 10000))
	return &v
}

// ratio is a over b, and null where there is no b.
func ratio(a, b float64, decimals int) *float64 {
	if b <= 0 {
		return nil
	}
	v := rounded(a/b, decimals)
	return &v
}
