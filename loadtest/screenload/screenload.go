// Package screenload measures what open screens ask for again and again: a vehicle, pages of vehicles and the newest
// positions, by many clients that keep their connections, from processes side by side that keep what is current in
// memory and that do not. The vehicles are copies of one that was made through the interface.
package screenload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// Options say how much is measured.
type Options struct {
	Vehicles int
	Clients  int           // at once
	For      time.Duration // that each sort of request is made
	Key      string
	Profiles string // folder that gets a profile of each process and sort; none if empty
	Bases    []Base
	Thin     *Thin // beside them; nil if it is not
}

// Base is a process that is measured.
type Base struct {
	Name, URL, Ops string
	Process        *system.Process
}

func (b Base) used() (time.Duration, error) {
	cpu, _, err := b.Process.Used()
	return cpu, err
}

// Kept is how many bytes of memory a process says that it keeps current records in.
func Kept(base Base) (float64, error) {
	res, err := http.Get(base.Ops + "/metrics")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "motorpool_roster_bytes "); ok {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, errors.New("the process tells nothing of its memory")
}

// Result is what was measured.
type Result struct {
	Options
	Sorts []Sort
}

// Sort is one sort of request to one process.
type Sort struct {
	Name, Base    string
	N             int
	PerSecond     float64
	CPU           time.Duration // of the process, for one request
	P50, P99, Max time.Duration
}

// Write prints a table in Markdown.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d vehicles, %d clients\n\n| request | from | a second | processor | p50 | p99 | max |\n|---|---|---|---|---|---|---|\n",
		r.Vehicles, r.Clients)
	for _, s := range r.Sorts {
		if _, err := fmt.Fprintf(w, "| %s | %s | %.0f | %.3f ms | %.1f ms | %.1f ms | %.1f ms |\n", s.Name, s.Base,
			s.PerSecond, ms(s.CPU), ms(s.P50), ms(s.P99), ms(s.Max)); err != nil {
			return err
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Run fills the store and measures.
func Run(ctx context.Context, sys *system.System, o Options) (Result, error) {
	r := Result{Options: o}
	first, err := fill(ctx, sys, o)
	if err != nil {
		return r, fmt.Errorf("fill: %w", err)
	}
	sorts := []sort{
		{"a vehicle", func(random *rand.Rand) string {
			return "/v1/vehicles/" + fleet.FormatID(fleet.VehiclePrefix, first+uint64(random.IntN(o.Vehicles)))
		}},
		{pageOfVehicles, func(random *rand.Rand) string {
			return []string{"/v1/vehicles?per_page=20&status=available&sort=-license_plate",
				"/v1/vehicles?per_page=20&year[gte]=2020&sort=license_plate", "/v1/vehicles?per_page=20&make=Kia&sort=-updated_at",
				"/v1/vehicles?per_page=20&page=2&sort=fleet_number"}[random.IntN(4)]
		}},
		{"100 newest positions", func(*rand.Rand) string { return "/v1/positions/latest?per_page=100" }},
	}
	if o.Thin != nil {
		if err := r.beside(ctx, o, first); err != nil {
			return r, fmt.Errorf("PostgreSQL: %w", err)
		}
	}
	for _, sort := range sorts {
		for _, base := range o.Bases {
			cold, err := measure(ctx, o, base.URL, base.used, sort.path)
			if err != nil {
				return r, fmt.Errorf("%s from %s: %w", sort.name, base.Name, err)
			}
			cold.Name, cold.Base = sort.name+", at first", base.Name
			r.Sorts = append(r.Sorts, cold)
			profiled := profile(ctx, o, base, sort.name)
			s, err := measure(ctx, o, base.URL, base.used, sort.path)
			if err = errors.Join(err, <-profiled); err != nil {
				return r, fmt.Errorf("%s from %s: %w", sort.name, base.Name, err)
			}
			s.Name, s.Base = sort.name, base.Name
			r.Sorts = append(r.Sorts, s)
		}
	}
	return r, nil
}

// sort is one sort of request.
type sort struct {
	name string
	path func(*rand.Rand) string
}

const pageOfVehicles = "20 vehicles, sorted and filtered"

// beside measures the page of vehicles from PostgreSQL, of as many vehicles that are as large.
func (r *Result) beside(ctx context.Context, o Options, first uint64) error {
	client := &http.Client{}
	defer client.CloseIdleConnections()
	path := "/v1/vehicles/" + fleet.FormatID(fleet.VehiclePrefix, first)
	body, err := get(ctx, client, o.Bases[0].URL+path, o.Key)
	if err != nil {
		return err
	}
	var vehicle struct {
		Plate string `json:"license_plate"`
	}
	if err := json.Unmarshal(body, &vehicle); err != nil {
		return err
	}
	if err := o.Thin.fill(bytes.TrimSpace(body), vehicle.Plate, first, o.Vehicles); err != nil {
		return err
	}
	page := func(*rand.Rand) string { return "/vehicles?status=available" }
	s, err := measure(ctx, o, o.Thin.url, o.Thin.Used, page) // to get warm
	if err == nil {
		s, err = measure(ctx, o, o.Thin.url, o.Thin.Used, page)
	}
	s.Name, s.Base = pageOfVehicles, "PostgreSQL"
	r.Sorts = append(r.Sorts, s)
	return err
}

// fill makes a vehicle through the interface and copies it, each with a plate of its own, a place and an odometer. It
// returns the id of the first copy; the others follow.
func fill(ctx context.Context, sys *system.System, o Options) (first uint64, err error) {
	body, err := json.Marshal(map[string]any{"make": "Kia", "model": "Niro", "year": 2024, "license_plate": "PLATE",
		"fleet_number": "F", "nickname": "Van", "fuel_type": "electric", "vin": "KNDCC3LG5L5000000",
		"daily_rate": map[string]any{"amount": 5900, "currency": "USD"}})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Bases[0].URL+"/v1/vehicles", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+o.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var vehicle struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&vehicle); err != nil {
		return 0, err
	}
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle.ID)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", res.Status, err)
	}
	first = id + 1<<23
	var account uint64
	if err := sys.DB.QueryRow(ctx, "SELECT account FROM record_log WHERE kind = 'vehicle' LIMIT 1").Scan(
		&account); err != nil {
		return 0, err
	}
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO record_log (account, kind, id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body)
			SELECT %d, 'vehicle', %d + number, 1, rand64() %% 9000000000000000000 + 1, 'create', now64(3) - INTERVAL 2 HOUR, now64(3) - INTERVAL 2 HOUR, NULL, 'loadtest', '',
			replace((SELECT argMax(body, revision) FROM record_log WHERE account = %d AND kind = 'vehicle' AND id = %d), 'PLATE', concat('P', hex(rand(1)))) FROM numbers(%d)`,
			account, first, account, id, o.Vehicles),
		fmt.Sprintf(`INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, speed_cms, ignition, motion, cell)
			SELECT %d, %d + number, 1, 7, now64(3) - number %% 3600 AS f, f, f, 302671500 + rand(2) %% 1000000, -977430600 + rand(3) %% 1000000, rand(4) %% 3000, 'on', 'moving', 617700169958293503 FROM numbers(%d)`,
			account, first, o.Vehicles),
		fmt.Sprintf(`INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m)
			SELECT %d, %d + number, now64(3) - number %% 3600, rand(5) %% 100000000, 0 FROM numbers(%d)`, account, first, o.Vehicles),
		fmt.Sprintf(`INSERT INTO telemetry_latest (account, vehicle, signal, time, value)
			SELECT %d, %d + number, 'soc_pct', now64(3) - number %% 3600, rand(6) %% 100 FROM numbers(%d)`, account, first, o.Vehicles),
	} {
		if err := sys.DB.Exec(ctx, statement); err != nil {
			return 0, err
		}
	}
	return first, schemas.Fill(ctx, sys.DB, "vehicle")
}

// profile keeps where a process's time goes while it is measured, if that is wanted.
func profile(ctx context.Context, o Options, base Base, name string) <-chan error {
	done := make(chan error, 1)
	if o.Profiles == "" {
		done <- nil
		return done
	}
	go func() {
		done <- func() error {
			res, err := http.Get(fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", base.Ops, max(1, int(o.For.Seconds()))))
			if err != nil {
				return err
			}
			defer res.Body.Close()
			f, err := os.Create(filepath.Join(o.Profiles, strings.ReplaceAll(base.Name+" "+name, " ", "_")+".pprof"))
			if err != nil {
				return err
			}
			_, err = io.Copy(f, res.Body)
			return errors.Join(err, f.Close())
		}()
	}()
	return done
}

// measure makes requests for a while.
func measure(ctx context.Context, o Options, base string, used func() (time.Duration, error),
	path func(*rand.Rand) string) (Sort, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	before, err := used()
	if err != nil {
		return Sort{}, err
	}
	begun := time.Now()
	var work sync.WaitGroup
	for n := range o.Clients {
		random := rand.New(rand.NewPCG(42, uint64(n)))
		work.Go(func() {
			var mine []time.Duration
			var err error
			for err == nil && time.Since(begun) < o.For {
				at := time.Now()
				_, err = get(ctx, client, base+path(random), o.Key)
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, mine...); err != nil {
				failed = err
			}
		})
	}
	work.Wait()
	all := time.Since(begun)
	after, err := used()
	if failed != nil || err != nil {
		return Sort{}, errors.Join(failed, err)
	}
	slices.Sort(took)
	return Sort{N: len(took), PerSecond: float64(len(took)) / all.Seconds(),
		CPU: (after - before) / time.Duration(len(took)), P50: took[len(took)/2],
		P99: took[len(took)*99/100], Max: took[len(took)-1]}, nil
}

func get(ctx context.Context, client *http.Client, url, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", url, res.Status, body)
	}
	return body, err
}
