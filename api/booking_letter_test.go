package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

// Whoever programs against the interface finds what the description promises.
func TestWhatTheDescriptionPromisesIsAnswered(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 72, `,"confirm":true`)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]struct{ Enum []any }
			}
		}
	}
	if err := json.Unmarshal(w.do("GET", "/v1/openapi.json", "").ok(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	booking := doc.Components.Schemas["Booking"]
	if enum := booking.Properties["due_for"].Enum; !slices.Contains(enum, nil) {
		t.Errorf("due_for is null for some, and one of %v", enum)
	}
	part := w.do("GET", path+"?fields=number", "").ok(200).object()
	for _, name := range booking.Required {
		if _, there := part[name]; !there {
			t.Errorf("%s is required, and fields=number answers %v", name, part)
		}
	}

	// What is empty or misspelt is not taken for nothing.
	w.do("PATCH", path, `{"notes":"x"}`, "If-Match", " ").problem(400, "invalid_request")
	w.do("POST", "/v1/bookings", w.booking(100, 120, ""), "Idempotency-Key", " ").problem(400, "invalid_request")
	wantEqual(t, "misspelt", w.do("PATCH", path, `{"notess":null}`).faults(), "/notess")
	wantEqual(t, "misspelt", w.do("POST", path+"/cancel", `{"reson":null}`).faults(), "/reson")
	wantEqual(t, "misspelt", w.do("POST", "/v1/bookings", w.booking(100, 120, `,"extra":null`)).faults(), "/extra")
	w.do("POST", "/v1/bookings", w.booking(100, 120, "")).ok(201)
	next := w.do("GET", "/v1/bookings?per_page=1", "").ok(200).pagination().NextCursor
	w.do("GET", "/v1/bookings?per_page=2&fields=number&cursor="+next, "").ok(200)
	wantEqual(t, "another list", w.do("GET", "/v1/bookings?status=confirmed&cursor="+next, "").problem(400,
		"invalid_request").Errors[0].Pointer, "cursor")

	// In kilometres all of it is.
	w.pass(24 * 3600e9)
	w.do("POST", path+"/pickup", `{"mileage_mi":100}`).ok(200)
	w.pass(48 * 3600e9)
	w.do("POST", path+"/return", `{"mileage_mi":400}`).ok(200)
	b := w.do("GET", path+"?units=metric", "").ok(200).object()
	wantEqual(t, "kilometres", fmt.Sprint(b["km_driven"], b["included_km"], b["extra_km"], b["miles_driven"]),
		"483 322 161 <nil>")

	// What there is not is said, and by its name.
	w.do("POST", path+"/pickup", "").problem(409, "invalid_state_transition")
	if text := string(w.do("POST", path+"/cancel", "").body); !strings.Contains(text, `"allowed_transitions":[`) {
		t.Errorf("%s does not say what is allowed", text)
	}
	if text := string(w.do("GET", "/v1/bookings", "").body); !strings.Contains(text, `"next_cursor":null`) {
		t.Errorf("%.300s does not say that it is all", text)
	}
	not := w.do("GET", "/v1/availability?promo_code=NONE&pickup_at="+w.in(300)+"&return_at="+w.in(330),
		"").ok(200).object()["not_available"]
	wantEqual(t, "why", fmt.Sprint(not), "map[promo_code_not_found:1]")

	// Blocks are found by when they begin and where they lead.
	w.do("POST", "/v1/vehicles/"+w.car+"/blocks", fmt.Sprintf(
		`{"kind":"owner_use","reason":"x","from":%q,"until":%q,"to_location_id":%q}`, w.in(200), w.in(210), w.place)).ok(201)
	for query, want := range map[string]int{"from[gte]=" + w.in(199): 1, "from[gt]=" + w.in(201): 0,
		"to_location_id=" + w.place: 1, "to_location_id=loc_1": 0, "sort=-from": 1} {
		wantEqual(t, query, len(w.do("GET", "/v1/blocks?"+query, "").ok(200).data()), want)
	}
}

// Names stand in the place of ids where people read them, and not where something was sent, or is to be sent,
// to the letter.
func TestWhatIsMeantToTheLetterKeepsItsIds(t *testing.T) {
	w := newLot(t)
	says := func(want string, r *reply) {
		t.Helper()
		if !strings.Contains(string(r.body), want) {
			t.Errorf("%s does not say %s", r.body, want)
		}
	}
	says(fmt.Sprintf(`no booking \"%s\"`, w.customer), w.do("GET", "/v1/bookings/"+w.customer, ""))
	says(fmt.Sprintf(`\"%s\" is not the id of a location`, w.customer),
		w.do("POST", "/v1/vehicles", fmt.Sprintf(`{"make":"A","model":"B","home_location_id":%q}`, w.customer)))
	text := "Call `POST /v1/vehicles/" + w.car + "/blocks` of " + w.car + ", or /v1/vehicles/" + w.car + "."
	w.api.NameIDs(t.Context(), w.account, func(auth.Scope) bool { return true }, &text)
	wantEqual(t, "an address", text, "Call `POST /v1/vehicles/"+w.car+"/blocks` of A B, or /v1/vehicles/"+w.car+".")
	p := w.do("POST", "/v1/bookings", w.booking(-100, -50, "")).problem(422, "validation_failed")
	wantEqual(t, "the first error in words", p.Detail, "pickup_at: "+p.Errors[0].Detail+".")
	p = w.do("POST", "/v1/bookings/"+w.book(24, 48, "")[len("/v1/bookings/"):]+"/cancel", `{"waive_fe":true}`).problem(422,
		"validation_failed")
	wantEqual(t, "one mark ends a sentence", p.Detail, "waive_fe: there is no such member; did you mean waive_fee?")
}
