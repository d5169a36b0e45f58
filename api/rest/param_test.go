package rest

import (
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
)

func TestQueryValuesAreRefusedBeforeTheyReachAHandler(t *testing.T) {
	p := Param{Name: "x", Type: "number", Min: -180, Max: 180}
	for value, ok := range map[string]bool{"1.5": true, "-180": true, "181": false, "NaN": false, "Inf": false,
		"1e3": false, "": false, "0x10": false, "1,2": false} {
		if got := p.check(value) == nil; got != ok {
			t.Errorf("%q is taken: %v", value, got)
		}
	}
	if _, err := url.ParseQuery("a=1;b=2"); err == nil {
		t.Error("semicolons are taken")
	}

}

// The end of a span was published as `to`; whoever asks so is understood, unless both are said.
func TestThePublishedNameOfUntilIsTaken(t *testing.T) {
	rt := &Route{Params: []Param{{Name: "from", Format: "date"}, {Name: "until", Format: "date"}}}
	for query, want := range map[string]string{
		"from=2026-01-01&to=2026-02-01":             "2026-02-01",
		"from=2026-01-01&until=2026-02-01":          "2026-02-01",
		"to=2026-02-01&until=2026-03-01":            "to is another name of until",
		"from=2026-01-01&to=2026-02-01&to=2026-1-1": "refused",
	} {
		r := httptest.NewRequest("GET", "/?"+query, nil)
		got := "refused"
		if err := publishedNames(r, rt); err != nil {
			f, _ := errors.AsType[*fleet.Error](err)
			got = f.Fields[0].Pointer + " " + strings.Split(f.Fields[0].Detail, ";")[0]
		} else if CheckQuery(r, rt) == nil {
			got = r.URL.Query().Get("until")
		}
		if got != want {
			t.Errorf("%s: until is %s, want %s", query, got, want)
		}
	}
	r := httptest.NewRequest("GET", "/?to=x", nil)
	if publishedNames(r, &Route{}) != nil || CheckQuery(r, &Route{}) == nil {
		t.Error("a route without spans takes to")
	}
}
