package follow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/sink"
	"github.com/motorpool/fleet/schemas"
)

// pairTown is a policy with rules about pairs: a van and a truck that carry a tag, and a third vehicle without.
func pairTown() *fleet.Policy {
	rule := func(id fleet.RuleID, metres float64, hold fleet.Millis, apart bool) fleet.Rule {
		return fleet.Rule{ID: id, Revision: 1, From: morning - 1000, Kind: fleet.AlertProximity, Severity: "warning",
			Threshold: metres, MinDuration: hold,
			Apart: apart, Scope: fleet.Scope{Tags: []string{"cash"}}}
	}
	cash := func() *fleet.Traits { return &fleet.Traits{Zone: time.UTC, Tags: []string{"cash"}} }
	return &fleet.Policy{
		Account: account, Version: 1, Rules: []fleet.Rule{rule(51, 500, 0, false), rule(52, 2000, 300_000, true)},
		Vehicles: map[fleet.VehicleID]*fleet.Traits{1: cash(), 2: cash(), 3: {Zone: time.UTC}},
		Default:  fleet.Traits{Zone: time.UTC},
	}
}

// pairWorld is a world in which the rules of pairTown hold.
func pairWorld(t *testing.T) *world {
	w := newWorld(t)
	w.lay(pairTown())
	if err := w.db.Exec(t.Context(),
		"INSERT INTO alert_rules (account, id, revision, kind) VALUES (7, 51, 1, 'proximity')"); err != nil {
		t.Fatal(err)
	}
	return w
}

// fixOf is where a vehicle was, in kilometres north of the town, some seconds after the morning.
func fixOf(vehicle fleet.VehicleID, second int, km float64) input {
	at := morning + fleet.Millis(second)*1000
	p := &fleet.Position{Account: account, Vehicle: vehicle, Device: fleet.DeviceID(vehicle), FixTime: at, DeviceTime: at,
		ReceivedTime: at,
		Lat:          fleet.Quantise(30 + km/111.195), Lng: -97, Speed: 12, Course: 0,
		Cell: 617700169958293503, Satellites: 9}
	return input{Input: derive.Input{At: at, Position: p}, vehicle: vehicle}
}

// dayOfPairs: the van drives away from the truck, and comes back; the truck reports seldom, and the third is always
// beside the van.
func dayOfPairs() (all []input) {
	for second := 0; second <= 7200; second += 20 {
		km := float64(min(max(second-600, 0), max(4200-second, 0))) * 0.01
		all = append(all, fixOf(1, second, km), fixOf(3, second, km))
		if second%240 == 0 {
			all = append(all, fixOf(2, second, 0.1))
		}
	}
	return all
}

// arrive has inputs come, in one batch.
func (w *world) arrive(all []input) {
	w.t.Helper()
	rows := sink.NewBatch(w.db.Conn, "positions", 0)
	w.offset++
	b := &consume.Batch{Topic: "changes", First: w.offset, Last: w.offset}
	for _, in := range all {
		rows.Position(in.Position, w.offset)
		w.now = max(w.now, in.At)
		b.Records = append(b.Records, w.record(fleet.Change{Account: account, Vehicle: in.vehicle, From: in.At, To: in.At}))
	}
	if err := rows.Flush(w.t.Context(), fmt.Sprintf("test/0/%d", w.offset)); err != nil {
		w.t.Fatal(err)
	}
	w.handle(b)
}

func (w *world) look() {
	w.t.Helper()
	if err := w.f.lookAtPairs(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// pairAlertsNow are the alerts about pairs as the table of alerts has them.
func (w *world) pairAlertsNow() (lines []string) {
	w.t.Helper()
	text := `SELECT account, vehicle, id, toUnixTimestamp64Milli(end_at), open, body FROM alerts FINAL
		WHERE alert_kind = 'proximity' AND NOT deleted ORDER BY start_at, rule`
	err := schemas.EachRow(w.t.Context(), w.db.Conn, "read alerts of pairs", text, nil, func(row schemas.Row) error {
		var of, vehicle, id uint64
		var end int64
		var open bool
		var body string
		if err := row.Scan(&of, &vehicle, &id, &end, &open, &body); err != nil {
			return err
		}
		lines = append(lines, fmt.Sprint(of, " ", vehicle, " ", id, " ", end, " ", open, " ", body))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return lines
}

// brief tells alerts in a few words.
func (w *world) brief() string {
	var words []string
	for _, line := range w.pairAlertsNow() {
		var a fleet.Alert
		if err := json.Unmarshal([]byte(line[strings.Index(line, "{"):]), &a); err != nil {
			w.t.Fatal(err)
		}
		state := a.ResolvedReason
		if a.Open {
			state = "open"
		}
		words = append(words, fmt.Sprintf("%d %s %d-%d %.1f %s", a.Rule, a.Subject, (a.Start-morning)/1000,
			(a.End-morning)/1000, *a.Peak/1000, state))
	}
	return strings.Join(words, ", ")
}

// The van is beside the truck, drives off, and comes back. Of the third vehicle, which has no tag, nothing is told.
func TestTwoVehiclesThatPartAndMeetRaiseAlerts(t *testing.T) {
	w := pairWorld(t)
	w.look()
	other := fleet.VehicleID(2).String()
	all := dayOfPairs()
	byTime := slices.Clone(all)
	slices.SortStableFunc(byTime, func(a, b input) int { return int(a.At - b.At) })
	said := ""
	for part := range slices.Chunk(byTime, 40) {
		w.arrive(part)
		w.look()
		if now := w.brief(); strings.Contains(now, " open") && said == "" {
			said = now
		}
	}
	if want := "51 " + other + " 0-240 0.1 open"; said != want {
		t.Errorf("at first %q, want %q", said, want)
	}
	want := fmt.Sprintf("51 %s 0-660 0.0 cleared, 52 %s 810-3990 17.9 cleared, 51 %s 4140-7200 0.0 open",
		other, other, other)
	if got := w.brief(); got != want {
		t.Errorf("alerts\n got %s\nwant %s", got, want)
	}
	told := map[string]int{}
	for _, e := range w.events {
		if strings.HasPrefix(e.Type, "alert.") {
			told[e.Type]++
		}
	}
	if told[fleet.EventAlertRaised] != 3 || told[fleet.EventAlertResolved] != 2 || told[fleet.EventAlertWithdrawn] != 0 {
		t.Errorf("events %v", told)
	}

	// The owner of the van derives everything anew, and leaves what it cannot explain alone.
	w.restart()
	w.arrive([]input{fixOf(1, 7220, 0), fixOf(1, 5, 0)})
	w.finish(w.now)
	if got := w.brief(); got != want {
		t.Errorf("after the owner looked\n got %s\nwant %s", got, want)
	}

	// The truck loses its tag: what goes on ends with that.
	w.restart()
	p := pairTown()
	p.Version, p.Vehicles[2] = 2, &fleet.Traits{Zone: time.UTC}
	w.lay(p)
	w.look()
	if got := w.brief(); got != strings.TrimSuffix(want, "open")+"rule_changed" {
		t.Errorf("without the tag %s", got)
	}
}
