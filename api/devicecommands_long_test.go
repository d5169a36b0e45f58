//go:build long

package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/query"
)

// traccarServer answers as Traccar's API is documented: /api/devices by uniqueId, and /api/commands/send with 200 for a
// command that went out, 202 for one that it keeps, and 400 with the exception's words.
type traccarServer struct {
	mu      sync.Mutex
	knows   map[string]int64
	answers []int // to commands, the last for ever; 0 hangs up
	words   string
	status  string // of trackers
	sent    []map[string]any
}

func (s *traccarServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer SECRETTOKEN" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /api/devices":
		found := []map[string]any{}
		if id, ok := s.knows[r.URL.Query().Get("uniqueId")]; ok {
			found = append(found,
				map[string]any{"id": id, "uniqueId": r.URL.Query().Get("uniqueId"), "status": cmp.Or(s.status, "online")})
		}
		json.NewEncoder(w).Encode(found)
	case "POST /api/commands/send":
		var command map[string]any
		json.NewDecoder(r.Body).Decode(&command)
		s.sent = append(s.sent, command)
		status := s.answers[0]
		if len(s.answers) > 1 {
			s.answers = s.answers[1:]
		}
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, s.words)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *traccarServer) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sent)
}

// commander is a world with a Traccar server, and a tracker on a vehicle that stands.
type commander struct {
	*world
	server          *traccarServer
	vehicle, device string
}

func newCommander(t *testing.T, answers ...int) *commander {
	t.Helper()
	s := &traccarServer{knows: map[string]int64{"imei-1": 77}, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client, err := traccar.New(traccar.Config{URL: server.URL, Token: "SECRETTOKEN", Private: true})
	if err != nil {
		t.Fatal(err)
	}
	c := &commander{world: newWorld(t, func(_ *rest.Config, d *Deps) { d.Traccar = client }), server: s}
	c.vehicle = c.world.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	c.device = c.world.device("imei-1")
	c.do("POST", "/v1/devices/"+c.device+"/assign", `{"vehicle_id":"`+c.vehicle+`"}`).ok(200)
	if err := c.api.Store.Own(t.Context(), c.account, true, "imei-1"); err != nil {
		t.Fatal(err)
	}
	c.moves(0)
	return c
}

// moves stores that the vehicle moved a moment ago, in m/s.
func (c *commander) moves(speed float64) {
	c.exec(`INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, speed_cms, ignition, motion, cell)
		SELECT {account:UInt64}, {vehicle:UInt64}, {at:UInt64}, 7, fromUnixTimestamp64Milli({at:Int64}, 'UTC') AS fix_time, fix_time, fix_time, 1, 1,
			toUInt16({speed:Float64} * 100), 'on', 'unknown', 1`,
		clickhouse.Named("account", uint64(c.account)), clickhouse.Named("vehicle", vehicleID(c.t, c.vehicle)),
		clickhouse.Named("at", c.api.Now().UnixMilli()), clickhouse.Named("speed", speed))
}

func (c *commander) path() string { return "/v1/devices/" + c.device + "/commands" }

// command asks for one and returns its path.
func (c *commander) command(body string) string {
	c.t.Helper()
	return c.path() + "/" + c.do("POST", c.path(), body).ok(201).id()
}

// tend has what is due done, some time later.
func (c *commander) tend(later time.Duration) {
	c.t.Helper()
	c.clock.Add(int64(later))
	if err := c.api.desk.Duty(c.t.Context(), "commands to trackers"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *commander) stands(path, status, result string) {
	c.t.Helper()
	got := c.do("GET", path, "").ok(200).object()
	if got["status"] != status || !strings.Contains(fmt.Sprint(got["result"]), result) {
		c.t.Errorf("%s is %v (%v), want %s (%s)", path, got["status"], got["result"], status, result)
	}
}

// steps are the states that a command reached.
func (c *commander) steps(path string) string {
	var all []string
	for _, step := range c.do("GET", path, "").ok(200).object()["log"].([]any) {
		all = append(all, step.(map[string]any)["status"].(string))
	}
	return strings.Join(all, " ")
}

func TestACommandGoesThroughTraccarOnce(t *testing.T) {
	c := newCommander(t, 200)
	path := c.command(`{"type":"position_periodic","interval_s":30}`)
	c.stands(path, "queued", "")
	c.tend(0)
	c.tend(time.Second)
	c.stands(path, "sent", "")
	wantEqual(t, "sent", fmt.Sprint(c.server.sent),
		"[map[attributes:map[frequency:30 noQueue:true] deviceId:77 type:positionPeriodic]]")
	c.do("POST", path+"/cancel", "").problem(409, "invalid_state_transition")
	c.do("POST", path+"/report", `{"status":"acknowledged","result":"OK"}`).ok(200)
	c.do("POST", path+"/report", `{"status":"acknowledged","result":"OK"}`).ok(200)
	c.stands(path, "acknowledged", "OK")
	wantEqual(t, "log", c.steps(path), "queued sending sent acknowledged")
	if by := c.do("GET", path, "").object()["requested_by"]; !strings.HasPrefix(fmt.Sprint(by), "key_") {
		t.Errorf("requested by %v", by)
	}
	if log := c.log.String(); strings.Contains(log, "SECRETTOKEN") {
		t.Error("the log tells the token")
	}
}

func TestACommandIsStoredOnceHoweverOftenItIsAskedFor(t *testing.T) {
	c := newCommander(t, 200)
	first := c.do("POST", c.path(), `{"type":"position_single"}`, "Idempotency-Key", "one").ok(201).id()
	wantEqual(t, "again",
		c.do("POST", c.path(), `{"type":"position_single"}`, "Idempotency-Key", "one").ok(201).id(), first)
	wantEqual(t, "stored", len(c.do("GET", c.path(), "").data()), 1)
}

func TestWhatTraccarAnswersDecidesWhatBecomesOfACommand(t *testing.T) {
	c := newCommander(t, 200)
	for _, answer := range []struct {
		status int
		words  string
		stands string
		result string
		calls  int // after a second turn
	}{
		{200, "", "sent", "", 1},
		{202, "", "sent", "keeps it", 1},
		{400, "Failed to send command", "queued", "not connected", 2},
		{400, "Command engineStop is not supported", "failed", "not supported", 1},
		{301, "", "failed", "301", 1},
		{500, "", "unknown", "500", 1},
		{0, "", "unknown", "did not answer", 1},
	} {
		c.server.answers, c.server.words, c.server.sent = []int{answer.status}, answer.words, nil
		path := c.command(`{"type":"reboot_device"}`)
		c.tend(0)
		c.tend(30 * time.Second)
		c.stands(path, answer.stands, answer.result)
		if n := c.server.calls(); n != answer.calls {
			t.Errorf("%d %q: %d calls, want %d", answer.status, answer.words, n, answer.calls)
		}
		if answer.stands == "queued" {
			c.do("POST", path+"/cancel", "").ok(200)
		}
	}
	delete(c.server.knows, "imei-1")
	path := c.command(`{"type":"reboot_device"}`)
	c.tend(0)
	c.stands(path, "failed", "knows no tracker")
}

func TestACommandExpiresOrIsTakenBackBeforeItGoesOut(t *testing.T) {
	c := newCommander(t, 400)
	c.server.words = "Failed to send command"
	late, never := c.command(`{"type":"position_single"}`), c.command(`{"type":"position_single"}`)
	c.do("POST", never+"/cancel", "").ok(200)
	c.do("POST", never+"/cancel", "").ok(200)
	c.tend(0)
	wantEqual(t, "calls", c.server.calls(), 1)
	c.tend(time.Hour)
	c.stands(late, "expired", "not connected")
	c.stands(never, "cancelled", "")
	c.do("POST", late+"/report", `{"status":"acknowledged"}`).problem(409, "invalid_state_transition")
}

func TestAnEngineIsStoppedOnlyWhileTheVehicleStands(t *testing.T) {
	c := newCommander(t, 200)
	c.do("POST", c.path(), `{"type":"engine_stop"}`).problem(422, "validation_failed") // not confirmed
	c.moves(20)
	c.do("POST", c.path(), `{"type":"engine_stop","confirm":true}`).problem(409, "conflict")
	forced := c.command(`{"type":"engine_stop","confirm":true,"force":true}`)
	c.tend(0)
	c.stands(forced, "sent", "")
	c.clock.Add(int64(time.Second))
	c.moves(1)
	waits := c.command(`{"type":"engine_stop","confirm":true}`)
	c.clock.Add(int64(time.Second))
	c.moves(20)
	c.tend(0)
	c.stands(waits, "queued", "moves")
	c.clock.Add(int64(10 * time.Second))
	c.moves(0)
	c.tend(0)
	c.stands(waits, "sent", "")
	c.clock.Add(int64(time.Hour))
	// of an hour ago, and the ignition was on
	c.do("POST", c.path(), `{"type":"engine_stop","confirm":true}`).problem(409, "conflict")
}

func TestAGatewayTakesACommandOnce(t *testing.T) {
	c := newCommander(t, 200)
	path := c.command(`{"type":"custom","data":"AT+X","confirm":true,"transport":"pull"}`)
	c.tend(0)
	wantEqual(t, "asked of Traccar", c.server.calls(), 0)
	wantEqual(t, "waits", len(c.do("GET", c.path()+"?transport=pull&status=queued", "").data()), 1)
	c.do("POST", path+"/report", `{"status":"sent"}`).ok(200)
	c.do("POST", path+"/report", `{"status":"sent"}`).problem(409, "invalid_state_transition")
	c.do("POST", path+"/report", `{"status":"delivered"}`).ok(200)
	c.do("POST", path+"/report", `{"status":"failed","result":"no such command"}`).ok(200)
	c.stands(path, "failed", "no such command")
	wantEqual(t, "waits", len(c.do("GET", c.path()+"?transport=pull&status=queued", "").data()), 0)
}

func TestCommandsNeedTheirScopeAndTheOperatorsWord(t *testing.T) {
	c := newCommander(t, 200)
	write := "Bearer " + c.newKey(c.account, auth.TelematicsWrite)
	c.do("POST", c.path(), `{"type":"position_single"}`, "Authorization", write).problem(403, "insufficient_scope")
	// Another account has registered a tracker of which no operator said that it is its own.
	other := c.newAccount("Second")
	c.key = c.newKey(other, auth.Admin)
	c.do("POST", c.path(), `{"type":"position_single"}`).problem(404, "not_found")
	c.device = c.world.device("imei-2")
	c.server.knows["imei-2"] = 78
	c.do("POST", c.path(), `{"type":"position_single","transport":"traccar"}`).problem(422, "validation_failed")
	path := c.command(`{"type":"position_single"}`)
	c.tend(0)
	c.stands(path, "queued", "") // for a gateway of its own
	wantEqual(t, "calls", c.server.calls(), 0)
}

// TestWhatATrackerAnswersAcknowledgesItsCommand forwards a position with a result, as Traccar does when a
// tracker has answered.
func TestWhatATrackerAnswersAcknowledgesItsCommand(t *testing.T) {
	c := newCommander(t, 200)
	intake, _ := newIntake(t)
	c.api.ingest.Publisher, c.api.ingest.Reader = intake.api.ingest.Publisher, intake.api.ingest.Reader
	path, waits := c.command(`{"type":"position_single"}`), ""
	c.tend(0)
	waits = c.command(`{"type":"position_single"}`)
	c.do("POST", "/v1/positions/traccar",
		`{"position":{"fixTime":"2026-01-31T09:15:01.500+00:00","latitude":1,"longitude":2,
		"attributes":{"result":"LOC OK"}},"device":{"uniqueId":"imei-1"}}`).ok(202)
	c.stands(path, "acknowledged", "LOC OK")
	c.stands(waits, "queued", "") // nobody has sent it
}

// After an engine stop was asked for while the vehicle stood, the tracker was put on another, which moves; or
// archived, or renamed.
func TestACommandIsForTheVehicleThatWasJudged(t *testing.T) {
	for name, change := range map[string]func(c *commander){
		"another vehicle": func(c *commander) {
			c.vehicle = c.world.vehicle(`{"make":"Ford","model":"Transit"}`)
			c.do("POST", "/v1/devices/"+c.device+"/assign", `{"vehicle_id":"`+c.vehicle+`"}`).ok(200)
			c.moves(30)
		},
		"no vehicle": func(c *commander) { c.do("POST", "/v1/devices/"+c.device+"/unassign", `{}`).ok(200) },
		"archived":   func(c *commander) { c.do("DELETE", "/v1/devices/"+c.device, "") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCommander(t, 200)
			sent := c.command(`{"type":"engine_stop","confirm":true}`)
			pulled := c.command(`{"type":"engine_stop","confirm":true,"transport":"pull"}`)
			c.clock.Add(int64(time.Second))
			change(c)
			c.clock.Add(int64(time.Second))
			c.do("POST", pulled+"/report", `{"status":"sent"}`).problem(409, "conflict")
			c.tend(0)
			wantEqual(t, "calls", c.server.calls(), 0)
			c.stands(sent, "failed", "the device is")
			c.stands(pulled, "failed", "the device is")
		})
	}
}

func TestAnOldPlaceWithTheIgnitionOffStopsNoEngine(t *testing.T) {
	c := newCommander(t, 200)
	c.exec(`INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, speed_cms, ignition, motion, cell)
		SELECT {account:UInt64}, {vehicle:UInt64}, {at:UInt64}, 7, fromUnixTimestamp64Milli({at:Int64}, 'UTC') AS fix_time, fix_time, fix_time, 1, 1, 0, 'off', 'unknown', 1`,
		clickhouse.Named("account", uint64(c.account)), clickhouse.Named("vehicle", vehicleID(c.t, c.vehicle)),
		clickhouse.Named("at", c.api.Now().UnixMilli()+1))
	c.clock.Add(int64(10 * time.Minute))
	for _, body := range []string{`{"type":"engine_stop","confirm":true}`,
		`{"type":"custom","data":"relay,1#","confirm":true}`,
		`{"type":"output_control","output":1,"data":"1","confirm":true}`} {
		c.do("POST", c.path(), body).problem(409, "conflict")
	}
	c.command(`{"type":"engine_resume"}`)
}

// A tracker that was away is back: what its vehicle did a minute before does not count.
func TestAnEngineIsStoppedByAPlaceSinceTheTrackerIsBack(t *testing.T) {
	c := newCommander(t, 200)
	c.server.status = "offline"
	path := c.command(`{"type":"engine_stop","confirm":true}`)
	c.tend(time.Second)
	c.stands(path, "queued", "not connected")
	c.server.status = "online"
	c.tend(time.Minute)
	c.stands(path, "queued", "has told no position since")
	c.moves(0)
	c.tend(time.Minute)
	c.stands(path, "sent", "")
	wantEqual(t, "log", c.steps(path), "queued queued queued sending sent")
}

func TestATrackerThatIsAwayMakesFewRevisions(t *testing.T) {
	// of the second only the attempt itself shows that it is away
	for status, most := range map[string]float64{"offline": 2, "online": 20} {
		c := newCommander(t, 400)
		c.server.words, c.server.status = "Failed to send command", status
		path := c.command(`{"type":"reboot_device"}`)
		for range 30 {
			c.tend(time.Minute)
		}
		got := c.do("GET", path, "").ok(200).object()
		if log := got["log"].([]any); got["revision"].(float64) > most || len(log) > 3 {
			t.Errorf("%s: after 30 minutes revision %v, log %s", status, got["revision"], c.steps(path))
		}
		c.server.answers, c.server.status = []int{200}, "online"
		c.tend(25 * time.Minute)
		c.stands(path, "sent", "")
	}
}

func TestWhatIsSentToATrackerIsShownToWhomMayCommand(t *testing.T) {
	c := newCommander(t, 200)
	path := c.command(`{"type":"custom","data":"pass1234 setparam","confirm":true,"transport":"pull"}`)
	admin := c.key
	c.key = c.newKey(c.account, auth.TelematicsRead)
	for _, at := range []string{path, c.path()} {
		if text := string(c.do("GET", at, "").ok(200).body); strings.Contains(text, "pass1234") {
			t.Errorf("%s tells a reader the password: %s", at, text)
		}
	}
	c.key = c.newKey(c.account, auth.TelematicsRead, auth.DevicesCommand)
	wantEqual(t, "to a gateway", c.do("GET", path, "").ok(200).object()["data"], "pass1234 setparam")
	c.key = admin
}

func TestOnlySoManyCommandsWaitForADevice(t *testing.T) {
	c := newCommander(t, 200)
	for range 20 {
		c.command(`{"type":"position_single","transport":"pull"}`)
	}
	c.do("POST", c.path(), `{"type":"position_single"}`).problem(409, "conflict")
	first := c.do("GET", c.path(), "").data()[0]["id"].(string)
	c.do("POST", c.path()+"/"+first+"/cancel", "").ok(200)
	c.command(`{"type":"position_single"}`)
}

// Accounts take turns: one that has many commands waiting leaves the half of a page to another.
func TestAccountsTakeTurnsWithTheirCommands(t *testing.T) {
	c := newCommander(t, 200)
	for account := range 2 {
		if account == 1 {
			c.key = c.newKey(c.newAccount("Second"), auth.Admin)
			c.device = c.world.device("imei-2")
		}
		for range 6 {
			c.command(`{"type":"position_single","transport":"pull"}`)
		}
	}
	now := c.api.Now().Add(2 * time.Hour)
	for limit, want := range map[int]string{4: "2 2", 12: "5 5"} {
		due, err := query.DueCommands(t.Context(), c.api.DB,
			query.DueRequest{Now: now, Stuck: now, Waiting: []uint64{}, Limit: limit, Share: 5})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[fleet.AccountID]int{}
		for _, d := range due {
			counts[d.Account]++
		}
		wantEqual(t, "shares", fmt.Sprint(counts[c.account], len(due)-counts[c.account]), want)
	}
}

func TestWhatAnOldTraccarKeepsIsNotToldAsSent(t *testing.T) {
	c := newCommander(t, 202)
	for _, body := range []string{`{"type":"engine_stop","confirm":true}`,
		`{"type":"custom","data":"relay,1#","confirm":true}`,
		`{"type":"output_control","output":1,"data":"1","confirm":true}`} {
		path := c.command(body)
		c.tend(0)
		c.stands(path, "unknown", "may deliver it days later")
	}
}

func TestNobodyReportsWhatTraccarHasNotSent(t *testing.T) {
	c := newCommander(t, 200)
	path := c.command(`{"type":"position_single"}`)
	for _, status := range []string{"sent", "delivered", "acknowledged", "failed"} {
		c.do("POST", path+"/report", `{"status":"`+status+`"}`).problem(409, "conflict")
	}
	c.stands(path, "queued", "")
	c.tend(0)
	c.do("POST", path+"/report", `{"status":"failed","result":"no"}`).ok(200)
}

func TestTheLogTellsOnceWhyACommandWasNotGivenOut(t *testing.T) {
	c := newCommander(t, 200)
	path := c.command(`{"type":"engine_stop","confirm":true,"transport":"pull"}`)
	c.clock.Add(int64(time.Second))
	c.moves(20)
	for range 3 {
		c.do("POST", path+"/report", `{"status":"sent"}`).problem(409, "conflict")
	}
	c.stands(path, "queued", "the vehicle moves")
	wantEqual(t, "log", c.steps(path), "queued queued")
	c.clock.Add(int64(time.Second))
	c.moves(0)
	c.do("POST", path+"/report", `{"status":"sent"}`).ok(200)
}
