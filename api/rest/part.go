package rest

import (
	"math"
	"net/http"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/units"
)

// PartOf reads where a page begins of what is worked out all at once, so that a page is a part of it by number, and the
// time at which its first page ended: all pages are of one span.
func (a *Server) PartOf(p Page) (begin int, now fleet.Millis, err error) {
	if p.After == nil {
		return p.Offset(), fleet.MillisOf(a.Now()), nil
	}
	begin, bad1 := strconv.Atoi(p.After[0])
	ended, bad2 := strconv.ParseInt(p.After[len(p.After)-1], 10, 64)
	if bad1 != nil || bad2 != nil || begin < 0 {
		return 0, 0, InvalidParam("cursor", "is not a next_cursor of this list")
	}
	return begin, fleet.Millis(ended), nil
}

// WritePart writes the page of views that begins at a number; to is the end of their span.
func WritePart[V any](w http.ResponseWriter, r *http.Request, list string, p Page, views []V, begin int,
	to fleet.Millis) error {
	begin = min(begin, len(views))
	end := min(begin+p.PerPage, len(views))
	var after []string
	if end < len(views) {
		after = []string{strconv.Itoa(end), strconv.FormatInt(int64(to), 10)}
	}
	return WriteList(w, r, list, p, views[begin:end], len(views), after)
}

// BasisPoints is a ratio in basis points; null without a whole.
func BasisPoints(a, b float64) *int64 {
	if b <= 0 {
		return nil
	}
	v := int64(math.Round(a / b * 10000))
	return &v
}

// Ratio is a over b, and null where there is no b.
func Ratio(a, b float64, decimals int) *float64 {
	if b <= 0 {
		return nil
	}
	v := units.Rounded(a/b, decimals)
	return &v
}
