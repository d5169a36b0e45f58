package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/recording"
)

// program is the built binary, made by the first test that asks.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "motorpool-test-")
	if err != nil {
		return "", err
	}
	programDir = dir
	path := filepath.Join(dir, "motorpool")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

var programDir string

func TestMain(m *testing.M) {
	code := embeddedtest.Run(m)
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// machine is a data folder with addresses of its own, on which the built binary runs.
type machine struct {
	t       *testing.T
	path    string
	env     []string
	data    string
	base    string // of the interface
	ops     string
	kafka   string // not empty: an Apache Kafka that runs already
	process *exec.Cmd
	output  *buffer // of `up`, both streams
	exited  chan error
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if _, err := embedded.FindLibrary(""); err != nil {
		if errors.Is(err, embedded.ErrNoLibrary) && os.Getenv("CI") != "true" &&
			os.Getenv("MOTORPOOL_REQUIRE_ENGINES") != "1" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	http, ops := freeAddr(t), freeAddr(t)
	m := &machine{t: t, path: path, data: filepath.Join(t.TempDir(), "data"), base: "http://" + http, ops: "http://" + ops}
	kafka := freeAddr(t)
	if m.kafka = os.Getenv("MOTORPOOL_TEST_KAFKA"); m.kafka != "" {
		kafka = m.kafka
	}
	m.env = append(os.Environ(), "MOTORPOOL_DATA="+m.data, "MOTORPOOL_HTTP="+http, "MOTORPOOL_OPS="+ops,
		"MOTORPOOL_KAFKA="+kafka, "MOTORPOOL_CLICKHOUSE="+freeAddr(t), "MOTORPOOL_CLICKHOUSE_HTTP="+freeAddr(t))
	return m
}

// withOwnBroker has `up` start its broker although the tests have another: for what is about its log.
func (m *machine) withOwnBroker() *machine {
	if m.kafka != "" {
		m.kafka, m.env = "", append(m.env, "MOTORPOOL_KAFKA="+freeAddr(m.t))
	}
	return m
}

// setting is what an environment variable says to the commands of the machine.
func (m *machine) setting(name string) string {
	for _, pair := range slices.Backward(m.env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// given are the ports of freeAddr so far.
var given sync.Map

// freeAddr is an address that nobody listens on and that no test was given before, outside the ports that the system
// gives to whoever connects to somebody: one of those may be taken before it is used.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := 12_000 + rand.N(20_000)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// command runs a command to its end and returns what it prints to standard output and to standard error, and its exit
// code.
func (m *machine) command(args ...string) (stdout, stderr string, code int) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.path, args...)
	cmd.Env = m.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("motorpool %s: %v", strings.Join(args, " "), err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must is command for one that has to succeed.
func (m *machine) must(args ...string) string {
	m.t.Helper()
	out, errs, code := m.command(args...)
	if code != 0 {
		m.t.Fatalf("motorpool %s: exit code %d\n%s%s\n`up` said:\n%s", strings.Join(args, " "), code, out, errs, m.said())
	}
	return out
}

func (m *machine) said() string {
	if m.output == nil {
		return ""
	}
	return m.output.String()
}

// prepared is a data folder that `up` has made and left: with tables and topics, and nothing in them. To make these
// takes longer than all else that a start does.
var prepared struct {
	sync.Mutex
	data string // "" until a machine has made it
}

// prepare has the machine begin with the folder that `up` makes, unless it has one.
func (m *machine) prepare() {
	m.t.Helper()
	if _, err := os.Stat(m.data); err == nil {
		return
	}
	prepared.Lock()
	defer prepared.Unlock()
	if prepared.data == "" {
		m.start()
		m.interrupt()
		m.printsNoPassword()
		data := filepath.Join(programDir, "prepared")
		if err := os.RemoveAll(data); err != nil { // what is left of a copy that failed
			m.t.Fatal(err)
		}
		m.copy(m.data, data)
		prepared.data = data
		return
	}
	m.copy(prepared.data, m.data)
}

// printsNoPassword fails if what `up` said has the password that it made.
func (m *machine) printsNoPassword() {
	m.t.Helper()
	word, err := os.ReadFile(filepath.Join(m.data, appPasswordFile))
	if err != nil || strings.Contains(m.said(), strings.TrimSpace(string(word))) {
		m.t.Errorf("the password was printed: %v", err)
	}
}

func (m *machine) copy(from, to string) {
	m.t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		m.t.Fatalf("copy %s: %v: %s", from, err, out)
	}
}

// up starts everything and returns when it is ready. Without arguments it does not begin with nothing: see prepare.
func (m *machine) up(args ...string) {
	m.t.Helper()
	if m.kafka != "" {
		args = append(args, "--external-kafka")
	}
	if len(args) == 0 {
		m.prepare()
	}
	m.start(args...)
}

// start starts everything, on whatever there is, and returns when it is ready.
func (m *machine) start(args ...string) {
	m.t.Helper()
	cmd := exec.Command(m.path, append([]string{"up"}, args...)...)
	cmd.Env = m.env
	m.output = &buffer{}
	cmd.Stdout, cmd.Stderr = m.output, m.output
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.process, m.exited = cmd, make(chan error, 1)
	go func() { m.exited <- cmd.Wait() }()
	m.t.Cleanup(func() {
		if m.process != nil {
			_ = m.process.Process.Kill()
			<-m.exited
			m.process = nil // of an earlier start nothing is left to wait for
		}
	})
	m.within(3*time.Minute, "ready", func() error { // a demo on a machine that tests other things takes more than one
		select {
		case err := <-m.exited:
			m.process = nil
			m.t.Fatalf("`up` ended: %v\n%s", err, m.said())
		default:
		}
		status, body, err := get(m.ops+"/readyz", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("readyz: %d %s", status, body)
		}
		if err == nil && !strings.Contains(m.said(), "Motorpool is up") {
			err = errors.New("no start screen")
		}
		return err
	})
}

// interrupt presses Ctrl-C and waits for the end, which must be a good one.
func (m *machine) interrupt() {
	m.t.Helper()
	if err := m.process.Process.Signal(os.Interrupt); err != nil {
		m.t.Fatal(err)
	}
	select {
	case err := <-m.exited:
		m.process = nil
		if err != nil {
			m.t.Fatalf("`up` ended badly: %v\n%s", err, m.said())
		}
	case <-time.After(40 * time.Second):
		m.t.Fatalf("`up` does not end:\n%s", m.said())
	}
}

// eventually waits until a condition holds, a minute at most.
func (m *machine) eventually(what string, holds func() error) {
	m.t.Helper()
	m.within(time.Minute, what, holds)
}

// within waits until a condition holds, so long at most.
func (m *machine) within(patience time.Duration, what string, holds func() error) {
	m.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("%s: %v\n`up` said:\n%s", what, err, m.said())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func get(url, key string) (int, []byte, error) { return send(http.MethodGet, url, key, "") }

func send(method, url, key, body string) (int, []byte, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// list is the envelope of lists.
type list struct {
	Data []struct {
		ID       string `json:"id"`
		Make     string `json:"make"`
		FixAt    string `json:"fix_at"`
		Location *struct {
			Lat     float64 `json:"lat"`
			Lng     float64 `json:"lng"`
			Address string  `json:"address"`
		} `json:"location"`
		BatteryLevel *int `json:"battery_level"`
	} `json:"data"`
	Pagination struct {
		Total      int    `json:"total"`
		NextCursor string `json:"next_cursor"`
	} `json:"pagination"`
}

func (m *machine) list(key, path string) list {
	m.t.Helper()
	status, body, err := get(m.base+path, key)
	if err != nil || status != http.StatusOK {
		m.t.Fatalf("GET %s: %d %v\n%s\n`up` said:\n%s", path, status, err, body, m.said())
	}
	var l list
	if err := json.Unmarshal(body, &l); err != nil {
		m.t.Fatalf("GET %s: %v\n%s", path, err, body)
	}
	return l
}

// track returns the instants of all stored positions of a vehicle, page by page.
func (m *machine) track(key, vehicle string) []string {
	m.t.Helper()
	var fixes []string
	cursor := ""
	for {
		path := "/v1/vehicles/" + vehicle + "/positions?from=2000-01-02T00:00:00Z&until=2100-01-01T00:00:00Z"
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		page := m.list(key, path)
		for _, p := range page.Data {
			fixes = append(fixes, p.FixAt)
		}
		if cursor = page.Pagination.NextCursor; cursor == "" {
			return fixes
		}
	}
}

type counted struct {
	Read    int64            `json:"read"`
	Stored  int64            `json:"stored"`
	Refused map[string]int64 `json:"refused"`
}

// replay replays a file as people do, and returns what it prints.
func (m *machine) replay(account, file string, args ...string) counted {
	m.t.Helper()
	out := m.must(append([]string{"replay", "--account", account, "--register", "--wait", "--json", file}, args...)...)
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	var c counted
	if err := decoder.Decode(&c); err != nil || c.Refused == nil {
		m.t.Fatalf("replay prints %q: %v", out, err)
	}
	return c
}

// expected is what must become of a recording that is replayed into an empty account, counted without the pipeline.
func expected(t *testing.T, file string) (want counted, fixes map[string]map[fleet.Millis]bool) {
	t.Helper()
	reader, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	want = counted{Refused: map[string]int64{}}
	fixes = make(map[string]map[fleet.Millis]bool)
	for {
		r := fleet.NewReport()
		err := reader.Next(&r)
		if err == io.EOF {
			return want, fixes
		}
		if err != nil {
			t.Fatal(err)
		}
		want.Read++
		seen := fixes[r.UniqueID]
		switch {
		case r.UniqueID == "":
			want.Refused["missing_device"]++
		case r.FixTime == 0:
			want.Refused["missing_time"]++
		case r.Lat != r.Lat || r.Lng != r.Lng:
			want.Refused["missing_coordinates"]++
		case r.Lat == 0 && r.Lng == 0:
			want.Refused["zero_coordinates"]++
		case r.Lat < -90 || r.Lat > 90 || r.Lng < -180 || r.Lng > 180:
			want.Refused["bad_coordinates"]++
		case seen[r.FixTime]:
			want.Refused["duplicate"]++
		default:
			if seen == nil {
				seen = make(map[fleet.Millis]bool)
				fixes[r.UniqueID] = seen
			}
			seen[r.FixTime] = true
			want.Stored++
		}
	}
}

func sameCounts(t *testing.T, what string, got, want counted) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}

var keyForm = regexp.MustCompile(`^mp_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$`)

// TestFromNothingToATrack is the whole of Motorpool as somebody meets it who has just downloaded it.
func TestFromNothingToATrack(t *testing.T) {
	m := newMachine(t)
	if _, _, code := m.command("doctor"); code != exitFailure {
		t.Errorf("doctor finds nothing wrong with nothing: exit code %d", code)
	}
	m.up()

	// A key is printed alone; the account comes to be.
	key := m.must("key", "create", "--account", "Acme", "--scopes", "vehicles:read,telematics:read")
	if !keyForm.MatchString(key) {
		t.Errorf("key create prints %q", key)
	}
	key = strings.TrimSpace(key)
	if l := m.list(key, "/v1/vehicles"); l.Pagination.Total != 0 {
		t.Errorf("%d vehicles in a new account", l.Pagination.Total)
	}
	if status, _, err := get(m.base+"/api/v1/vehicles", key); err != nil || status != http.StatusOK {
		t.Errorf("GET /api/v1/vehicles: %d %v", status, err)
	}
	if status, _, err := get(m.base+"/v1/vehicles", "mp_live_wrong"); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d %v", status, err)
	}

	// A recording with repeats, and one with everything that can be wrong with a row.
	repeats := "../../deploy/demo/recordings/austin-repeats.csv.gz"
	want, fixes := expected(t, repeats)
	if want.Refused["duplicate"] == 0 {
		t.Fatal("the recording has lost its repeats")
	}
	sameCounts(t, "first replay", m.replay("Acme", repeats), want)
	if l := m.list(key, "/v1/vehicles"); l.Pagination.Total != len(fixes) {
		t.Errorf("%d vehicles, want %d", l.Pagination.Total, len(fixes))
	}
	for identifier, instants := range fixes {
		l := m.list(key, "/v1/vehicles?external_ref="+url.QueryEscape(identifier))
		if len(l.Data) != 1 || l.Data[0].Location == nil || l.Data[0].Location.Address == "" {
			t.Fatalf("external_ref %s finds %+v", identifier, l.Data)
		}
		track := m.track(key, l.Data[0].ID)
		if len(track) != len(instants) {
			t.Errorf("%s has %d positions, want %d", identifier, len(track), len(instants))
		}
		for _, at := range track {
			instant, err := time.Parse(time.RFC3339Nano, at)
			if err != nil || !instants[fleet.MillisOf(instant)] {
				t.Errorf("%s has a position at %s, which the recording has not: %v", identifier, at, err)
			}
		}
	}
	sameCounts(t, "the same again", m.replay("Acme", repeats), counted{
		Read: want.Read, Refused: map[string]int64{"duplicate": want.Read},
	})
	sameCounts(t, "the same in another account", m.replay("Other", repeats), want)
	if l := m.list(key, "/v1/vehicles"); l.Pagination.Total != len(fixes) {
		t.Errorf("%d vehicles after the other account's replay, want %d", l.Pagination.Total, len(fixes))
	}
	warts := writeWarts(t)
	want, _ = expected(t, warts)
	sameCounts(t, "warts", m.replay("Acme", warts), want)
	if _, stderr, code := m.command("replay", "--account", "Acme", "system_test.go"); code != exitFailure ||
		!strings.Contains(stderr, "system_test.go") {
		t.Errorf("a file that is no recording: exit code %d, %s", code, stderr)
	}

	m.commandsBeside()

	// Ctrl-C ends it well, and the next start finds everything.
	m.interrupt()
	if !strings.Contains(m.said(), "stopped") {
		t.Errorf("no word about the end:\n%s", m.said())
	}
	before := len(fixes)
	m.up()
	if l := m.list(key, "/v1/vehicles?external_ref="+anyKey(fixes)); len(l.Data) != 1 ||
		len(m.track(key, l.Data[0].ID)) == 0 {
		t.Errorf("after a new start external_ref finds %+v", l.Data)
	}
	if l := m.list(key, "/v1/vehicles"); l.Pagination.Total < before {
		t.Errorf("%d vehicles after a new start", l.Pagination.Total)
	}
	m.interrupt()
}

func anyKey[T any](m map[string]T) string {
	for k := range m {
		return k
	}
	return ""
}

// writeWarts writes a recording of which every row but a few has to be refused with a reason of its own.
func writeWarts(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "warts.csv")
	text := "vehicle,timestamp,lat,lng,speed_kmh,battery_pct\n" +
		"w1,2021-05-01T10:00:00Z,48.1,11.5,10,80\n" +
		"w1,2021-05-01T10:00:00Z,48.1,11.5,10,80\n" + // the same again
		"w1,2021-05-01T10:00:00Z,48.2,11.6,99,\n" + // the same instant elsewhere
		"w1,,48.1,11.5,10,80\n" +
		"w1,yesterday,48.1,11.5,10,80\n" +
		"w1,2021-05-01T10:00:10Z,,11.5,10,80\n" +
		"w1,2021-05-01T10:00:11Z,48.1,east,10,80\n" +
		"w1,2021-05-01T10:00:12Z,0,0,0,80\n" +
		"w1,2021-05-01T10:00:13Z,91,11.5,10,80\n" +
		"w1,2021-05-01T10:00:14Z,48.1,-180.5,10,80\n" +
		"w1,2021-05-01T09:00:00Z,48.1,11.4,10,81\n" + // late, and good
		"w1,2021-05-01T10:00:20Z,48.1001,11.5001,410,79\n" + // an impossible speed, and a good place
		",2021-05-01T10:00:21Z,48.1,11.5,10,80\n" + // nobody
		"w2,2021-05-01T10:00:00Z,-33.9,151.2,,\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// commandsBeside runs the commands for records and checks beside a running `up`.
func (m *machine) commandsBeside() {
	t := m.t
	t.Helper()
	if out := m.must("account", "create", "Third", "--timezone", "Europe/Berlin"); !strings.HasPrefix(out, "acc_") {
		t.Errorf("account create prints %q", out)
	}
	if _, _, code := m.command("account", "create", "Third"); code != exitFailure {
		t.Error("a second account of one name was made")
	}
	if out := m.must("account", "list"); !strings.Contains(out, "Third") || !strings.Contains(out, "Europe/Berlin") {
		t.Errorf("account list prints %s", out)
	}
	for _, limit := range [][]string{{"90000", "90000"}, {"0", "no limit"}, {"", "as of the server"}} {
		if out := m.must(slices.DeleteFunc([]string{"account", "limit", "Third", limit[0]},
			func(s string) bool { return s == "" })...); out != "Third: "+limit[1]+"\n" {
			t.Errorf("account limit %s prints %s", limit[0], out)
		}
		if out := m.must("account", "list"); !strings.Contains(out, limit[1]) {
			t.Errorf("after the limit %s the list is %s", limit[0], out)
		}
	}
	for _, args := range [][]string{{"Nobody", "5"}, {"Third", "-1"}, {"Third", "2000000000"}, {"Third", "many"}} {
		if _, _, code := m.command(append([]string{"account", "limit", "--"}, args...)...); code == 0 {
			t.Errorf("account limit %v was taken", args)
		}
	}
	var keys []struct{ ID, Name string }
	m.must("key", "create", "--account", "Third", "--scopes", "admin", "--name", "short", "--expires", "1h",
		"--from", "127.0.0.1")
	if err := json.Unmarshal([]byte(m.must("key", "list", "--account", "Third", "--json")), &keys); err != nil ||
		len(keys) != 1 {
		t.Fatalf("key list: %v %v", keys, err)
	}
	m.must("key", "revoke", "--account", "Third", keys[0].ID)
	if _, stderr, code := m.command("key", "create", "--account", "Third", "--scopes",
		"everything"); code != exitFailure || !strings.Contains(stderr, "everything") {
		t.Errorf("an unknown scope: exit code %d, %s", code, stderr)
	}
	if _, _, code := m.command("key", "list", "--account", "Nobody"); code != exitFailure {
		t.Error("an unknown account has keys")
	}

	vehicle := m.list(strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin")),
		"/v1/vehicles").Data[0].ID
	unique := "imei-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	device := strings.TrimSpace(m.must("device", "create", unique, "--account", "Acme", "--vehicle", vehicle))
	if _, _, code := m.command("device", "create", unique, "--account", "Other"); code != exitFailure {
		t.Error("one unique id was registered twice")
	}
	m.must("device", "assign", device, vehicle, "--account", "Acme")
	if _, _, code := m.command("device", "assign", device, vehicle, "--account", "Other"); code != exitFailure {
		t.Error("another account's device was assigned")
	}
	if out := m.must("device", "list", "--account", "Acme", "--json"); !strings.Contains(out, unique) ||
		!strings.Contains(out, vehicle) {
		t.Errorf("device list prints %s", out)
	}

	var health struct {
		OK       bool
		Findings []finding
	}
	out := m.must("doctor", "--json")
	if err := json.Unmarshal([]byte(out), &health); err != nil || !health.OK || len(health.Findings) < 10 {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	if err := os.Chmod(m.data, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _, code := m.command("doctor"); code != exitFailure || !strings.Contains(out, "chmod 700") {
		t.Errorf("doctor does not mind an open data folder: %d\n%s", code, out)
	}
	if err := os.Chmod(m.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if out := m.must("migrate"); out != "nothing to do\n" {
		t.Errorf("migrate prints %q", out)
	}
	if out := m.must("migrate", "--fill"); !strings.Contains(out, "made the facts") {
		t.Errorf("migrate --fill prints %q", out)
	}
	m.must("serve", "--check", "--http", "127.0.0.1:0")
	if _, errs, code := m.command("serve", "--check", "--rate-limit=-1"); code == 0 ||
		!strings.Contains(errs, "--rate-limit") {
		t.Errorf("a rate limit below zero: %d, %s", code, errs)
	}
	m.must("ingest", "--check", "--group", "another")
	m.must("up", "--check", "--demo")
	if _, stderr, code := m.command("up"); code != exitFailure || !strings.Contains(stderr, "in use") {
		t.Errorf("a second `up` on one folder: exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(m.data, biPasswordFile)); !os.IsNotExist(err) {
		t.Errorf("there is a user for analysts that nobody asked for: %v", err)
	}
	info, err := os.Stat(filepath.Join(m.data, appPasswordFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	m.printsNoPassword()
}

// TestTheDemoIsOnTheMapAtOnce also starts it twice: its keys are shown once and kept. The first rentals agree with
// their vehicles.
func TestTheDemoIsOnTheMapAtOnce(t *testing.T) {
	m := newMachine(t)
	m.up("--demo")
	keys := map[string]string{}
	for _, file := range []string{demoKeyFile, trackingKeyFile} {
		keys[file] = m.keyIn(file)
		if !strings.Contains(m.said(), keys[file]) {
			t.Errorf("the first start does not show the key of %s:\n%s", file, m.said())
		}
	}
	key := keys[trackingKeyFile]
	all, err := loadDemo()
	if err != nil {
		t.Fatal(err)
	}
	m.eventually("every demo vehicle has a position", func() error {
		if n := m.list(key, "/v1/positions/latest").Pagination.Total; n != len(all.laps) {
			return fmt.Errorf("%d of %d", n, len(all.laps))
		}
		return nil
	})
	twizy := m.list(key, "/v1/vehicles?external_ref=twizy-1")
	if len(twizy.Data) != 1 || twizy.Data[0].Make != "Renault" || twizy.Data[0].BatteryLevel == nil {
		t.Errorf("the electric car of the demo: %+v", twizy.Data)
	}
	c, since := &clerk{m, keys[demoKeyFile]}, map[string]time.Time{}
	m.within(6*time.Minute, "some vehicles are rented", func() error { // once the two years stand
		if n := c.agree(since); n < 2 {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	m.interrupt()
	m.up("--demo")
	if strings.Contains(m.said(), key) || strings.Contains(m.said(), keys[demoKeyFile]) {
		t.Error("the second start shows a key again")
	}
	if n := m.list(keys[demoKeyFile], "/v1/vehicles").Pagination.Total; n != 24 {
		t.Errorf("%d vehicles for rent after the second start", n)
	}
	if n := m.list(key, "/v1/vehicles").Pagination.Total; n != len(all.laps) {
		t.Errorf("%d vehicles after the second start, want %d", n, len(all.laps))
	}
	m.interrupt()
}

// keyIn is the key that the demo keeps in a file.
func (m *machine) keyIn(file string) string {
	m.t.Helper()
	word, err := os.ReadFile(filepath.Join(m.data, file))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.TrimSpace(string(word))
}

// TestReportsOfAnUnknownDeviceComeBack: what a tracker sent before anybody knew it is there once it is registered.
func TestReportsOfAnUnknownDeviceComeBack(t *testing.T) {
	m := newMachine(t)
	m.up()
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	m.replay("Acme", writeWarts(t))
	vehicle := m.list(key, "/v1/vehicles?external_ref=w2").Data[0].ID
	before := len(m.track(key, vehicle))
	const partitions = 4
	if m.kafka == "" {
		m.poison(partitions) // behind which everything goes on
	}

	unique := "imei-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	early := filepath.Join(t.TempDir(), "early.csv")
	text := "vehicle,timestamp,lat,lng\n" + unique + ",2021-05-02T10:00:00Z,-33.9,151.2\n" + unique +
		",2021-05-02T10:01:00Z,-33.91,151.2\n"
	if err := os.WriteFile(early, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := m.must("replay", "--json", early); out != `{"read":2,"stored":0,"refused":{"unknown_device":2}}`+"\n" {
		t.Errorf("replay of an unknown device prints %s", out)
	}
	m.must("device", "create", unique, "--account", "Acme", "--vehicle", vehicle)
	m.eventually("the early positions are there", func() error {
		if n := len(m.track(key, vehicle)); n != before+2 {
			return fmt.Errorf("%d positions, want %d", n, before+2)
		}
		return nil
	})
	if m.kafka == "" {
		out, _, code := m.command("doctor")
		if code != exitFailure || !strings.Contains(out,
			fmt.Sprintf("%d of the last 7 days could not be read, the newest on positions partition", partitions)) {
			t.Errorf("doctor says nothing of poison: %d\n%s", code, out)
		}
	}
	m.interrupt()
}

// TestUpKilledInTheMiddleOfAReplayLosesNothing kills everything at once, engines included, and starts it again under
// the feet of a replay, which goes on.
func TestUpKilledInTheMiddleOfAReplayLosesNothing(t *testing.T) {
	m := newMachine(t)
	if m.kafka != "" {
		t.Log("the broker runs elsewhere and is not killed")
	}
	m.up()
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	repeats := "../../deploy/demo/recordings/austin-repeats.csv.gz"
	want, fixes := expected(t, repeats)
	replay := exec.Command(m.path, "replay", "--account", "Acme", "--register", "--json", "--rate", "150", repeats)
	replay.Env = m.env
	var out, errs bytes.Buffer
	replay.Stdout, replay.Stderr = &out, &errs
	if err := replay.Start(); err != nil {
		t.Fatal(err)
	}
	m.eventually("some fixes have arrived", func() error {
		if n := m.list(key, "/v1/positions/latest").Pagination.Total; n == 0 {
			return errors.New("none")
		}
		return nil
	})
	if err := m.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-m.exited
	m.process = nil
	m.up()
	if err := replay.Wait(); err != nil {
		t.Fatalf("replay: %v\n%s", err, errs.String())
	}
	var got counted
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	// A row whose acknowledgement died with the broker is sent again, and then refused as a repeat.
	twice := got.Read - want.Read
	want.Read, want.Refused["duplicate"] = want.Read+twice, want.Refused["duplicate"]+twice
	sameCounts(t, "replay", got, want)
	if twice < 0 || twice > 100 {
		t.Errorf("%d rows were read twice", twice)
	}
	for identifier, instants := range fixes {
		vehicle := m.list(key, "/v1/vehicles?external_ref="+url.QueryEscape(identifier)).Data[0].ID
		if track := m.track(key, vehicle); len(track) != len(instants) {
			t.Errorf("%s has %d positions, want %d", identifier, len(track), len(instants))
		}
	}
	m.interrupt()
}

// TestClickHouseKilledIsStartedAgain: the engine dies under a running `up`, and what is sent meanwhile arrives.
func TestClickHouseKilledIsStartedAgain(t *testing.T) {
	m := newMachine(t)
	m.up()
	repeats := "../../deploy/demo/recordings/austin-repeats.csv.gz"
	want, _ := expected(t, repeats)
	engine := m.child()
	if err := syscall.Kill(engine, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.eventually("ClickHouse is back", func() error {
		if again := m.child(); again == 0 || again == engine {
			return errors.New("no new process")
		}
		status, body, err := get(m.ops+"/readyz", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("readyz: %d %s", status, body)
		}
		return err
	})
	sameCounts(t, "replay afterwards", m.replay("Acme", repeats), want)
	m.interrupt()
}

// TestServeReadsWhileKafkaIsAway: reading needs no broker, and a load balancer must not take the process out for that.
func TestServeReadsWhileKafkaIsAway(t *testing.T) {
	m := newMachine(t)
	m.up()
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	http, ops := freeAddr(t), freeAddr(t)
	serve := exec.Command(m.path, "serve", "--http", http, "--ops", ops, "--kafka", freeAddr(t))
	serve.Env = m.env
	said := &buffer{}
	serve.Stdout, serve.Stderr = said, said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	}()
	m.eventually("serve is ready", func() error {
		status, body, err := get("http://"+ops+"/readyz", "")
		if err == nil && (status != 200 || !strings.Contains(string(body), `"degraded":["kafka"]`)) {
			err = fmt.Errorf("readyz: %d %s\n%s", status, body, said)
		}
		return err
	})
	if status, body, err := get("http://"+http+"/v1/vehicles", key); err != nil || status != 200 {
		t.Errorf("a list: %d %v %s", status, err, body)
	}
	m.interrupt()
}

// child returns the process that `up` has started: its ClickHouse.
func (m *machine) child() int {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.process.Process.Pid))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				return pid
			}
		}
	}
	return 0
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
