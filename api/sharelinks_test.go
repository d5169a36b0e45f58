package api

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// opened opens a share link as a stranger does, without a credential.
func (w *world) opened(secret string) (int, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/v1/share_links/open",
		strings.NewReader(fmt.Sprintf(`{"secret":%q}`, secret)))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func (w *world) shared(body string) (id, secret string) {
	w.t.Helper()
	made := w.do("POST", "/v1/share_links", body).ok(201)
	secret, _ = made.object()["secret"].(string)
	if len(secret) != 32 || made.object()["url"] != "/share#"+secret {
		w.t.Fatalf("made %s", made.body)
	}
	return made.id(), secret
}

func (w *world) later(d time.Duration) string {
	return time.Now().Add(time.Duration(w.clock.Load()) + d).UTC().Format(time.RFC3339)
}

func TestAShareLinkShowsWhatWasChosenAndNothingElse(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor","nickname":"Wasp","license_plate":"SECRETPLATE","metadata":{"a":"SECRETNOTE"}}`)
	w.drive(w.account, v, 9)
	w.park(w.account, v, 30.5, -97.5)
	until := w.later(time.Hour)
	_, bare := w.shared(fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q,"note":"SECRETNOTE"}`, v, until))
	status, text := w.opened(bare)
	want := `{"state":"live","expires_at":"` + strings.TrimSuffix(until, "Z") + `.000Z","place":{"lat":30.5,"lng":-97.5,"at":"2026-01-31T12:00:00.000Z"}}` + "\n"
	if status != 200 || text != want {
		t.Errorf("a link of the place alone: %d %s, want %s", status, text, want)
	}
	_, all := w.shared(fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q,"show":["plate","name","speed","address","trail"]}`, v, until))
	status, text = w.opened(all)
	for _, part := range []string{`"license_plate":"SECRETPLATE"`, `"name":"Gillig Low Floor Wasp"`,
		`"trail":[[-97.74306,30.26715]`, `"address":"Austin`} {
		if status != 200 || !strings.Contains(text, part) {
			t.Errorf("a link of everything: %d %s has no %s", status, text, part)
		}
	}
	for _, never := range []string{v, "SECRETNOTE", "dev_7", "key_", "acc_"} {
		if strings.Contains(text, never) {
			t.Errorf("a link shows %s: %s", never, text)
		}
	}
	_, plate := w.shared(fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q,"show":["plate"]}`, v, until))
	_, text = w.opened(plate)
	if !strings.Contains(text, "SECRETPLATE") || strings.Contains(text, "Gillig") || strings.Contains(text, "trail") {
		t.Errorf("a link of the plate: %s", text)
	}
	// A vehicle of which nothing is known is nowhere.
	_, none := w.shared(fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q}`, w.vehicle(`{"make":"A","model":"B"}`), until))
	if _, text := w.opened(none); !strings.Contains(text, `"state":"nowhere"`) || strings.Contains(text, `"place"`) {
		t.Errorf("a vehicle without a place: %s", text)
	}
}

// TestAShareLinkOfABookingShowsNothingOfBeforeIt: who had the vehicle before is nobody's business.
func TestAShareLinkOfABookingShowsNothingOfBeforeIt(t *testing.T) {
	w := newWorld(t)
	v, other := w.vehicle(`{"make":"A","model":"B"}`), w.vehicle(`{"make":"A","model":"C"}`)
	w.park(w.account, v, 30.5, -97.5)
	at := func(d time.Duration) record.Instant { return record.InstantOf(noon.Time().Add(d)) }
	for name, c := range map[string]struct {
		status string
		since  time.Duration
		swap   time.Duration
		want   string
	}{
		"not begun":                     {record.BookingConfirmed, 0, 0, "not_begun"},
		"picked up before":              {record.BookingActive, -time.Hour, 0, "live"},
		"picked up since":               {record.BookingActive, time.Minute, 0, "nowhere"},
		"had another vehicle till then": {record.BookingActive, -time.Hour, time.Minute, "nowhere"},
		"over":                          {record.BookingCompleted, -time.Hour, 0, "ended"},
	} {
		b := record.Booking{Status: c.status}
		b.VehicleID = v
		if c.status != record.BookingConfirmed {
			b.ActualPickupAt = at(c.since)
		}
		if c.swap > 0 {
			b.VehicleSwaps = []record.VehicleSwap{{VehicleID: other, From: at(c.since), Until: at(c.swap)}}
		}
		_, secret := w.shared(fmt.Sprintf(`{"booking_id":%q,"expires_at":%q}`, w.booking(b), w.later(time.Hour)))
		status, text := w.opened(secret)
		if status != 200 || !strings.Contains(text, `"state":"`+c.want+`"`) ||
			strings.Contains(text, `"place"`) != (c.want == "live") {
			t.Errorf("%s: %d %s, want %s", name, status, text, c.want)
		}
	}
}

func TestAShareLinkEnds(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"A","model":"B"}`)
	w.park(w.account, v, 30.5, -97.5)
	until := w.later(time.Hour)
	body := fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q}`, v, until)
	id, revoked := w.shared(body)
	_, lapsing := w.shared(body)
	maker := w.newKey(w.account, auth.TelematicsRead, auth.TelematicsWrite)
	as := *w
	as.key = maker
	_, orphan := as.shared(body)
	for name, secret := range map[string]string{"one": revoked, "another": lapsing, "of another key": orphan} {
		if status, text := w.opened(secret); status != 200 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	_, refused := w.opened("0123456789" + revoked[10:])
	gone := func(name, secret string) {
		t.Helper()
		if status, text := w.opened(secret); status != 404 || said(text) != said(refused) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	w.do("DELETE", "/v1/share_links/"+id, "").ok(204)
	gone("revoked", revoked)
	// What whoever made it may not see any more, it does not show.
	keys := w.do("GET", "/v1/api_keys", "").ok(200).data()
	for _, k := range keys {
		if strings.HasPrefix(maker, strings.Split(k["hint"].(string), "_…")[0]) {
			w.do("DELETE", "/v1/api_keys/"+k["id"].(string), "").ok(204)
		}
	}
	gone("of a key that is revoked", orphan)
	w.clock.Add(int64(2 * time.Hour))
	gone("lapsed", lapsing)
	gone("none", "0123456789")
}

// said is what a problem says, without what differs between any two requests.
func said(problem string) string {
	before, _, _ := strings.Cut(problem, `"request_id"`)
	return before
}

func TestAShareLinkIsItsAccounts(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"A","model":"B"}`)
	w.park(w.account, v, 30.5, -97.5)
	until := w.later(time.Hour)
	body := fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q}`, v, until)
	made := w.do("POST", "/v1/share_links", body, "Idempotency-Key", "once").ok(201)
	id, secret := made.id(), made.object()["secret"].(string)
	again := w.do("POST", "/v1/share_links", body, "Idempotency-Key", "once").ok(201)
	if again.id() != id || again.object()["secret"] != nil && again.object()["secret"] != "" {
		t.Errorf("again: %s", again.body)
	}
	other := *w
	other.key = w.newKey(w.newAccount("Other"), auth.Admin)
	if all := other.do("GET", "/v1/share_links", "").ok(200).data(); len(all) != 0 {
		t.Errorf("another account sees %v", all)
	}
	other.do("GET", "/v1/share_links/"+id, "").problem(404, "not_found")
	other.do("DELETE", "/v1/share_links/"+id, "").problem(404, "not_found")
	wantEqual(t, "a vehicle of another account", other.do("POST", "/v1/share_links", body).faults(), "/vehicle_id")
	if status, _ := w.opened(secret); status != 200 {
		t.Errorf("after all that: %d", status)
	}
	// The secret is nowhere but in the answer that made it.
	for _, path := range []string{"/v1/share_links", "/v1/share_links/" + id, "/v1/share_links/" + id + "/history"} {
		text := string(w.do("GET", path, "").ok(200).body)
		if strings.Contains(text, secret) || strings.Contains(text, auth.Hash(secret)) {
			t.Errorf("%s: %s", path, text)
		}
	}
	var stored uint64
	err := w.db.QueryRow(t.Context(), `SELECT countIf(position(body, {secret:String}) > 0) FROM record_log`,
		clickhouse.Named("secret", secret)).Scan(&stored)
	if err != nil || stored != 0 {
		t.Errorf("the secret is stored %d times (%v)", stored, err)
	}
	if strings.Contains(w.log.String(), secret) {
		t.Error("the secret is logged")
	}
	// Who may not see something cannot share it.
	reader := *w
	reader.key = w.newKey(w.account, auth.TelematicsRead)
	reader.do("POST", "/v1/share_links", body).problem(403, "insufficient_scope")
	writer := *w
	writer.key = w.newKey(w.account, auth.TelematicsRead, auth.TelematicsWrite)
	writer.do("POST", "/v1/share_links", fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q,"show":["plate"]}`, v, until)).problem(403, "insufficient_scope")
	for body, want := range map[string]string{
		fmt.Sprintf(`{"expires_at":%q}`, until):                                         "/vehicle_id",
		fmt.Sprintf(`{"vehicle_id":%q,"booking_id":"bkg_1","expires_at":%q}`, v, until): "/vehicle_id",
		fmt.Sprintf(`{"booking_id":"bkg_1","expires_at":%q}`, until):                    "/booking_id",
		fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q}`, v, w.later(-time.Hour)):        "/expires_at",
		fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q}`, v, w.later(100*24*time.Hour)):  "/expires_at",
		fmt.Sprintf(`{"vehicle_id":%q,"expires_at":%q,"show":["driver"]}`, v, until):    "/show/0",
		fmt.Sprintf(`{"vehicle_id":%q}`, v):                                             "/expires_at",
	} {
		wantEqual(t, body, w.do("POST", "/v1/share_links", body).faults(), want)
	}
}
