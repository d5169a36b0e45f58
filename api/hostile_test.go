package api

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// What is sent in the place of whole bodies, of members, parameters, parts of paths and headers, to see whether any
// of it gets past the door.
var (
	hostileBodies = []string{
		"", " ", "null", "true", "0", `""`, "[]", "{}", "{", "]", `{"a":1}{"a":2}`, `{"id":"veh_1","id":"veh_2"}`,
		"\x00", "\xef\xbb\xbf{}", "{\"\xff\xfe\":\"\xc3\x28\"}", `{"":{"":{"":""}}}`,
		`{"a":1e999999}`, `{"a":"\ud800"}`, `{"\u0000":"\u0000"}`, "<a/>", "a=b&c=d", "%PDF-1.7", "\x1f\x8b\x08\x00",
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 50_000),
		"[" + strings.Repeat("[],", 100_000) + "[]]", `{"` + strings.Repeat("k", 300_000) + `":1}`,
	}
	hostileValues = []any{
		nil, true, -1, 0, json.Number("1e308"), json.Number("-1e308"), json.Number("1e-320"), json.Number("1e999"),
		json.Number("9223372036854775807"), json.Number("-9223372036854775809"),
		json.Number("18446744073709551616"), json.Number("0.1"), json.Number("4294967296"), "", " ", "\x00", "a\x00b",
		"\u202e\ufeff\u0301", strings.Repeat("x", 70_000), strings.Repeat("界", 300),
		"2026-13-45T99:99:99Z", "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
		"2300-01-01", "2026-02-30", "24:00", "America/../../etc/passwd",
		[]any{}, []any{nil}, []any{[]any{[]any{}}}, map[string]any{}, map[string]any{"": nil}, "veh_0", "veh_-1",
		"veh_18446744073709551615", "veh_99999999999999999999", "cus_01",
		"../../etc/passwd", `'; DROP TABLE vehicles; --`, "{account:UInt64}", "\\N", "%s%n%d", "=cmd|' /C calc'!A0",
		"<script>alert(1)</script>", "USD\n", slices.Repeat([]any{"veh_1"}, 2_000),
		slices.Repeat([]any{map[string]any{"a": 1}}, 1_500),
	}
	hostileParams = []string{
		"", " ", "-1", "0", "1", "1e9", "4294967296", "9223372036854775807", "99999999999999999999",
		"-9223372036854775809", "NaN", "Inf", "true", "null", "\x00", "a\x00b", "\xff\xfe", "\xed\xa0\x80",
		strings.Repeat("x", 20_000), strings.Repeat("veh_1,", 1_100), ",,,", "veh_0", "veh_18446744073709551616",
		"[]", "{}", "%", "%00", "*", "\\", "'", "{account:UInt64}", "2026-13-45T99:99:99Z",
		"9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "1677-09-21T00:12:43Z", "2262-04-12T00:00:00Z",
		"-created_at,-created_at", "gt:1,lt:0", "-91,-181,91,181", "0,0,0,0", "nan,nan,nan,nan",
		"eyJhIjoxfQ", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA", "csv", "geojson", "America/Chicago",
	}
	hostileParts = []string{"veh_0", "veh_-1", "veh_18446744073709551616", "%00", "%FF%FE", "..%2F..", "%20",
		strings.Repeat("9", 5_000), "veh_1%0d%0aX:1", "*", "{id}", "null", "cus_7", "veh_1,veh_2"}
	hostileHeaders = [][2]string{
		{"Idempotency-Key", " "}, {"Idempotency-Key", strings.Repeat("k", 5_000)}, {"Idempotency-Key", "\xff\xfe"},
		{"Idempotency-Key", "a b\tc"}, {"Idempotency-Key", "'{x:String}"}, {"If-Match", `"`}, {"If-Match", "*"},
		{"If-Match", `W/"1"`}, {"If-Match", `"-1"`}, {"If-Match", `"99999999999999999999"`},
		{"If-Match", strings.Repeat(`"1",`, 1_000)}, {"If-None-Match", `"`}, {"If-None-Match", "*"},
		{"Content-Type", ";;;"},
		{"Content-Type", "application/json; charset=utf-16"}, {"Content-Type", "multipart/form-data"},
		{"Content-Type", "application/vnd.apache.arrow.stream"}, {"Content-Type", "text/csv"},
		{"Content-Encoding", "gzip"},
		{"Content-Encoding", "zstd, br"}, {"Accept", "\xff"}, {"Accept", "image/png;q=0"},
		{"Accept-Encoding", "gzip;q=banana"}, {"Accept-Language", strings.Repeat("a", 9_000)},
		{"X-Request-Id", strings.Repeat("r", 5_000)},
		{"X-Request-Id", "\xff"}, {"Range", "bytes=5-1"}, {"Range", "bytes=-99999999999999999999"},
		{"Last-Event-ID", "-1"}, {"Last-Event-ID", "\xff"}, {"Authorization", "Bearer " + strings.Repeat("x", 9_000)},
		{"Authorization", "Bearer \xff"}, {"Authorization", "Basic Og=="}, {"Origin", "null"}, {"Expect", "banana"},
		{"X-Forwarded-For", "\xff, 1.2.3.4"},
	}
)

// attack is one hostile call.
type attack struct {
	name, method, path, body string
	headers                  []string
}

// attacks makes hostile calls of an operation: for each sort of them so many at random, and all there are for 0. path
// has ids that are there, and example is a body that fits.
func attacks(rng *rand.Rand, name, method, template, path, example string, params []string, each int) []attack {
	var all []attack
	some := func(calls []attack) {
		if each > 0 {
			rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
			calls = calls[:min(each, len(calls))]
		}
		all = append(all, calls...)
	}
	call := func(path, body string, headers ...string) attack { return attack{name, method, path, body, headers} }
	var calls []attack
	if method != "GET" {
		for _, body := range hostileBodies {
			calls = append(calls, call(path, body))
		}
		some(calls)
		calls = nil
		for _, body := range twisted(example) {
			calls = append(calls, call(path, body))
		}
		some(calls)
	}
	calls = nil
	for _, param := range params {
		for _, value := range hostileParams {
			calls = append(calls, call(path+"?"+url.Values{param: {value}}.Encode(), example))
		}
		calls = append(calls, call(path+"?"+param+"=1&"+param+"=2", example))
		calls = append(calls, call(path+"?"+param+"=%zz;"+param, example))
	}
	some(calls)
	calls = nil
	for begin := strings.IndexByte(template, '{'); begin >= 0; {
		end := begin + strings.IndexByte(template[begin:], '}') + 1
		for _, part := range hostileParts {
			// The parts before are as they are in path.
			kept := strings.Split(path, "/")[:strings.Count(template[:begin], "/")]
			rest := strings.Split(path, "/")[strings.Count(template[:end], "/")+1:]
			calls = append(calls, call(strings.Join(append(append(slices.Clone(kept), part), rest...), "/"), example))
		}
		next := strings.IndexByte(template[end:], '{')
		if next < 0 {
			break
		}
		begin = end + next
	}
	some(calls)
	calls = nil
	for _, header := range hostileHeaders {
		calls = append(calls, call(path, example, header[0], header[1]))
	}
	some(calls)
	return all
}

// twisted are copies of a JSON body in each of which one value is another, at any depth, or in which there is one
// member more.
func twisted(example string) []string {
	var bodies []string
	var root any
	if json.Unmarshal([]byte(example), &root) != nil {
		return nil
	}
	write := func() {
		text, err := json.Marshal(root)
		if err != nil {
			panic(err) // of what was decoded, and hostileValues
		}
		bodies = append(bodies, string(text))
	}
	var visit func(v any, put func(any))
	visit = func(v any, put func(any)) {
		for _, hostile := range hostileValues {
			put(hostile)
			write()
		}
		put(v)
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				visit(v[name], func(other any) { v[name] = other })
			}
			v["no such member"] = 1
			write()
			delete(v, "no such member")
		case []any:
			for i := range v {
				visit(v[i], func(other any) { v[i] = other })
			}
		}
	}
	visit(root, func(other any) { root = other })
	return bodies
}

// Whatever is sent to an operation, by whom it is meant for or by another account: the answer is no fault of the
// server, and nothing of another account is in it.
func TestHostileInputIsAnswered(t *testing.T) {
	_, feed := newIntake(t)
	live, _, stop := newLiveWith(t, func(c *rest.Config, d *Deps) {
		c.Auth.Limits = map[auth.Class]auth.Limit{}
		for _, class := range []auth.Class{auth.Read, auth.Write, auth.Ingest} {
			c.Auth.Limits[class] = auth.Limit{PerKey: 1e9, PerAccount: 1e9, Window: time.Minute}
		}
		c.Auth.Failures = 1e9
		d.Publisher, d.Reader = feed, feed
	})
	defer stop()
	w := lotIn(live)
	ids := w.oneOfEach()
	inBodies := namingIn(ids)
	owner, stranger := w.key, w.newKey(w.newAccount("Second"), auth.Admin)
	rng := rand.New(rand.NewPCG(hostileSeed, 14))
	var calls [2][]attack // by the stranger first, who changes nothing
	for _, op := range operations(w.world) {
		if op.path == "/v1/stream" { // never ends, and TestStream… look at it
			continue
		}
		whole := op.path
		if strings.Contains(op.path, "{") {
			whole = fill(t, op.path, ids)
		}
		for i := range calls {
			some := attacks(rng, op.id, op.method, op.path, whole, inBodies.Replace(op.body), op.params, hostileEach[i])
			calls[i] = append(calls[i], some...)
		}
	}
	for i, key := range []string{stranger, owner} {
		queue := make(chan attack)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for a := range queue {
					status, answer := w.attack(a, key)
					said := fmt.Sprintf("%s: %s %.300s %.300q %.200q", a.name, a.method, a.path, a.body, a.headers)
					if status >= 500 {
						t.Errorf("%s: %d %s\n%s", said, status, answer, w.logged(answer))
					}
					for _, secret := range secrets {
						if i == 0 && strings.Contains(answer, secret) && !strings.Contains(a.path+a.body, secret) {
							t.Errorf("%s shows %s: %s", said, secret, answer)
						}
					}
				}
			})
		}
		for _, a := range calls[i] {
			queue <- a
		}
		close(queue)
		group.Wait()
		t.Logf("%d calls", len(calls[i]))
	}
	if strings.Contains(w.log.String(), "panic") {
		t.Errorf("something panicked: %s", w.log)
	}
}

// logged is what was logged of the request that a problem names.
func (w *world) logged(problem string) string {
	var p struct {
		ID string `json:"request_id"`
	}
	if json.Unmarshal([]byte(problem), &p) != nil || p.ID == "" {
		return ""
	}
	var lines []string
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, p.ID) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// attack makes a hostile call, and returns the status and the answer. A header that the client itself refuses to send
// counts as refused.
func (w *world) attack(a attack, key string) (int, string) {
	req, err := http.NewRequestWithContext(w.t.Context(), a.method, w.url+a.path, strings.NewReader(a.body))
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(a.headers); i += 2 {
		req.Header.Set(a.headers[i], a.headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Errorf("%s %.300s %.300q: %v", a.method, a.path, a.body, err)
		return 0, ""
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Errorf("%s %.300s %.300q: %v", a.method, a.path, a.body, err)
	}
	return res.StatusCode, string(answer)
}
