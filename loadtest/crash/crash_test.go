// Package crash kills a running Motorpool at random moments and holds what is left against what was sent: every fix
// once, nothing lost, rollups and counts included; and what was derived against what a quiet run derives. The processes
// are the built binary, a real ClickHouse and a broker on disk (or the Apache Kafka of MOTORPOOL_TEST_KAFKA, which is
// not killed). MOTORPOOL_SOAK lengthens each test to that time.
package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/loadtest/system/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

const vehicles = 40

// TestPipelineKilledAtRandomMomentsStoresEveryFixOnce kills the pipeline while a recording is replayed, some of the
// times in the moment when rows have been inserted and their offset is not committed yet, and the broker and ClickHouse
// once each in between.
func TestPipelineKilledAtRandomMomentsStoresEveryFixOnce(t *testing.T) {
	kills, fixes := kills, fixes // at the least; the soak goes on
	if systemtest.SharedKafka() != "" {
		kills, fixes = 12, 30_000 // once more with another broker, which the tests share and so take in turn
	}
	run := begin(t, fixes, 220)
	for kill := 0; kill < kills || run.soaking(); kill++ {
		ingest, err := run.Start("ingest", "--kafka-session-timeout", "6s")
		run.check(err)
		// The broker gives the partitions of the one that was killed away when its session has timed out. Then rows
		// arrive: an insert has just been done; other inserts, the states and the offset come after it.
		run.untilRowsArrive()
		if kill%2 == 0 {
			time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
		}
		run.check(ingest.Kill())
		switch kill % kills {
		case kills / 3:
			if run.OwnsBroker() {
				run.check(run.KillBroker())
				run.check(run.StartBroker())
			}
		case 2 * kills / 3:
			run.check(run.KillClickHouse(run.ctx))
			run.check(run.StartClickHouse(run.ctx))
		}
	}
	run.finish()
}

// TestRebalanceBetweenTwoPipelinesStoresEveryFixOnce has a second pipeline join and leave, by SIGTERM and by SIGKILL,
// while the first works.
func TestRebalanceBetweenTwoPipelinesStoresEveryFixOnce(t *testing.T) {
	run := begin(t, joins*3750, 300)
	first, err := run.Start("ingest", "--kafka-session-timeout", "6s")
	run.check(err)
	for round := 0; round < joins || run.soaking(); round++ {
		second, err := run.Start("ingest", "--kafka-session-timeout", "6s")
		run.check(err)
		time.Sleep(time.Duration(4000+rand.IntN(1500)) * time.Millisecond) // one that is still beginning would say so
		if round%2 == 0 {
			_, _, err = second.Stop()
			run.check(err)
		} else {
			run.check(second.Kill())
		}
		time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
	}
	_, _, err = first.Stop()
	run.check(err)
	run.finish()
}

// run is a system under a replay.
type run struct {
	*system.System
	t       *testing.T
	ctx     context.Context
	until   time.Time // end of a soak
	replay  *exec.Cmd
	result  chan error
	counted *lockedBuffer // what replay printed
	file    string        // the recording
	fixes   int
}

// begin starts the stores and a paced replay of a simulated fleet.
func begin(t *testing.T, fixes, perSecond int) *run {
	t.Helper()
	if systemtest.SharedKafka() == "" {
		t.Parallel() // with a broker each; the tests mostly wait
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+soak()*3/2)
	t.Cleanup(cancel)
	sys := systemtest.Start(t)
	r := &run{System: sys, t: t, ctx: ctx, until: time.Now().Add(soak()), fixes: fixes, counted: &lockedBuffer{},
		result: make(chan error, 1)}
	if perMinute := int(soak().Seconds()) * perSecond; perMinute > fixes {
		r.fixes = perMinute
	}
	r.file = filepath.Join(t.TempDir(), "fleet.csv")
	start := writeRecording(t, r.file, r.fixes)
	serve, err := sys.Start("serve")
	r.check(err)
	city := sim.DefaultConfig()
	for _, account := range []string{"Crash", "Quiet"} {
		systemtest.LayDown(t, sys, account, start.Add(-24*time.Hour), city.Lat, city.Lng)
	}
	_, _, err = serve.Stop()
	r.check(err)
	r.replay = sys.Command("replay", "--account", "Crash", "--register", "--rate", fmt.Sprint(perSecond), "--wait",
		"--json", r.file)
	r.replay.Stdout = r.counted
	if err := r.replay.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.result <- r.replay.Wait() }()
	t.Cleanup(func() { _ = r.replay.Process.Kill() }) // it has ended, unless the test failed
	return r
}

func soak() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("MOTORPOOL_SOAK")) // unset: none
	return d
}

func (r *run) soaking() bool { return time.Now().Before(r.until) }

func (r *run) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// untilRowsArrive returns as soon as more positions are stored than before; it gives up after a while, when the replay
// may have ended.
func (r *run) untilRowsArrive() {
	before := number[uint64](r, r.ctx, "SELECT count() FROM positions")
	for deadline := time.Now().Add(25 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if number[uint64](r, r.ctx, "SELECT count() FROM positions") != before {
			return
		}
	}
	r.t.Log("no rows arrived for a while")
}

// finish lets one pipeline work through what is left and then compares.
func (r *run) finish() {
	r.t.Helper()
	ingest, err := r.Start("ingest", "--kafka-session-timeout", "6s")
	r.check(err)
	select {
	case err := <-r.result:
		r.check(err)
	case <-r.ctx.Done():
		r.t.Fatalf("the replay did not end; %d of %d fixes are stored",
			number[uint64](r, context.Background(), "SELECT count() FROM positions FINAL"), r.fixes)
	}
	systemtest.AwaitDerived(r.t, r.ctx, r.System)
	_, _, err = ingest.Stop() // writes what is open as it is
	r.check(err)
	r.compareStored()
	r.compareDerived()
}

// compareStored holds what is stored against what was sent.
func (r *run) compareStored() {
	r.t.Helper()
	var outcome struct {
		Read, Stored int
		Refused      map[string]int
	}
	r.check(json.Unmarshal([]byte(r.counted.String()), &outcome))
	// When the broker dies, a record may be on the topic whose acknowledgement was lost, and is sent again.
	again := outcome.Refused["duplicate"]
	delete(outcome.Refused, "duplicate")
	if outcome.Read != r.fixes+again || outcome.Stored != r.fixes || len(outcome.Refused) != 0 {
		r.t.Errorf("of %d fixes, %d of them twice: %+v", r.fixes, again, outcome)
	}
	for _, c := range []struct{ what, query string }{
		{"rows of positions", "SELECT count() FROM positions"},
		{"positions", "SELECT count() FROM positions FINAL"},
		{"positions by vehicle and time", "SELECT uniqExact(vehicle, fix_time) FROM positions"},
		{"places of positions in Kafka", "SELECT uniqExact(source_partition, source_offset) FROM positions"},
	} {
		if n := number[uint64](r, r.ctx, c.query); n != uint64(r.fixes) {
			r.t.Errorf("%d %s of %d fixes", n, c.what, r.fixes)
		}
	}
	for table, bucket := range map[string]string{"telemetry_1m": "toStartOfMinute(time)",
		"telemetry_1h": "toStartOfHour(time)", "telemetry_1d": "toStartOfDay(time)"} {
		wrong := number[uint64](r, r.ctx, fmt.Sprintf(`SELECT count() FROM
			(SELECT vehicle, signal, toDateTime(%s) AS bucket, min(value) AS lo, max(value) AS hi, argMin(value, time) AS a, argMax(value, time) AS z
			 FROM telemetry GROUP BY ALL) AS raw
			FULL OUTER JOIN
			(SELECT vehicle, signal, bucket, min(min_value) AS lo, max(max_value) AS hi, argMinMerge(first_value) AS a, argMaxMerge(last_value) AS z
			 FROM %s GROUP BY ALL) AS rolled
			USING (vehicle, signal, bucket)
			WHERE (raw.lo, raw.hi, raw.a, raw.z) != (rolled.lo, rolled.hi, rolled.a, rolled.z)`, bucket, table))
		if wrong != 0 {
			r.t.Errorf("%d buckets of %s differ from the measurements", wrong, table)
		}
	}
	if late := number[uint64](r, r.ctx, `SELECT count() FROM
		(SELECT vehicle, max(fix_time) AS newest FROM positions GROUP BY vehicle) AS p
		FULL OUTER JOIN (SELECT vehicle, fix_time AS newest FROM vehicle_state FINAL) AS s USING (vehicle)
		WHERE p.newest != s.newest`); late != 0 {
		r.t.Errorf("%d vehicles do not stand at their newest position", late)
	}
	if flagged := number[uint64](r, r.ctx, "SELECT countIf(flags != 0) FROM positions"); flagged != 0 {
		r.t.Errorf("%d positions of a clean drive carry a flag: they were judged out of order", flagged)
	}
}

// compareDerived derives the recording again in another account, undisturbed, and compares.
func (r *run) compareDerived() {
	r.t.Helper()
	begin := time.Now()
	ingest, err := r.Start("ingest")
	r.check(err)
	_, err = r.Output("replay", "--account", "Quiet", "--register", "--wait", r.file)
	r.check(err)
	systemtest.AwaitDerived(r.t, r.ctx, r.System)
	_, _, err = ingest.Stop()
	r.check(err)
	r.t.Logf("the quiet run of %d fixes took %.1f s", r.fixes, time.Since(begin).Seconds())
	systemtest.SameDerived(r.t, r.System, "Crash", "Quiet")
	systemtest.SoundEvents(r.t, r.System)
	r.t.Logf("%d things were told of by what was killed, and do not hold", systemtest.Unrevoked(r.t, r.System))
}

func number[T any](r *run, ctx context.Context, query string) T {
	var n T
	if err := r.DB.QueryRow(ctx, query).Scan(&n); err != nil && ctx.Err() == nil {
		r.t.Helper()
		r.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// writeRecording writes the fixes of a simulated fleet as a recording, in the order of time, and returns
// when it begins.
func writeRecording(t *testing.T, name string, fixes int) time.Time {
	t.Helper()
	cfg := sim.DefaultConfig()
	cfg.Vehicles, cfg.Start = vehicles, fleet.MillisOf(time.Now().Add(-240*time.Hour).Truncate(time.Hour))
	driven := sim.New(cfg)
	type line struct {
		at   fleet.Millis
		text string
	}
	var report fleet.Report
	lines := make([]line, fixes)
	for i := range lines {
		driven.Next(&report)
		soc := ""
		if len(report.Signals) > 0 {
			soc = fmt.Sprint(report.Signals[0].Value)
		}
		lines[i] = line{report.FixTime, fmt.Sprintf("%s,%s,%.6f,%.6f,%.2f,%s", report.UniqueID,
			report.FixTime.Time().Format("2006-01-02T15:04:05.000Z"), report.Lat, report.Lng,
			report.Speed/fleet.MetresPerKmh, soc)}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	var text strings.Builder
	text.WriteString("vehicle,timestamp,lat,lng,speed_kmh,battery_pct\n")
	for _, l := range lines {
		text.WriteString(l.text + "\n")
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return cfg.Start.Time()
}

// lockedBuffer is written by the replay's process and read by the test.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
