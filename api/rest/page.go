package rest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
)

// Pagination is the second half of every list answer.
type Pagination struct {
	Page       int    `json:"page" doc:"Number of this page, from 1." example:"1"`
	PerPage    int    `json:"per_page" doc:"Records on a page." example:"25"`
	Total      int    `json:"total" doc:"Records on all pages." example:"42"`
	NextCursor string `json:"next_cursor" nullable:"true" doc:"Give it as cursor to get the next page; null on the last."`
}

// MarshalJSON writes null where there is no next page.
func (p Pagination) MarshalJSON() ([]byte, error) {
	type members Pagination
	all := struct {
		members
		NextCursor *string `json:"next_cursor"`
	}{members: members(p)}
	if p.NextCursor != "" {
		all.NextCursor = &p.NextCursor
	}
	return json.Marshal(all)
}

// List is the envelope of every list answer.
type List[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Bounds of paging.
const (
	defaultPerPage = 25
	maxPerPage     = 100
	maxOffset      = 10000 // page*per_page beyond which a cursor is asked for
)

// PageParams are the parameters of every list.
var PageParams = []Param{
	{Name: "page", Type: "integer", Min: 1, Max: maxOffset,
		About: "Number of the page, from 1. Deep pages need `cursor` instead."},
	{Name: "per_page", Type: "integer", Min: 1, Max: maxPerPage,
		About: "Records on a page; 25 unless given, at most 100."},
	{Name: "cursor", About: "The `next_cursor` of the page before; filters and order must stay the same, `per_page` and what is shown of each record need not."},
}

// Page is which part of a list the caller wants.
type Page struct {
	Number  int
	PerPage int
	After   []string // sort keys of the last record of the page before; nil without a cursor
}

// Offset is how many records come before the page.
func (p Page) Offset() int {
	if p.After != nil {
		return 0
	}
	return (p.Number - 1) * p.PerPage
}

// Cursor is what next_cursor carries: where the next page begins, which page it is, and a mark of the list it
// belongs to. Nothing in it grants anything: the account always comes from the credential.
type Cursor struct {
	After []string `json:"a"`
	Page  int      `json:"p"`
	List  string   `json:"l"`
}

// PageOf reads the paging parameters. list marks the list (its path, sort order, ...): a cursor of another is refused.
func PageOf(r *http.Request, list string) (Page, error) {
	p := Page{Number: IntParam(r, "page", 1), PerPage: IntParam(r, "per_page", defaultPerPage)}
	if text := TextParam(r, "cursor", ""); text != "" {
		if queryOf(r).Has("page") {
			return p, InvalidParam("cursor", "cannot be combined with page")
		}
		c, err := DecodeCursor(text)
		if err != nil || c.List != listed(r, list) {
			return p, InvalidParam("cursor", "is not a next_cursor of this list, asked for with these filters and in this order")
		}
		p.Number, p.After = c.Page, c.After
		return p, nil
	}
	if p.Number*p.PerPage > maxOffset {
		return p, InvalidParam("page",
			fmt.Sprintf("times per_page must not exceed %d; follow next_cursor to go further", maxOffset))
	}
	return p, nil
}

// Behind is where a page of a list begins that is in the order of times and ids, as AfterOf wrote it; zeros of the
// first.
func (p *Page) Behind() (at fleet.Millis, id uint64, err error) {
	if p.After == nil {
		return 0, 0, nil
	}
	millis, bad1 := strconv.ParseInt(p.After[0], 10, 64)
	id, bad2 := strconv.ParseUint(p.After[len(p.After)-1], 10, 64)
	if bad1 != nil || bad2 != nil || len(p.After) != 2 {
		return 0, 0, InvalidParam("cursor", "is not a next_cursor of this list")
	}
	return fleet.Millis(millis), id, nil
}

// AfterOf is what WriteList is given of the last record of a page in the order of times and ids.
func AfterOf(at fleet.Millis, id uint64) []string {
	return []string{strconv.FormatInt(int64(at), 10), strconv.FormatUint(id, 10)}
}

// listed marks a list with what it was asked for: another choice of records has other pages. How much of them is shown,
// and how, is nothing to that.
func listed(r *http.Request, list string) string {
	q := maps.Clone(queryOf(r))
	for _, name := range []string{"page", "per_page", "cursor", "sort", "fields", "expand", "units", "format"} {
		q.Del(name)
	}
	if len(q) == 0 {
		return list
	}
	h := fnv.New64a()
	h.Write([]byte(q.Encode()))
	return fmt.Sprintf("%s#%016x", list, h.Sum64())
}

// EncodeCursor writes a cursor as next_cursor carries it.
func EncodeCursor(c Cursor) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// DecodeCursor reads what EncodeCursor wrote; an error says that it did not write this.
func DecodeCursor(text string) (Cursor, error) {
	var c Cursor
	if len(text) > 4096 {
		return c, fmt.Errorf("cursor of %d bytes", len(text))
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	if len(c.After) == 0 || len(c.After) > 8 || c.Page < 2 {
		return c, fmt.Errorf("cursor with %d keys for page %d", len(c.After), c.Page)
	}
	return c, nil
}

// WriteList answers with one page of a list, its Link header and its cursor. after are the sort keys of the last
// record of the page, from which the next one goes on; nil says that there is no next page.
func WriteList[T any](w http.ResponseWriter, r *http.Request, list string, p Page, data []T, total int,
	after []string) error {
	if data == nil {
		data = []T{}
	}
	return WriteJSON(w, r, http.StatusOK, List[T]{Data: data, Pagination: paginationOf(w, r, list, p, total, after)})
}

// paginationOf is the second half of a list answer, of which it sets the Link header.
func paginationOf(w http.ResponseWriter, r *http.Request, list string, p Page, total int, after []string) Pagination {
	answer := Pagination{Page: p.Number, PerPage: p.PerPage, Total: total}
	if after != nil {
		answer.NextCursor = EncodeCursor(Cursor{After: after, Page: p.Number + 1, List: listed(r, list)})
	}
	w.Header().Set("Link", links(r, p, total, answer.NextCursor))
	return answer
}

// links writes the Link header of RFC 8288. A list that is read by cursor knows no way back but to its start.
func links(r *http.Request, p Page, total int, next string) string {
	var parts []string
	q := maps.Clone(queryOf(r))
	add := func(rel, name, value string) {
		q.Del("page")
		q.Del("cursor")
		if name != "" {
			q.Set(name, value)
		}
		target := r.URL.EscapedPath()
		if len(q) > 0 {
			target += "?" + q.Encode()
		}
		parts = append(parts, "<"+target+`>; rel="`+rel+`"`)
	}
	last := max(1, (total+p.PerPage-1)/p.PerPage)
	byPage := p.After == nil
	add("first", "", "")
	if byPage && p.Number > 1 {
		add("prev", "page", strconv.Itoa(min(p.Number-1, last)))
	}
	if next != "" {
		if byPage && (p.Number+1)*p.PerPage <= maxOffset {
			add("next", "page", strconv.Itoa(p.Number+1))
		} else {
			add("next", "cursor", next)
		}
	}
	if last*p.PerPage <= maxOffset {
		add("last", "page", strconv.Itoa(last))
	}
	return strings.Join(parts, ", ")
}

// WritePageOf answers with one page of a list that is all there.
func WritePageOf[T any](w http.ResponseWriter, r *http.Request, all []T) error {
	p, err := PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	if p.After != nil {
		return InvalidParam("cursor", "is not a next_cursor of this list")
	}
	return WriteList(w, r, r.URL.Path, p,
		all[min(p.Offset(), len(all)):min(p.Offset()+p.PerPage, len(all))], len(all), nil)
}
