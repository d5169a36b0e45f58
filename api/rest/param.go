package rest

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Param declares one query parameter (or header). Its value is checked before the handler runs, so that the readers
// below cannot fail.
type Param struct {
	Name     string
	In       string // "query" by default, or "header"
	Type     string // "string" by default, "integer", "number", "boolean"
	Format   string // "date-time" or "date", for strings
	Enum     []string
	Prefix   string  // of ids, for strings that are some
	Min      float64 // with Max, the range of numbers; both zero mean any
	Max      float64
	About    string
	Required bool // must be given
	Multiple bool // may be several values, separated by commas
	NotEmpty bool // must not be empty: to a filter nothing would mean everything
}

var (
	unitsParam = Param{Name: "units", Enum: []string{"imperial", "metric"},
		About: "`metric` answers in `_km`, `_kmh` and `_l` what is otherwise in `_mi`, `_mph` and `_gal`."}
	// IfNoneMatchParam is the header by which an answer that the caller has is not sent again.
	IfNoneMatchParam = Param{Name: "If-None-Match", In: "header",
		About: "The `ETag` of what you have; 304 if it is still that."}
	// IfMatchParam is the header by which a change is refused if another came first.
	IfMatchParam = Param{Name: "If-Match", In: "header",
		About: "The `ETag` that the change is made upon, or its revision; 412 if there is a newer one."}
	idempotencyParam = Param{Name: "Idempotency-Key", In: "header",
		About: "At most 255 printable characters. A repeated request with the same key and body within 24 hours is answered with the stored answer and does nothing."}
)

// The span of time that a question is about.
var (
	FromParam  = Param{Name: "from", Format: "date-time", About: "Instant from which, inclusive."}
	UntilParam = Param{Name: "until", Format: "date-time", About: "Instant up to which, exclusive."}
)

// Required is a parameter that must be given.
func Required(p Param) Param {
	p.Required = true
	return p
}

// SpanParams are the parameters of a span that ends now, and has been so long, unless they are given.
func SpanParams(long string) []Param {
	from, until := FromParam, UntilParam
	from.About = "Instant from which, inclusive; " + long + " before `until` unless given."
	until.About = "Instant up to which, exclusive; now unless given."
	return []Param{from, until}
}

func (p *Param) document() *huma.Param {
	about := p.About
	if p.Name == "until" {
		about += " `to` is the same."
	}
	s := &huma.Schema{Type: p.Type, Format: p.Format}
	if s.Type == "" {
		s.Type = "string"
	}
	for _, v := range p.Enum {
		s.Enum = append(s.Enum, v)
	}
	if p.Min != 0 || p.Max != 0 {
		s.Minimum, s.Maximum = &p.Min, &p.Max
	}
	if p.Multiple {
		s = &huma.Schema{Type: "string"}
	}
	if p.NotEmpty {
		one := 1
		s.MinLength = &one
	}
	in := p.In
	if in == "" {
		in = "query"
	}
	return &huma.Param{Name: p.Name, In: in, Required: p.Required, Description: about, Schema: s}
}

// check says what is wrong with a value.
func (p *Param) check(value string) error {
	if p.NotEmpty && strings.Trim(value, ", ") == "" {
		return InvalidParam(p.Name, "is empty; leave it out to get everything")
	}
	if !p.Multiple {
		return p.checkOne(value)
	}
	for _, part := range strings.Split(value, ",") {
		if err := p.checkOne(strings.TrimSpace(part)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Param) checkOne(value string) error {
	switch p.Type {
	case "integer":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return InvalidParam(p.Name, "must be a whole number")
		}
		return p.within(float64(n))
	case "number":
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return InvalidParam(p.Name, "must be a number")
		}
		return p.within(f)
	case "boolean":
		if value != "true" && value != "false" {
			return InvalidParam(p.Name, "must be true or false")
		}
	}
	switch p.Format {
	case "date-time":
		if _, err := ParseInstant(value); err != nil {
			return InvalidParam(p.Name, "must be an instant like 2026-01-31T12:00:00Z")
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return InvalidParam(p.Name, "must be a date like 2026-01-31")
		}
	}
	if p.Prefix != "" {
		if _, err := fleet.ParseID(p.Prefix, value); err != nil {
			return InvalidParam(p.Name, fmt.Sprintf("takes ids like %s1234, and %.40q is none", p.Prefix, value))
		}
	}
	if p.Enum != nil {
		for _, allowed := range p.Enum {
			if value == allowed {
				return nil
			}
		}
		return InvalidParam(p.Name, "must be one of "+strings.Join(p.Enum, ", "))
	}
	return nil
}

func (p *Param) within(v float64) error {
	if (p.Min != 0 || p.Max != 0) && (v < p.Min || v > p.Max) {
		return InvalidParam(p.Name, fleet.Between(p.Min, p.Max))
	}
	return nil
}

// ParseInstant reads RFC 3339, and "+" that a careless client left unescaped and that arrived as a space.
func ParseInstant(value string) (time.Time, error) {
	t, err := fleet.ParseTime(strings.Replace(value, " ", "+", 1))
	if err == nil && (t.Year() < 1900 || t.Year() > 2299) {
		return t, fmt.Errorf("%s is out of range", value)
	}
	return t.UTC(), err
}

// Readers of parameters that are declared with the right type. An absent one gives the fallback.

// queryOf is the query of a request, read once. It is not to be changed.
func queryOf(r *http.Request) url.Values {
	x, ok := r.Context().Value(ExchangeKey{}).(*Exchange)
	if !ok {
		return r.URL.Query()
	}
	if x.query == nil || x.rawQuery != r.URL.RawQuery {
		x.query, x.rawQuery = r.URL.Query(), r.URL.RawQuery
	}
	return x.query
}

// TextParam returns the text of a parameter.
func TextParam(r *http.Request, name, fallback string) string {
	if v := queryOf(r).Get(name); v != "" {
		return v
	}
	return fallback
}

// IntParam returns the whole number of a parameter.
func IntParam(r *http.Request, name string, fallback int) int {
	if n, err := strconv.Atoi(queryOf(r).Get(name)); err == nil {
		return n
	}
	return fallback
}

// NumberParam returns the number of a parameter.
func NumberParam(r *http.Request, name string, fallback float64) float64 {
	if f, err := strconv.ParseFloat(queryOf(r).Get(name), 64); err == nil {
		return f
	}
	return fallback
}

// TimeParam returns an instant in milliseconds, rounded down.
func TimeParam(r *http.Request, name string, fallback fleet.Millis) fleet.Millis {
	if t, err := ParseInstant(queryOf(r).Get(name)); err == nil {
		return fleet.MillisOf(t)
	}
	return fallback
}

// ListParam returns the parts of a comma list, without blanks and empty parts.
func ListParam(r *http.Request, name string) []string {
	var parts []string
	for _, part := range strings.Split(queryOf(r).Get(name), ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// PathID reads the identity in the path; one that cannot be an identity is a thing that does not exist.
func PathID(r *http.Request, what, prefix string) (uint64, error) {
	return NamedID(r, "id", what, prefix)
}

// NamedID reads an identity that stands in the path under another name than id.
func NamedID(r *http.Request, name, what, prefix string) (uint64, error) {
	text := chi.URLParam(r, name)
	id, err := fleet.ParseID(prefix, text)
	if err != nil {
		return 0, fleet.NewError(fleet.CodeNotFound,
			fmt.Sprintf("There is no %s %.100q: ids of that kind are %s and digits.", what, text, prefix))
	}
	return id, nil
}

// IDsParam reads a list of identities.
func IDsParam[T ~uint64](r *http.Request, name, prefix string) ([]T, error) {
	var all []T
	for _, text := range ListParam(r, name) {
		id, err := fleet.ParseID(prefix, text)
		if err != nil {
			return nil, InvalidParam(name, err.Error())
		}
		all = append(all, T(id))
	}
	if len(all) > 1000 {
		return nil, InvalidParam(name, "has more than 1000 ids")
	}
	return all, nil
}

// TriParam reads a boolean parameter that may be absent.
func TriParam(r *http.Request, name string) fleet.Tri {
	text := queryOf(r).Get(name)
	if text == "" {
		return fleet.Unknown
	}
	return fleet.TriOf(text == "true")
}

// ParseNumbers reads exactly n finite numbers separated by commas.
func ParseNumbers(text string, n int) ([]float64, bool) {
	parts := strings.Split(text, ",")
	if len(parts) != n {
		return nil, false
	}
	values := make([]float64, n)
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

// BoxParam reads bbox=, a rectangle in degrees; the whole world if it is absent.
func BoxParam(r *http.Request) (query.Box, error) {
	text := queryOf(r).Get("bbox")
	if text == "" {
		return query.World, nil
	}
	edges, ok := ParseNumbers(text, 4)
	if !ok || edges[1] > edges[3] || math.Abs(edges[0]) > 180 || math.Abs(edges[2]) > 180 || math.Abs(edges[1]) > 90 ||
		math.Abs(edges[3]) > 90 {
		return query.World, InvalidParam("bbox", "must be minLng,minLat,maxLng,maxLat in degrees")
	}
	return query.Box{West: edges[0], South: edges[1], East: edges[2], North: edges[3]}, nil
}

// CheckSpan refuses a span that ends before it begins.
func CheckSpan(from, to fleet.Millis) error {
	if to != 0 && from >= to {
		return InvalidParam("until", "must be later than from")
	}
	return nil
}
