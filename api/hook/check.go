package hook

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// ownHeaders are those of the message itself and of its connection, which nobody else sets; all that begin with
// webhook- are too. A key of idempotency that is the same for all messages would have receivers take the first alone.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding",
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
	"Te", "Trailer", "Upgrade", "Expect",
	"Accept-Encoding", "User-Agent", "Idempotency-Key", "X-Idempotency-Key"}

// mostOfHeader bounds the value of a header, in bytes.
const mostOfHeader = 4096

// check refuses what nothing could be sent to, or nothing would be sent of.
func (a *API) check(r *http.Request, p *auth.Principal, before, b *record.WebhookEndpoint) error {
	var faults []fleet.FieldError
	if err := a.Settings.Reach.Check(b.URL, a.Settings.Plain); err != nil {
		faults = append(faults, fleet.FieldError{Pointer: "/url", Code: "invalid", Detail: err.Error()})
	}
	var was map[string]string
	moves := false
	if before != nil {
		was, moves = before.Headers, origin(before.URL) != origin(b.URL)
	}
	faults = append(faults, checkHeaders(was, b.Headers, moves)...)
	var unknown []fleet.FieldError
	if before == nil || !slices.Equal(before.Types, b.Types) {
		var err error
		if unknown, err = a.checkTypes(p, b.Types); err != nil {
			return err
		}
	}
	if faults = append(faults, unknown...); faults != nil {
		return rest.ValidationError(faults)
	}
	if err := a.CheckAllExist(r, &query.Vehicles, fleet.VehiclePrefix, b.VehicleIDs, "/vehicle_ids/",
		"vehicle"); err != nil {
		return err
	}
	return a.CheckAllExist(r, &query.Geofences, fleet.FencePrefix, b.GeofenceIDs, "/geofence_ids/", "geofence")
}

// origin is the server that an address leads to, with its scheme and port; "" if it is none.
func origin(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := cmp.Or(at.Port(), map[string]string{"https": "443", "http": "80"}[at.Scheme])
	return at.Scheme + "://" + strings.ToLower(at.Hostname()) + ":" + port
}

// checkHeaders refuses headers that cannot be sent, and values that are to stay though the endpoint moves to another
// server: that would be told what only the one before may know.
func checkHeaders(was, headers map[string]string, moves bool) (faults []fleet.FieldError) {
	seen := map[string]bool{}
	for name, value := range headers {
		fault := func(detail string) {
			faults = append(faults, fleet.FieldError{Pointer: "/headers/" + fleet.PointerPart(name), Code: "invalid",
				Detail: detail})
		}
		sealed, known := was[name]
		stays := known && (value == Hidden || value == sealed)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name) || len(name) > 100:
			fault("is no name of a header")
		case slices.Contains(ownHeaders, canonical) || strings.HasPrefix(canonical, "Webhook-"):
			fault("belongs to the message or its connection; give another header")
		case seen[canonical]:
			fault("is there twice, in other letters")
		case value == Hidden && !known:
			fault("has stars in the place of a value, and no value before that could stay")
		case stays && moves:
			fault("must be given anew, or taken out with null: url leads to another server, which may not know the value")
		case stays: // sealed, it is longer
		case !httpguts.ValidHeaderFieldValue(value) || value == "" || len(value) > mostOfHeader:
			fault(fmt.Sprintf("needs a value of 1 to %d characters without line breaks", mostOfHeader))
		}
		seen[canonical] = true
	}
	slices.SortFunc(faults, func(x, y fleet.FieldError) int { return strings.Compare(x.Pointer, y.Pointer) })
	return faults
}

// checkTypes refuses words that mean no type of events, and with a 403 those that the key may hear nothing of.
func (a *API) checkTypes(p *auth.Principal, words []string) (faults []fleet.FieldError, err error) {
	for i, word := range words {
		at := "/types/" + strconv.Itoa(i)
		var lacking auth.Scope
		known, hears := false, false
		for _, t := range a.types {
			if fleet.MeansType(word, t.Type) {
				known = true
				if hears = hears || p.Has(t.Scope); !hears {
					lacking = t.Scope
				}
			}
		}
		if !known {
			faults = append(faults, fleet.FieldError{Pointer: at, Code: "unknown_type",
				Detail: fmt.Sprintf("there is no type, prefix.* or category %.60q", word) +
					rest.DidYouMean(word, a.words()) + "; GET /v1/event_types lists them"})
		} else if !hears {
			return nil, fleet.NewError(fleet.CodeForbidden, p.Lacks()+" the scope "+string(lacking)+
				", without which it hears of no "+word+"; GET /v1/event_types lists them.",
				fleet.FieldError{Pointer: at, Code: "not_held",
					Detail: "not heard with the scopes of the key that makes the request"})
		}
	}
	return faults, nil
}

// words are what types may be given as, but for prefixes.
func (a *API) words() []string {
	var all []string
	for _, t := range a.types {
		for _, category := range t.Categories {
			if !slices.Contains(all, category) {
				all = append(all, category)
			}
		}
		all = append(all, t.Type)
	}
	return all
}
