// Package late holds back part of what a fleet sends, for hours, and sends it at the end: newest first, twice, over
// other topics and partitions than the rest. What is derived must be what is derived of the same records in order,
// and vehicles that are on the road meanwhile must not wait for it. The processes are the built binary, a real
// ClickHouse and a broker.
package late

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/loadtest/system/systemtest"
	"github.com/motorpool/fleet/pipeline/codec"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

const (
	vehicles = 8
	each     = 1800 // fixes of a vehicle
	interval = 30   // s between them: 15 hours
	block    = 40   // fixes that are held back together: 20 minutes
	share    = 0.2  // of the blocks
	patience = 10.0 // s that an alert of a vehicle on the road may take
)

// TestLateDataEndsUpWhereItBelongs derives one fleet in two accounts, in order and late, while a vehicle of a third one
// is on the road.
func TestLateDataEndsUpWhereItBelongs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	sys := systemtest.Start(t)
	start := time.Now().Add(-96 * time.Hour).Truncate(time.Hour)
	reports := drive(start)

	serve, err := sys.Start("serve")
	check(t, err)
	owner := map[string]string{}
	center := sim.DefaultConfig()
	for _, account := range []string{"Ordered", "Late", "Road"} {
		owner[account] = systemtest.LayDown(t, sys, account, start.Add(-24*time.Hour), center.Lat, center.Lng)
	}
	// On the road nobody is found offline: AwaitDerived would wait for that.
	check(t, sys.DB.Exec(ctx, "ALTER TABLE alert_rules DELETE WHERE kind = 'device_offline' AND account IN (SELECT id FROM accounts FINAL WHERE name = 'Road') SETTINGS mutations_sync = 1"))
	_, _, err = serve.Stop()
	check(t, err)
	ingest, err := sys.Start("ingest")
	check(t, err)

	// The first fix of each vehicle goes through replay, which registers it.
	first := filepath.Join(t.TempDir(), "first.csv")
	check(t, os.WriteFile(first, csv(reports[:vehicles]), 0o600))
	rest := reports[vehicles:]
	send := publisher(t, sys)
	for _, account := range []string{"Ordered", "Late"} {
		_, err := sys.Output("replay", "--account", account, "--register", "--wait", first)
		check(t, err)
	}
	send(ctx, records(owner["Ordered"], rest), false)

	held, sent := holdBack(rest)
	send(ctx, records(owner["Late"], sent), false)
	systemtest.AwaitDerived(t, ctx, sys)
	t.Logf("%d records in order; %d of them held back", len(reports), len(held))
	if slices.Equal(systemtest.Derived(t, sys, "Ordered"), systemtest.Derived(t, sys, "Late")) {
		t.Fatal("what is held back makes no difference: this proves nothing")
	}

	road := onTheRoad(t, sys, owner["Road"], first)
	quiet := road.alerts(ctx, 4)
	slices.Reverse(held)
	uploaded := make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(uploaded)
		for part := range slices.Chunk(held, 400) {
			send(ctx, append(records(owner["Late"], part), records(owner["Late"], part)...), true)
		}
	}()
	busy := road.alerts(ctx, 12)
	<-uploaded
	systemtest.AwaitDerived(t, ctx, sys)
	repaired := time.Since(begin)
	_, _, err = ingest.Stop() // writes what is open as it is
	check(t, err)

	t.Logf("late data: %d records of %d vehicles worked in after %.1f s; alerts on the road after %.2f s before and %.2f s meanwhile (longest %.2f and %.2f)",
		2*len(held), vehicles, repaired.Seconds(), median(quiet), median(busy), slices.Max(quiet), slices.Max(busy))
	if longest := slices.Max(busy); longest > patience {
		t.Errorf("an alert of a vehicle on the road took %.1f s, and %.1f s without late data", longest, slices.Max(quiet))
	}
	systemtest.SameDerived(t, sys, "Ordered", "Late")
	systemtest.SoundEvents(t, sys)
	if n := systemtest.Unrevoked(t, sys); n != 0 {
		t.Errorf("%d things were told of and do not hold", n)
	}
}

// drive makes what the fleet sends, in order of time; the first fix of each vehicle comes first.
func drive(start time.Time) []fleet.Report {
	cfg := sim.DefaultConfig()
	cfg.Vehicles, cfg.Interval, cfg.Start, cfg.Reach = vehicles, interval*1000, fleet.MillisOf(start), 15_000
	driven := sim.New(cfg)
	all := make([]fleet.Report, vehicles*each)
	for i := range all {
		driven.Next(&all[i])
		all[i].Signals = slices.Clone(all[i].Signals)
		if i < vehicles { // as the file says it, which tells no more
			r := fleet.NewReport()
			r.UniqueID, r.Positioned, r.FixTime, r.Lat, r.Lng = all[i].UniqueID, true, all[i].FixTime, all[i].Lat, all[i].Lng
			all[i] = r
		}
	}
	slices.SortStableFunc(all[vehicles:], func(a, b fleet.Report) int { return int(a.FixTime - b.FixTime) })
	return all
}

// holdBack takes whole blocks of single vehicles out, a fifth of all, and nothing of the last hours, so that each
// vehicle is far ahead when they come.
func holdBack(all []fleet.Report) (held, sent []fleet.Report) {
	rng := rand.New(rand.NewPCG(7, 7))
	seen, holding := map[string]int{}, map[string]bool{}
	for _, r := range all {
		if seen[r.UniqueID]%block == 0 {
			holding[r.UniqueID] = rng.Float64() < share*1.25 && seen[r.UniqueID] < each*4/5
		}
		seen[r.UniqueID]++
		if holding[r.UniqueID] {
			held = append(held, r)
		} else {
			sent = append(sent, r)
		}
	}
	return held, sent
}

// records are the messages of the devices that replay has made for an account.
func records(account string, reports []fleet.Report) []kafka.Message {
	all := make([]kafka.Message, len(reports))
	for i, r := range reports {
		r.UniqueID = account + ":" + r.UniqueID
		all[i] = kafka.Message{
			Key: []byte(r.UniqueID), Value: codec.AppendReport(nil, &r),
			Headers: []kafka.Header{{Key: codec.ContentTypeHeader, Value: []byte(codec.ContentTypeJSON)}},
		}
	}
	return all
}

// publisher returns what puts records on the topic of positions, by key, or scattered over the partitions
// of two topics.
func publisher(t *testing.T, sys *system.System) func(ctx context.Context, all []kafka.Message, scattered bool) {
	t.Helper()
	ordered := &kafka.Writer{Addr: kafka.TCP(sys.Kafka()), RequiredAcks: kafka.RequireAll, Balancer: &kafka.Hash{},
		BatchTimeout: time.Millisecond, BatchSize: 500}
	anyhow := &kafka.Writer{Addr: kafka.TCP(sys.Kafka()), RequiredAcks: kafka.RequireAll, Balancer: &kafka.RoundRobin{},
		BatchTimeout: time.Millisecond, BatchSize: 100}
	t.Cleanup(func() { _, _ = ordered.Close(), anyhow.Close() })
	return func(ctx context.Context, all []kafka.Message, scattered bool) {
		w := ordered
		for i := range all {
			all[i].Topic = "positions"
			if scattered && i%2 == 1 {
				all[i].Topic = "telemetry"
			}
		}
		if scattered {
			w = anyhow
		}
		if err := w.WriteMessages(ctx, all...); err != nil {
			t.Error(err)
		}
	}
}

// road is a vehicle that drives now, over and under the speed limit.
type road struct {
	t    *testing.T
	sys  *system.System
	send func(ctx context.Context, all []kafka.Message, scattered bool)
	id   string // of the account
	at   time.Time
	next fleet.Report
}

// onTheRoad registers the vehicles of first in an account; the first of them drives on.
func onTheRoad(t *testing.T, sys *system.System, account, first string) *road {
	t.Helper()
	_, err := sys.Output("replay", "--account", "Road", "--register", "--wait", first)
	check(t, err)
	r := fleet.NewReport()
	r.UniqueID, r.Positioned, r.Lat, r.Lng = sim.UniqueID(0), true, 31.5, -97.1
	return &road{t: t, sys: sys, send: publisher(t, sys), id: account, at: time.Now(), next: r}
}

// alerts drives until n alerts were raised, and returns how long each took from the fix that raised it until it was in
// the table of events, in seconds.
func (r *road) alerts(ctx context.Context, n int) []float64 {
	r.t.Helper()
	var took []float64
	for range n {
		r.drive(ctx, 30)
		sent, at := time.Now(), r.drive(ctx, 45)
		for {
			var raised uint64
			err := r.sys.DB.QueryRow(ctx, fmt.Sprintf("SELECT count() FROM events WHERE type = 'alert.raised' AND at = fromUnixTimestamp64Milli(toInt64(%d), 'UTC')", at)).Scan(&raised)
			if err != nil {
				r.t.Fatalf("after %d alerts: %v", len(took), err)
			}
			if raised > 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		took = append(took, time.Since(sent).Seconds())
	}
	return took
}

// drive goes on to now at a speed, says so, and returns when that was.
func (r *road) drive(ctx context.Context, speed float64) fleet.Millis {
	time.Sleep(time.Until(r.at.Add(500 * time.Millisecond))) // fixes of one moment would be one fix
	now := time.Now()
	r.next.Lat += speed * now.Sub(r.at).Seconds() / (fleet.EarthRadius * math.Pi / 180)
	r.next.Speed, r.next.FixTime, r.at = speed, fleet.MillisOf(now), now
	r.send(ctx, records(r.id, []fleet.Report{r.next}), false)
	return r.next.FixTime
}

// csv writes reports as a recording.
func csv(reports []fleet.Report) []byte {
	var text strings.Builder
	text.WriteString("vehicle,timestamp,lat,lng\n")
	for _, r := range reports {
		fmt.Fprintf(&text, "%s,%s,%.6f,%.6f\n", r.UniqueID, r.FixTime.Time().Format("2006-01-02T15:04:05.000Z"), r.Lat, r.Lng)
	}
	return []byte(text.String())
}

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
