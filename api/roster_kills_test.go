package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
)

// lineConn are connections to the store that can be cut in the middle of what is asked.
type lineConn struct {
	driver.Conn
	cut atomic.Bool
}

func (c *lineConn) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	if c.cut.Load() {
		return nil, os.ErrDeadlineExceeded
	}
	return c.Conn.Query(ctx, text, args...)
}

// mortal is a process that answers from memory, is killed, and begins anew with nothing in it.
type mortal struct {
	w    *world
	url  atomic.Pointer[string]
	line *lineConn
	end  func()
}

func (m *mortal) begin(t *testing.T, node uint64) {
	t.Helper()
	m.line = &lineConn{Conn: m.w.db}
	cfg := roster.DefaultConfig()
	cfg.Wait = 30 * time.Second
	kept, err := roster.New(cfg, m.line, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	one, err := New(m.w.api.Config, Deps{Deps: rest.Deps{DB: m.line, IDs: fleet.NewIDSource(node, time.Now),
		Log: m.w.api.Log, Now: m.w.api.Now, Geocoder: m.w.api.Geocoder, Roster: kept}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = kept.Run(ctx) })
	server := httptest.NewServer(one.Handler())
	m.url.Store(&server.URL)
	m.end = func() {
		server.CloseClientConnections()
		server.Close()
		cancel()
		running.Wait()
	}
}

// get asks the process as it is by now: nil if it could not answer.
func (m *mortal) get(path string) []byte {
	req, err := http.NewRequest("GET", *m.url.Load()+path, nil)
	if err != nil {
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+m.w.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		return nil
	}
	return body
}

// Pipelines and people bring what vehicles show to the store, two processes show it from memory, are cut off from the
// store and killed: whoever reads from one sees fixes, odometers, levels and revisions only move forward, and in the
// end both show what the store says, to the byte.
func TestLiveStateOnlyMovesForwardWhateverDies(t *testing.T) {
	store := newWorld(t, func(_ *rest.Config, d *Deps) {
		at := time.Now().UTC()
		d.Now = func() time.Time { return at }
	})
	const vehicles = 6
	var ids []string
	for range vehicles {
		ids = append(ids, store.vehicle(`{"make":"A","model":"B","fuel_type":"electric"}`))
	}
	processes := [2]*mortal{{w: store}, {w: store}}
	for i, m := range processes {
		m.begin(t, uint64(10+i))
	}
	stop := make(chan struct{})
	stopped := func() bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	}
	var work sync.WaitGroup
	base := store.api.Now().Add(-2 * time.Hour).UnixMilli()
	var written, read atomic.Int64
	for n := range 2 {
		random := rand.New(rand.NewPCG(42, uint64(n)))
		work.Go(func() {
			for step := 1; !stopped(); step++ {
				car := 2*random.IntN(vehicles/2) + n // each writer has its own
				args := []any{clickhouse.Named("a", uint64(store.account)), clickhouse.Named("v", vehicleID(t, ids[car])),
					clickhouse.Named("n", uint64(step)), clickhouse.Named("t", base+int64(step)*1000)}
				insert := func(what, values string) { store.exec("INSERT INTO "+what+" SELECT "+values, args...) }
				const at = "fromUnixTimestamp64Milli({t:Int64}, 'UTC')"
				switch random.IntN(5) {
				case 0, 1:
					insert(`vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7,
						speed_cms, ignition, motion, cell)`, `{a:UInt64}, {v:UInt64}, {n:UInt64}, 7, `+at+` AS f, f, f, 302671500,
						-977430600, 1000, 'on', 'moving', 617700169958293503`)
				case 2:
					insert("vehicle_mileage (account, vehicle, time, raw_m, base_m)",
						"{a:UInt64}, {v:UInt64}, "+at+", toUInt32(1e6 + {n:UInt64} * 5000), 0")
				case 3:
					insert("telemetry_latest (account, vehicle, signal, time, value)",
						"{a:UInt64}, {v:UInt64}, 'soc_pct', "+at+", {n:UInt64} % 100")
				case 4:
					m := processes[n]
					body := fmt.Sprintf(`{"nickname":"n%d"}`, step)
					if random.IntN(2) == 0 { // of the process that may be dying
						req, err := http.NewRequest("PATCH", *m.url.Load()+"/v1/vehicles/"+ids[car], strings.NewReader(body))
						if err != nil {
							t.Error(err)
							return
						}
						req.Header.Set("Authorization", "Bearer "+store.key)
						req.Header.Set("Content-Type", "application/json")
						if res, err := http.DefaultClient.Do(req); err == nil {
							res.Body.Close()
						}
					} else {
						store.do("PATCH", "/v1/vehicles/"+ids[car], body)
					}
				}
				written.Add(1)
			}
		})
	}
	for n := range 4 {
		m := processes[n%2]
		work.Go(func() {
			last := map[string][4]float64{}
			for !stopped() {
				text := m.get([]string{"/v1/vehicles", "/v1/vehicles/" + ids[n]}[n/2])
				if text == nil {
					time.Sleep(20 * time.Millisecond)
					continue
				}
				read.Add(1)
				var answer struct {
					shownVehicle
					Data []shownVehicle
				}
				if err := json.Unmarshal(text, &answer); err != nil {
					t.Errorf("%s: %s", text, err)
					return
				}
				if answer.ID != "" {
					answer.Data = []shownVehicle{answer.shownVehicle}
				}
				for _, v := range answer.Data {
					now, before := v.marks(), last[v.ID]
					for i, what := range []string{"revision", "fix", "odometer", "level"} {
						if now[i] < before[i] {
							t.Errorf("reader %d: the %s of %s went back from %v to %v", n, what, v.ID, before[i], now[i])
						}
					}
					last[v.ID] = now
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(42, 99))
	little := func() bool { return written.Load() < 20 || read.Load() < 20 }
	begun := time.Now()
	for n := 0; n < 6 || little() && time.Since(begun) < 2*time.Minute; n++ { // a busy machine needs more time
		time.Sleep(time.Second)
		m := processes[n%2]
		m.line.cut.Store(true)
		time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
		if m.line.cut.Store(false); n >= 2 { // at first the feed breaks off, and goes on
			m.end()
			m.begin(t, uint64(20+n))
		}
	}
	close(stop)
	work.Wait()
	time.Sleep(time.Second)
	for i, m := range processes {
		for _, path := range append([]string{"/v1/vehicles", "/v1/positions/latest"}, prefixed("/v1/vehicles/", ids)...) {
			want := string(store.do("GET", path, "").ok(200).body)
			if got := string(m.get(path)); got != want {
				t.Errorf("process %d: GET %s\n%s\nthe store says\n%s", i, path, got, want)
			}
		}
		m.end()
	}
	if t.Logf("%d writes, %d answers", written.Load(), read.Load()); little() {
		t.Error("that tells little")
	}
}

// shownVehicle is what of a vehicle only moves forward.
type shownVehicle struct {
	ID       string
	Revision float64
	Location *struct {
		RecordedAt time.Time `json:"recorded_at"`
	}
	OdometerRecordedAt     *time.Time `json:"odometer_recorded_at"`
	BatteryLevelRecordedAt *time.Time `json:"battery_level_recorded_at"`
}

func (v *shownVehicle) marks() (m [4]float64) {
	if m[0] = v.Revision; v.Location != nil {
		m[1] = float64(v.Location.RecordedAt.UnixMilli())
	}
	for i, at := range []*time.Time{v.OdometerRecordedAt, v.BatteryLevelRecordedAt} {
		if at != nil {
			m[2+i] = float64(at.UnixMilli())
		}
	}
	return m
}

func prefixed(prefix string, all []string) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = prefix + one
	}
	return texts
}
