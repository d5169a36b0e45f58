// Package screenload measures what open screens ask for again and again: a vehicle, pages of vehicles and the newest
// positions, by many clients that keep their connections, from processes side by side that keep what is current in
// memory and that do not. The vehicles are copies of one that was made through the interface.
package screenload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
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
	Bases    []Base
}

// Base is a process that is measured.
type Base struct{ Name, URL string }

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
	P50, P99, Max time.Duration
}

// Write prints a table in Markdown.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d vehicles, %d clients\n\n| request | from | a second | p50 | p99 | max |\n|---|---|---|---|---|---|\n",
		r.Vehicles, r.Clients)
	for _, s := range r.Sorts {
		if _, err := fmt.Fprintf(w, "| %s | %s | %.0f | %.1f ms | %.1f ms | %.1f ms |\n", s.Name, s.Base, s.PerSecond,
			ms(s.P50), ms(s.P99), ms(s.Max)); err != nil {
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
	sorts := []struct {
		name string
		path func(*rand.Rand) string
	}{
		{"a vehicle", func(random *rand.Rand) string {
			return "/v1/vehicles/" + fleet.FormatID(fleet.VehiclePrefix, first+uint64(random.IntN(o.Vehicles)))
		}},
		{"20 vehicles, sorted and filtered", func(random *rand.Rand) string {
			return []string{"/v1/vehicles?per_page=20&status=available&sort=-license_plate",
				"/v1/vehicles?per_page=20&year[gte]=2020&sort=license_plate", "/v1/vehicles?per_page=20&make=Kia&sort=-updated_at",
				"/v1/vehicles?per_page=20&page=2&sort=fleet_number"}[random.IntN(4)]
		}},
		{"100 newest positions", func(*rand.Rand) string { return "/v1/positions/latest?per_page=100" }},
	}
	for _, sort := range sorts {
		for _, base := range o.Bases {
			for range 2 { // the first is to get warm
				s, err := measure(ctx, o, base, sort.path)
				if err != nil {
					return r, fmt.Errorf("%s from %s: %w", sort.name, base.Name, err)
				}
				s.Name, s.Base = sort.name, base.Name
				r.Sorts = append(r.Sorts, s)
			}
			r.Sorts = slices.Delete(r.Sorts, len(r.Sorts)-2, len(r.Sorts)-1)
		}
	}
	return r, nil
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

// measure makes requests for a while.
func measure(ctx context.Context, o Options, base Base, path func(*rand.Rand) string) (Sort, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	begun := time.Now()
	var work sync.WaitGroup
	for n := range o.Clients {
		random := rand.New(rand.NewPCG(42, uint64(n)))
		work.Go(func() {
			var mine []time.Duration
			var err error
			for err == nil && time.Since(begun) < o.For {
				at := time.Now()
				err = get(ctx, client, base.URL+path(random), o.Key)
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
	slices.Sort(took)
	return Sort{N: len(took), PerSecond: float64(len(took)) / all.Seconds(), P50: took[len(took)/2],
		P99: took[len(took)*99/100], Max: took[len(took)-1]}, failed
}

func get(ctx context.Context, client *http.Client, url, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", url, res.Status, body)
	}
	return err
}
