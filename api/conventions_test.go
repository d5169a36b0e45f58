package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestListsArePagedFilteredAndSorted(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for i := range 7 {
		ids = append(ids, w.vehicle(fmt.Sprintf(`{"make":"M%d","model":"X","year":%d,"tags":["t%d"],"nickname":"car %d","external_refs":[{"system":"s","id":"e%d"}]}`,
			i%2, 2020+i, i%3, i, i)))
	}
	names := func(query string) string {
		var years []string
		for _, v := range w.do("GET", "/v1/vehicles?"+query, "").data() {
			years = append(years, fmt.Sprint(v["year"]))
		}
		return strings.Join(years, " ")
	}
	for query, want := range map[string]string{
		"":                                   "2020 2021 2022 2023 2024 2025 2026",
		"sort=-id&per_page=3":                "2026 2025 2024",
		"sort=make,-year":                    "2026 2024 2022 2020 2025 2023 2021",
		"make=M1":                            "2021 2023 2025",
		"make=M0,M1&year=2020,2023":          "2020 2023",
		"year[gte]=2022&year[lt]=2024":       "2022 2023",
		"year%5Bgt%5D=2025":                  "2026",
		"tags=t1,t2":                         "2021 2022 2024 2025",
		"q=CAR%203":                          "2023",
		"q=car+m1":                           "2021 2023 2025",
		"external_ref=e4":                    "2024",
		"updated_since=2020-01-01T00:00:00Z": "2020 2021 2022 2023 2024 2025 2026",
		"updated_since=2100-01-01T00:00:00Z": "",
		"status=available,rented&per_page=1": "2020",
		"status=rented":                      "",
		"page=2&per_page=3":                  "2023 2024 2025",
		"page=9":                             "",
		"archived=true":                      "",
		"archived=all&year=2020":             "2020",
		"created_at[gt]=2020-01-01T00:00:00.5%2B01:00&year=2021": "2021",
	} {
		wantEqual(t, query, names(query), want)
	}

	// Following Link and following next_cursor both visit every vehicle once, and say the same total.
	for _, by := range []string{"link", "cursor"} {
		var seen []string
		path := "/v1/vehicles?per_page=2&sort=-make"
		for pages := 1; path != ""; pages++ {
			r := w.do("GET", path, "").ok(200)
			for _, v := range r.data() {
				seen = append(seen, v["id"].(string))
			}
			p := r.pagination()
			wantEqual(t, by+" pagination", fmt.Sprint(p.Page, p.PerPage, p.Total), fmt.Sprint(pages, 2, 7))
			path = ""
			if next := regexp.MustCompile(`<([^>]*)>; rel="next"`).FindStringSubmatch(r.header.Get("Link")); by == "link" &&
				next != nil {
				path = next[1]
			}
			if by == "cursor" && p.NextCursor != "" {
				path = "/v1/vehicles?per_page=2&sort=-make&cursor=" + p.NextCursor
			}
		}
		wantEqual(t, by, strings.Join(seen, " "),
			strings.Join([]string{ids[1], ids[3], ids[5], ids[0], ids[2], ids[4], ids[6]}, " "))
	}
	r := w.do("GET", "/v1/vehicles?per_page=2&page=2", "")
	wantEqual(t, "Link", r.header.Get("Link"),
		`</v1/vehicles?per_page=2>; rel="first", </v1/vehicles?page=1&per_page=2>; rel="prev", </v1/vehicles?page=3&per_page=2>; rel="next", </v1/vehicles?page=4&per_page=2>; rel="last"`)

	one := w.do("GET", "/v1/vehicles?fields=make,year&per_page=1", "").data()[0]
	wantEqual(t, "fields", fmt.Sprint(one), fmt.Sprintf("map[id:%s make:M0 year:2020]", ids[0]))
	wantEqual(t, "expand",
		fmt.Sprint(w.do("GET", "/v1/vehicles/"+ids[0]+"?expand=devices", "").ok(200).object()["devices"]), "[]")
	wantEqual(t, "not expanded", w.do("GET", "/v1/vehicles/"+ids[0], "").ok(200).object()["devices"], nil)
}

// A value that a filter's member cannot have would find nothing for ever. Where the description of what is shown says
// which there are, another is refused, and told what there is.
func TestFiltersKnowTheirValues(t *testing.T) {
	w := newWorld(t)
	for path, among := range map[string]string{
		"/v1/bookings?status=activ":               "active",
		"/v1/bookings?status=active,over":         "completed",
		"/v1/bookings?is_overdue=yes":             "true, false",
		"/v1/vehicles?fuel_type=petrol":           "gasoline",
		"/v1/vehicles?status=free":                "available",
		"/v1/tolls?status=open":                   "unmatched",
		"/v1/payments?status=paid":                "succeeded",
		"/v1/expenses?status=new":                 "draft",
		"/v1/maintenance/work_orders?status=done": "completed",
		"/v1/maintenance/issues?status=closed":    "resolved",
		"/v1/maintenance/inspections?status=done": "submitted",
		"/v1/maintenance/reminders?stage=late":    "due_soon",
		"/v1/alert_rules?kind=speed":              "speeding",
		"/v1/vehicles/" + w.vehicle(`{"make":"A","model":"B"}`) + "/meter_readings?kind=odometer": "odometer_mi",
	} {
		if detail := string(w.do("GET", path, "").ok(400).body); !strings.Contains(detail, "must be one of") ||
			!strings.Contains(detail, among) {
			t.Errorf("%s: %s", path, detail)
		}
	}
	for _, path := range []string{"/v1/bookings?status=active,no_show&is_overdue=true",
		"/v1/vehicles?fuel_type=electric&status=turnaround", "/v1/customers?do_not_rent=true"} {
		w.do("GET", path, "").ok(200)
	}
}

// Whatever can be had as a file is had whole: a parameter of paging is refused by its name, and the document says so.
func TestFilesHaveNoPages(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"Tesla","model":"Model 3"}`)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, Description string
				Required          bool
				Schema            struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(w.do("GET", "/v1/openapi.json", "").ok(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	files := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			about, spans, forms, paged := "", "", []string(nil), false
			for _, p := range op.Parameters {
				if p.Name == "format" {
					about, forms = p.Description, p.Schema.Enum
				}
				paged = paged || p.Name == "per_page"
				if p.Required && (p.Name == "from" || p.Name == "until") {
					spans += "&" + p.Name + "=2026-01-0" + map[string]string{"from": "1", "until": "2"}[p.Name]
				}
			}
			if forms == nil || !paged {
				continue
			}
			files++
			if !strings.Contains(about, "`per_page`") {
				t.Errorf("%s %s says nothing of pages: %s", method, path, about)
			}
			of := strings.ReplaceAll(path, "{id}", vehicle)
			for _, form := range forms {
				for _, page := range []string{"page=1", "per_page=10", "cursor=x"} {
					if form == "json" {
						continue
					}
					name, _, _ := strings.Cut(page, "=")
					refused := w.do(strings.ToUpper(method), of+"?format="+form+"&"+page+spans,
						map[string]string{"post": "{}"}[method]).problem(400, "invalid_request")
					if refused.Errors[0].Pointer != name || !strings.Contains(refused.Errors[0].Detail, form) {
						t.Errorf("%s %s as %s with %s: %+v", method, path, form, page, refused)
					}
				}
			}
		}
	}
	if files < 10 {
		t.Errorf("%d lists can be had as files", files)
	}
}

// Each request is wrong in one way; the answer says which.
func TestBadRequests(t *testing.T) {
	w := newWorld(t)
	id := w.vehicle(`{"make":"Tesla","model":"Model 3"}`)
	w.vehicle(`{"make":"Tesla","model":"Model 3"}`)
	cursor := w.do("GET", "/v1/vehicles?per_page=1", "").pagination().NextCursor
	madeUp := cursorOf("9223372036854775807", "1")
	madeUp.List += "created_at"
	byTime := rest.EncodeCursor(madeUp)
	one := "/v1/vehicles/" + id
	valid := `{"make":"A","model":"B"}`
	tests := []struct {
		method, path, body string
		headers            []string
		status             int
		code               string
		pointer            string // of the first error, if one is expected
	}{
		{"GET", "/v1/vehicles?colour=red", "", nil, 400, "invalid_request", "colour"},
		{"GET", "/v1/vehicles?make[gte]=A", "", nil, 400, "invalid_request", "make[gte]"},
		{"GET", "/v1/vehicles?make=A&make=B", "", nil, 400, "invalid_request", "make"},
		{"GET", "/v1/vehicles?page=0", "", nil, 400, "invalid_request", "page"},
		{"GET", "/v1/vehicles?page=-1", "", nil, 400, "invalid_request", "page"},
		{"GET", "/v1/vehicles?page=one", "", nil, 400, "invalid_request", "page"},
		{"GET", "/v1/vehicles?page=99999999999999999999", "", nil, 400, "invalid_request", "page"},
		{"GET", "/v1/vehicles?per_page=101", "", nil, 400, "invalid_request", "per_page"},
		{"GET", "/v1/vehicles?per_page=100&page=101", "", nil, 400, "invalid_request", "page"},
		{"GET", "/v1/vehicles?cursor=zzz", "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/vehicles?cursor=" + cursor + "&sort=make", "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/vehicles?cursor=" + cursor + "&page=2", "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/devices?cursor=" + cursor, "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/vehicles?cursor=" + rest.EncodeCursor(cursorOf("x")), "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/vehicles?cursor=" + rest.EncodeCursor(cursorOf("1", "2")), "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/vehicles?sort=created_at&cursor=" + byTime, "", nil, 400, "invalid_request", "cursor"},
		{"GET", "/v1/vehicles?vin=", "", nil, 400, "invalid_request", "vin"},
		{"GET", "/v1/vehicles?external_ref=", "", nil, 400, "invalid_request", "external_ref"},
		{"GET", "/v1/vehicles?status=,", "", nil, 400, "invalid_request", "status"},
		{"GET", "/v1/positions/latest?vehicle_id=", "", nil, 400, "invalid_request", "vehicle_id"},
		{"GET", "/v1/positions/latest?bbox=", "", nil, 400, "invalid_request", "bbox"},
		{"GET", "/v1/dead_letters?unique_id=", "", nil, 400, "invalid_request", "unique_id"},
		{"GET", "/v1/vehicles?sort=tags", "", nil, 400, "invalid_request", "sort"},
		{"GET", "/v1/vehicles?sort=body;DROP", "", nil, 400, "invalid_request", ""},
		{"GET", "/v1/vehicles?sort=make,-make", "", nil, 400, "invalid_request", "sort"},
		{"GET", "/v1/vehicles?expand=bookings", "", nil, 400, "invalid_request", "expand"},
		{"GET", "/v1/vehicles?fields=secret", "", nil, 400, "invalid_request", "fields"},
		{"GET", "/v1/vehicles?year=new", "", nil, 400, "invalid_request", "year"},
		{"GET", "/v1/vehicles?year[gte]=2020,2021", "", nil, 400, "invalid_request", "year[gte]"},
		{"GET", "/v1/vehicles?updated_since=yesterday", "", nil, 400, "invalid_request", "updated_since"},
		{"GET", "/v1/vehicles?archived=maybe", "", nil, 400, "invalid_request", "archived"},
		{"GET", "/v1/vehicles?units=furlongs", "", nil, 400, "invalid_request", "units"},
		{"GET", "/v1/vehicles?make=%zz", "", nil, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles?dry_run=true", valid, nil, 400, "invalid_request", "dry_run"},
		{"GET", "/v1/nothing", "", nil, 404, "not_found", ""},
		{"GET", "/nothing", "", nil, 404, "not_found", ""},
		{"GET", "/v1/vehicles/veh_1", "", nil, 404, "not_found", ""},
		{"GET", "/v1/vehicles/1", "", nil, 404, "not_found", ""},
		{"GET", "/v1/vehicles/dev_" + strings.TrimPrefix(id, "veh_"), "", nil, 404, "not_found", ""},
		{"GET", "/v1/devices/dev_" + strings.TrimPrefix(id, "veh_"), "", nil, 404, "not_found", ""},
		{"GET", "/v1/vehicles/veh_99999999999999999999", "", nil, 404, "not_found", ""},
		{"GET", "/v1/vehicles/veh_1'%20OR%201=1", "", nil, 404, "not_found", ""},
		{"PATCH", "/v1/vehicles/veh_1", valid, nil, 404, "not_found", ""},
		{"DELETE", "/v1/vehicles/veh_1", "", nil, 404, "not_found", ""},
		{"POST", "/v1/vehicles/veh_1/status", `{"status":"available","reason":"x"}`, nil, 404, "not_found", ""},
		{"DELETE", "/v1/vehicles", "", nil, 405, "method_not_allowed", ""},
		{"POST", one, valid, nil, 405, "method_not_allowed", ""},
		{"BREW", one, "", nil, 405, "method_not_allowed", ""},
		{"POST", "/v1/vehicles", ``, []string{"Content-Type", "application/json"}, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles", `{"make":`, nil, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B"} {}`, nil, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles", `{make:"A"}`, nil, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles", strings.Repeat("[", 100_000), nil, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles", `[]`, nil, 422, "validation_failed", ""},
		{"POST", "/v1/vehicles", `null`, nil, 422, "validation_failed", ""},
		{"POST", "/v1/vehicles", `{}`, nil, 422, "validation_failed", "/make"},
		{"POST", "/v1/vehicles", `{"make":null,"model":"B"}`, nil, 422, "validation_failed", "/make"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","year":"2024"}`, nil, 422, "validation_failed", "/year"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","year":2024.5}`, nil, 422, "validation_failed", "/year"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","year":1700}`, nil, 422, "validation_failed", "/year"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","yaer":2024}`, nil, 422, "validation_failed", "/yaer"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","MAKE":"C"}`, nil, 422, "validation_failed", "/MAKE"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","id":"veh_1"}`, nil, 422, "validation_failed", "/id"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","daily_rate":{"amount":1.5,"currency":"USD"}}`, nil, 422,
			"validation_failed", "/daily_rate/amount"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","daily_rate":{"amount":1e300,"currency":"USD"}}`, nil, 422,
			"validation_failed", "/daily_rate/amount"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","daily_rate":{"amount":1,"currency":"usd"}}`, nil, 422,
			"validation_failed", "/daily_rate/currency"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","acquired_on":"2024-02-30"}`, nil, 422, "validation_failed",
			"/acquired_on"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","fuel_type":"steam"}`, nil, 422, "validation_failed", "/fuel_type"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","timezone":"Mars/Olympus"}`, nil, 422,
			"validation_failed", "/timezone"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","external_refs":[{"system":"s"}]}`, nil, 422, "validation_failed",
			"/external_refs/0/id"},
		{"POST", "/v1/vehicles", `{"make":"` + strings.Repeat("x", 101) + `","model":"B"}`, nil, 422,
			"validation_failed", "/make"},
		{"PATCH", one, `{"make":null}`, nil, 422, "validation_failed", "/make"},
		{"PATCH", one, `{"id":"veh_2"}`, nil, 422, "validation_failed", "/id"},
		{"PATCH", one, `[]`, nil, 422, "validation_failed", ""},
		{"POST", "/v1/vehicles", valid, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type", ""},
		{"POST", "/v1/vehicles", valid, []string{"Content-Type", ""}, 415, "unsupported_media_type", ""},
		{"POST", "/v1/vehicles", valid, []string{"Content-Type", "application/json; charset=utf-16"}, 415,
			"unsupported_media_type", ""},
		{"PUT", one, valid, []string{"Content-Type", "application/merge-patch+json"}, 415, "unsupported_media_type", ""},
		{"POST", "/v1/vehicles", valid, []string{"Content-Encoding", "br"}, 415, "unsupported_media_type", ""},
		{"POST", "/v1/vehicles", valid, []string{"Content-Encoding", "gzip"}, 400, "invalid_request", ""},
		{"POST", "/v1/vehicles", `{"make":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "payload_too_large", ""},
		{"POST", "/v1/vehicles", string(zipped(`{"make":"` + strings.Repeat("x", 8<<20) + `"}`)),
			[]string{"Content-Encoding", "gzip"}, 413, "payload_too_large", ""},
		{"POST", "/v1/vehicles", valid, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "invalid_request",
			"Idempotency-Key"},
		{"POST", "/v1/api_keys", `{"name":"x","scopes":["everything"]}`, nil, 422, "validation_failed", "/scopes/0"},
		{"POST", "/v1/api_keys", `{"name":"x","scopes":[]}`, nil, 422, "validation_failed", "/scopes"},
		{"POST", "/v1/api_keys", `{"name":"x","scopes":["admin"],"ip_allow_list":["home"]}`, nil, 422, "validation_failed",
			"/ip_allow_list/0"},
		{"POST", "/v1/api_keys", `{"name":"x","scopes":["admin"],"expires_at":"2020-01-01T00:00:00Z"}`, nil, 422,
			"validation_failed", "/expires_at"},
		{"POST", "/v1/devices", `{"unique_id":" x"}`, nil, 422, "validation_failed", "/unique_id"},
		{"POST", "/v1/devices", `{"unique_id":"\u0000"}`, nil, 422, "validation_failed", "/unique_id"},
	}
	for _, test := range tests {
		name := test.method + " " + test.path + " " + test.body[:min(60, len(test.body))]
		r := w.do(test.method, test.path, test.body, test.headers...)
		p := problemIn(t, name, r)
		if r.status != test.status || p.Code != test.code {
			t.Errorf("%s: %d %s, want %d %s: %s", name, r.status, p.Code, test.status, test.code, p.Detail)
			continue
		}
		if test.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != test.pointer) {
			t.Errorf("%s: errors %v, want one at %s", name, p.Errors, test.pointer)
		}
		if r.status == 405 && !strings.Contains(strings.Join(r.header.Values("Allow"), ","), "GET") {
			t.Errorf("%s: Allow %v", name, r.header.Values("Allow"))
		}
	}
	wantEqual(t, "the vehicles after all that", len(w.do("GET", "/v1/vehicles?archived=all", "").data()), 2)

}

// A fault of the store is not the fault of whoever follows a cursor.
func TestAFaultBehindACursorIsOurs(t *testing.T) {
	w := newWorld(t)
	w.vehicle(`{"make":"A","model":"B"}`)
	w.vehicle(`{"make":"A","model":"B"}`)
	next := "/v1/vehicles?per_page=1&cursor=" + w.do("GET", "/v1/vehicles?per_page=1", "").pagination().NextCursor
	w.do("GET", next, "").ok(200)
	w.exec("RENAME TABLE vehicles TO lost")
	w.do("GET", next, "").problem(500, "internal_error")
}

func cursorOf(keys ...string) rest.Cursor {
	return rest.Cursor{After: keys, Page: 2, List: "/v1/vehicles?"}
}

// problemIn reads a problem without ending the test, so that a table goes on.
func problemIn(t *testing.T, name string, r *reply) rest.Problem {
	t.Helper()
	var p rest.Problem
	if err := json.Unmarshal(r.body, &p); err != nil || r.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: status %d with %.200q", name, r.status, r.body)
	}
	if p.Title == "" || p.Detail == "" || p.Instance == "" || p.RequestID == "" {
		t.Errorf("%s: the problem lacks something: %s", name, r.body)
	}
	return p
}

func zipped(text string) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	io.WriteString(z, text)
	z.Close()
	return buf.Bytes()
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	w := newWorld(t)
	r := w.do("GET", "/v1/vehicles", "", "X-Request-Id", "my-request.1").ok(200)
	for name, want := range map[string]string{
		"X-Request-Id": "my-request.1", "Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "RateLimit-Policy": `"read";q=60000;w=60`, "X-RateLimit-Limit": "60000",
		"Access-Control-Allow-Origin": "",
	} {
		wantEqual(t, name, r.header.Get(name), want)
	}
	if !regexp.MustCompile(`^"read";r=\d+;t=\d+$`).MatchString(r.header.Get("RateLimit")) {
		t.Errorf("RateLimit %q", r.header.Get("RateLimit"))
	}
	unsafe := w.do("GET", "/v1/vehicles", "", "X-Request-Id", "a b<script>").header.Get("X-Request-Id")
	if !regexp.MustCompile(`^req_[0-9a-f]{24}$`).MatchString(unsafe) {
		t.Errorf("an unsafe request id became %q", unsafe)
	}
	if log := w.log.String(); strings.Contains(log, w.key) || !strings.Contains(log, "my-request.1") {
		t.Errorf("the log shows a key, or no request id: %s", log)
	}
	w.do("POST", "/v1/vehicles", string(zipped(`{"make":"A","model":"B"}`)), "Content-Encoding", "gzip").ok(201)
	for range 20 {
		w.vehicle(`{"make":"A","model":"B"}`)
	}
	req, _ := http.NewRequest("GET", w.url+"/v1/vehicles", nil)
	req.Header.Set("Authorization", "bearer "+w.key)
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	z, err := gzip.NewReader(res.Body)
	if err != nil || res.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encoding %q, %v", res.Header.Get("Content-Encoding"), err)
	}
	var list rest.List[map[string]any]
	if err := json.NewDecoder(z).Decode(&list); err != nil || list.Pagination.Total != 21 {
		t.Errorf("%+v, %v", list.Pagination, err)
	}
}

func TestBrowsersOfChosenOriginsMayCall(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) { c.CORSOrigins = []string{"https://app.example"} })
	ask := []string{"Origin", "https://app.example", "Access-Control-Request-Method", "GET", "Authorization", ""}
	r := w.do("OPTIONS", "/v1/vehicles", "", ask...).ok(204)
	wantEqual(t, "origin", r.header.Get("Access-Control-Allow-Origin"), "https://app.example")
	ask[1] = "https://evil.example"
	wantEqual(t, "another origin",
		w.do("OPTIONS", "/v1/vehicles", "", ask...).header.Get("Access-Control-Allow-Origin"), "")
	wantEqual(t, "credentials", r.header.Get("Access-Control-Allow-Credentials"), "")
}

func TestAPanicIsAnAnswerAndALogEntry(t *testing.T) {
	w := newWorld(t)
	half := map[string]int{"/v1/half": 1000, "/v1/little": 1}
	for path, times := range half {
		w.api.Handle(rest.Route{Method: "GET", Path: path, ID: path, Public: true},
			func(w http.ResponseWriter, _ *http.Request) error {
				io.WriteString(w, strings.Repeat("half an answer ", times))
				return fmt.Errorf("the rest is lost")
			})
	}
	w.api.Handle(rest.Route{Method: "GET", Path: "/v1/panic", ID: "panic", Public: true},
		func(http.ResponseWriter, *http.Request) error { panic("secret cause") })

	p := w.do("GET", "/v1/panic", "").problem(500, "internal_error")
	if strings.Contains(p.Detail, "secret") || !strings.Contains(w.log.String(), "secret cause") {
		t.Errorf("problem %q, log %s", p.Detail, w.log)
	}
	for path := range half {
		res, err := http.Get(w.url + path)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: half an answer looks whole", path)
		}
	}
}

func TestALostStoreIsA503(t *testing.T) {
	var lose func()
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.DB, lose = throughProxy(t) })
	w.do("GET", "/v1/vehicles", "").ok(200)
	lose()
	r := w.do("GET", "/v1/vehicles", "")
	p := r.problem(503, "unavailable")
	if r.header.Get("Retry-After") == "" || strings.Contains(p.Detail, "127.0.0.1") {
		t.Errorf("%v %v", r.header, p)
	}
}

// throughProxy opens a fresh database whose every connection can be cut, for good.
func throughProxy(t *testing.T) (driver.Conn, func()) {
	config := schematest.Config(t)
	server := config.Addrs[0]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config.Addrs = []string{listener.Addr().String()}
	ctx, cut := context.WithCancel(context.Background())
	t.Cleanup(cut)
	context.AfterFunc(ctx, func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				return
			}
			context.AfterFunc(ctx, func() { near.Close(); far.Close() })
			go io.Copy(near, far)
			go io.Copy(far, near)
		}
	}()
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db, cut
}

// Who writes a name that is not there is told the one that was probably meant, or which there are.
func TestAnUnknownNameSaysWhatWasMeant(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 48, "")
	w.do("POST", "/v1/devices", `{"unique_id":"imei-1","protocol":"native"}`).ok(201)
	for _, c := range []struct {
		method, path, body, want string
	}{
		{"POST", path + "/cancel", `{"reason":"x"}`, "did you mean reason_code?"},
		{"POST", path + "/cancel", `{"why":"x"}`, "there are at, cancelled_by, note, reason_code, waive_fee"},
		{"POST", path + "/pickup", `{"mileageMi":1}`, "did you mean mileage_mi?"},
		{"POST", path + "/pickup", `{"inspection":{"items":[{"point":"a","result":"pass","foto":"x"}]}}`,
			"there are note, photos, point, result, severity"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","licence_plate":"X"}`, "did you mean license_plate?"},
		{"POST", "/v1/vehicles", `{"make":"A","model":"B","zzzzzzz":"X"}`, `"there is no such member"`},
		{"POST", "/v1/positions", `{"data":[{"unique_id":"imei-1","timestamp":1769860810000,"lat":1,"lng":1}]}`,
			"there are device_id, unique_id, fix_at,"},
		{"POST", "/v1/positions",
			`{"data":[{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":1,"signals":{"soc_pkt":1}}]}`,
			"did you mean soc_pct?"},
		{"GET", "/v1/bookings?perpage=5", "", "did you mean per_page?"},
		{"GET", path + "/timeline?limit=5", "", "there are "},
		{"GET", "/v1/bookings?sort=-pickup", "", "cannot be sorted; did you mean pickup_at?"},
		{"GET", "/v1/customers?sort=color", "", "cannot be sorted; there are "},
		{"GET", path + "?fields=number,return", "", "names return, which a booking does not have; did you mean return_at?"},
		{"GET", "/v1/bookings?format=csv&fields=pickup", "", "there is no such column; did you mean pickup_at?"},
	} {
		if got := string(w.do(c.method, c.path, c.body).body); !strings.Contains(got, c.want) {
			t.Errorf("%s %s %s: %s\nwant %s", c.method, c.path, c.body, got, c.want)
		}
	}
}
