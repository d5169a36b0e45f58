// Package bookingload measures the interface over a million bookings: how long pages of lists and new bookings
// take, with clients on each process that answers. The bookings are copies of one that was made through the
// interface, written into the log of revisions with other vehicles, customers and times; everything behind the log
// is fed as always.
package bookingload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// Options say how much is measured.
type Options struct {
	Bookings int
	Vehicles int // that they are spread over
	Requests int // of each sort
	Clients  int // at once
	Bases    []string
	Key      string
}

// Result is what was measured.
type Result struct {
	Options
	Filled time.Duration
	Sorts  []Sort
}

// Sort is one sort of request.
type Sort struct {
	Name          string
	N             int
	P50, P99, Max time.Duration
	PerSecond     float64
}

// Write prints a table in Markdown.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d bookings of %d vehicles, written in %s; %d clients over %d processes\n\n| request | n | a second | p50 | p99 | max |\n|---|---|---|---|---|---|\n",
		r.Bookings, r.Vehicles, r.Filled.Round(time.Second), r.Clients, len(r.Bases))
	for _, s := range r.Sorts {
		if _, err := fmt.Fprintf(w, "| %s | %d | %.0f | %.1f ms | %.1f ms | %.1f ms |\n", s.Name, s.N, s.PerSecond, ms(s.P50),
			ms(s.P99), ms(s.Max)); err != nil {
			return err
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// filled is what Run makes requests about.
type filled struct {
	o         Options
	client    *http.Client // keeps a connection for each of the clients
	sys       *system.System
	account   uint64
	vehicle   uint64 // the first of the copies; the others follow
	customer  uint64
	begin     time.Time // of the first booking
	made      time.Time // the last of them
	customers int
}

const (
	step   = 33 * time.Hour // between two pickups of a vehicle
	length = 24 * time.Hour
	layout = "2006-01-02T15:04:05.000Z"
)

// Run fills the store and measures.
func Run(ctx context.Context, sys *system.System, o Options) (Result, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Clients}}
	defer client.CloseIdleConnections()
	f := &filled{o: o, client: client, sys: sys, customers: max(o.Bookings/20, 1)}
	slots := (o.Bookings + o.Vehicles - 1) / o.Vehicles
	f.begin = time.Now().UTC().Truncate(time.Hour).Add(-step * time.Duration(slots*2/3))
	f.made = time.Now().Add(-2 * time.Hour).Truncate(time.Millisecond)
	begun := time.Now()
	if err := f.fill(ctx); err != nil {
		return Result{}, fmt.Errorf("fill: %w", err)
	}
	r := Result{Options: o, Filled: time.Since(begun)}
	if err := f.settle(ctx); err != nil {
		return r, err
	}
	for _, sort := range f.sorts() {
		s, err := f.measure(ctx, sort)
		if err != nil {
			return r, fmt.Errorf("%s: %w", sort.name, err)
		}
		r.Sorts = append(r.Sorts, s)
	}
	return r, nil
}

// fill makes one of everything through the interface, and the rest as copies of it: as if they had been written two
// hours ago, and what follows from that carried out (record.Store.SettleConsequences looks back over an hour).
func (f *filled) fill(ctx context.Context) error {
	var vehicle, customer, booking struct{ ID string }
	money := map[string]any{"amount": 5900, "currency": "USD"}
	if err := f.make(ctx, "/v1/vehicles",
		map[string]any{"make": "Kia", "model": "Niro", "year": 2024, "daily_rate": money}, &vehicle); err != nil {
		return err
	}
	if err := f.make(ctx, "/v1/customers", map[string]any{"first_name": "Ada", "last_name": "Lovelace"},
		&customer); err != nil {
		return err
	}
	pickup := time.Now().UTC().Truncate(time.Hour).Add(365 * 24 * time.Hour)
	if err := f.make(ctx, "/v1/bookings", map[string]any{"vehicle_id": vehicle.ID, "customer_id": customer.ID,
		"pickup_at": pickup, "return_at": pickup.Add(length), "confirm": true}, &booking); err != nil {
		return err
	}
	id := func(prefix, text string) uint64 { n, _ := fleet.ParseID(prefix, text); return n }
	f.vehicle, f.customer = id(fleet.VehiclePrefix, vehicle.ID)+1<<23, id(fleet.CustomerPrefix, customer.ID)+1<<23
	if err := f.sys.DB.QueryRow(ctx,
		"SELECT account FROM record_log WHERE kind = 'booking' LIMIT 1").Scan(&f.account); err != nil {
		return err
	}
	const columns = "INSERT INTO record_log (account, kind, id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body) "
	template := func(kind string, id uint64) string {
		return fmt.Sprintf("(SELECT argMax(body, revision) FROM record_log WHERE account = %d AND kind = '%s' AND id = %d)",
			f.account, kind, id)
	}
	copies := func(kind string, id, first uint64, n int) error {
		return f.sys.DB.Exec(ctx, fmt.Sprintf("%s SELECT %d, '%s', %d + number, 1, rand64() %% 9000000000000000000 + 1, 'create', now64(3) - INTERVAL 2 HOUR, now64(3) - INTERVAL 2 HOUR, NULL, 'loadtest', '', %s FROM numbers(%d) SETTINGS insert_deduplicate = 0",
			columns, f.account, kind, first, template(kind, id), n))
	}
	if err := copies("vehicle", id(fleet.VehiclePrefix, vehicle.ID), f.vehicle, f.o.Vehicles); err != nil {
		return err
	}
	if err := copies("customer", id(fleet.CustomerPrefix, customer.ID), f.customer, f.customers); err != nil {
		return err
	}
	from := fmt.Sprintf("fromUnixTimestamp64Milli(toInt64(%d + intDiv(number, %d) * %d), 'UTC')", f.begin.UnixMilli(),
		f.o.Vehicles, step.Milliseconds())
	text := func(at string) string { return "concat(formatDateTime(" + at + ", '%Y-%m-%dT%H:%i:%S'), '.000Z')" }
	until := fmt.Sprintf("%s + INTERVAL %d SECOND", from, int(length.Seconds()))
	body := template("booking", id(fleet.BookingPrefix, booking.ID))
	for _, replaced := range []struct{ old, new string }{
		{"'" + pickup.Format(layout) + "'", text(from)},
		{"'" + pickup.Add(length).Format(layout) + "'", text(until)},
		{"'" + vehicle.ID + "'", fmt.Sprintf("concat('veh_', toString(%d + number %% %d))", f.vehicle, f.o.Vehicles)},
		{"'" + customer.ID + "'", fmt.Sprintf("concat('cus_', toString(%d + rand(1) %% %d))", f.customer, f.customers)},
		{`'"status":"confirmed"'`, fmt.Sprintf(`if(%s < now(), '"status":"completed"', '"status":"confirmed"')`, until)},
	} {
		body = fmt.Sprintf("replaceAll(%s, %s, %s)", body, replaced.old, replaced.new)
	}
	at := fmt.Sprintf("fromUnixTimestamp64Milli(least(%d + intDiv(number, %d) * %d - number * %d %% %d * 3600000, %d - number * %d %% %d * 60000), 'UTC')",
		f.begin.UnixMilli(), f.o.Vehicles, step.Milliseconds(), leadBy, leadHours, f.made.UnixMilli(), madeBy, madeMinutes)
	name := fmt.Sprintf("bitShiftLeft(toUInt64(toUnixTimestamp64Milli(%s) - %d), 22) + number", at, fleet.IDEpoch)
	for done := 0; done < f.o.Bookings; done += 50_000 {
		n := min(50_000, f.o.Bookings-done)
		if err := f.sys.DB.Exec(ctx, fmt.Sprintf("%s SELECT %d, 'booking', %s, 1, rand64() %% 9000000000000000000 + 1, 'create', %s, %s, NULL, 'loadtest', '', %s FROM numbers(%d, %d) SETTINGS insert_deduplicate = 0",
			columns, f.account, name, at, at, body, done, n)); err != nil {
			return err
		}
	}
	hold := fmt.Sprintf(`concat('{"ref":"bkg_', toString(%s), '","from":"', %s, '","until":"', %s, '","at":"', %s, '"}')`,
		name, text(from), text(until), text(from))
	if err := f.sys.DB.Exec(ctx, fmt.Sprintf(`%s SELECT %d, 'calendar', %d + vehicle, 1, rand64() %% 9000000000000000000 + 1, 'create', now64(3) - INTERVAL 2 HOUR, now64(3) - INTERVAL 2 HOUR, NULL, 'loadtest', '',
		concat('{"holds":[', arrayStringConcat(arraySort(groupArray(hold)), ','), ']}') FROM (SELECT number %% %d AS vehicle, %s AS hold FROM numbers(%d)) GROUP BY vehicle SETTINGS insert_deduplicate = 0`,
		columns, f.account, f.vehicle, f.o.Vehicles, hold, f.o.Bookings)); err != nil {
		return err
	}
	if err := schemas.Fill(ctx, f.sys.DB, "vehicle", "customer", "booking", "calendar"); err != nil {
		return err
	}
	// What a server that runs for longer than an hour has done by itself (min_age_to_force_merge_seconds).
	return f.sys.DB.Exec(ctx, "OPTIMIZE TABLE bookings FINAL")
}

// settle asks each process for a page, so that it reads the lists that it keeps in memory, and waits until that and all
// that follows from the copies (merges, sums of days) is done: else it would be measured with whichever request comes
// first.
func (f *filled) settle(ctx context.Context) error {
	for c := range f.o.Bases {
		status, text, err := f.do(ctx, c, "GET", "/v1/bookings", nil)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("the first page: %d %s", status, text)
		}
	}
	const quiet, patience = 3, 10 * time.Minute
	begun := time.Now()
	for calm := 0; calm < quiet; calm++ {
		busy, err := f.busy(ctx)
		if err != nil {
			return err
		}
		if !busy {
			continue
		}
		if calm = -1; time.Since(begun) > patience {
			return fmt.Errorf("%s after the copies the system is busy still", patience)
		}
	}
	return nil
}

// busy says, after five seconds, whether all processes together used two of a processor's in them, or parts are merged.
func (f *filled) busy(ctx context.Context) (bool, error) {
	before, err := system.UsedByAll(os.Getpid())
	if err != nil {
		return false, err
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(5 * time.Second):
	}
	after, err := system.UsedByAll(os.Getpid())
	if err != nil {
		return false, err
	}
	var merges uint64
	err = f.sys.DB.QueryRow(ctx, "SELECT count() FROM system.merges").Scan(&merges)
	return merges > 0 || after-before > 2*time.Second, err
}

// Bookings are made up to four months ahead, and those of the times after the test in the three months before it.
const (
	leadBy, leadHours   = 7919, 120 * 24
	madeBy, madeMinutes = 31, 90 * 24 * 60
)

// bookingID is the id of a copy: ids tell when a record was made.
func (f *filled) bookingID(number int) uint64 {
	n := int64(number)
	at := min(f.begin.UnixMilli()+n/int64(f.o.Vehicles)*step.Milliseconds()-n*leadBy%leadHours*3600000,
		f.made.UnixMilli()-n*madeBy%madeMinutes*60000)
	return uint64(at-fleet.IDEpoch)<<22 + uint64(number)
}

// sort is one sort of request to be measured.
type sort struct {
	name    string
	method  string
	request func(client int, rng *rand.Rand) (path string, body any)
}

func (f *filled) sorts() []sort {
	get := func(name string, path func(rng *rand.Rand) string) sort {
		return sort{name, "GET", func(_ int, rng *rand.Rand) (string, any) { return path(rng), nil }}
	}
	vehicle := func(rng *rand.Rand) uint64 { return f.vehicle + uint64(rng.IntN(f.o.Vehicles)) }
	day := func(rng *rand.Rand) time.Time {
		return f.begin.Add(time.Duration(rng.IntN(f.o.Bookings/f.o.Vehicles)) * step).Truncate(24 * time.Hour)
	}
	return []sort{
		get("list, first page", func(*rand.Rand) string { return "/v1/bookings" }),
		get("list, page 40", func(*rand.Rand) string { return "/v1/bookings?page=40" }),
		get("newest first", func(*rand.Rand) string { return "/v1/bookings?sort=-created_at" }),
		get("of a vehicle", func(rng *rand.Rand) string {
			return fmt.Sprintf("/v1/bookings?vehicle_id=veh_%d&sort=-pickup_at", vehicle(rng))
		}),
		get("of a customer", func(rng *rand.Rand) string {
			return fmt.Sprintf("/v1/bookings?customer_id=cus_%d", f.customer+uint64(rng.IntN(f.customers)))
		}),
		get("picked up on a day", func(rng *rand.Rand) string {
			d := day(rng)
			return "/v1/bookings?pickup_at[gte]=" + d.Format(layout) + "&pickup_at[lt]=" + d.Add(24*time.Hour).Format(layout) +
				"&sort=pickup_at"
		}),
		get("confirmed, by pickup", func(*rand.Rand) string { return "/v1/bookings?status=confirmed&sort=pickup_at" }),
		get("updated since yesterday", func(*rand.Rand) string {
			return "/v1/bookings?updated_since=" + time.Now().Add(-24*time.Hour).UTC().Format(layout)
		}),
		get("one", func(rng *rand.Rand) string {
			return fmt.Sprintf("/v1/bookings/bkg_%d", f.bookingID(rng.IntN(f.o.Bookings)))
		}),
		{"create", "POST", func(client int, rng *rand.Rand) (string, any) {
			// Clients have vehicles of their own: two that want one at the same time are another question.
			own := f.vehicle + uint64(rng.IntN(f.o.Vehicles/f.o.Clients)*f.o.Clients+client)
			pickup := time.Now().UTC().Truncate(time.Hour).Add(time.Duration(400+rng.IntN(3000)) * 24 * time.Hour)
			return "/v1/bookings", map[string]any{"vehicle_id": fmt.Sprintf("veh_%d", own),
				"customer_id": fmt.Sprintf("cus_%d", f.customer+uint64(rng.IntN(f.customers))),
				"pickup_at":   pickup, "return_at": pickup.Add(length), "confirm": true}
		}},
	}
}

// measure makes the requests of a sort, after a few that do not count.
func (f *filled) measure(ctx context.Context, s sort) (Sort, error) {
	if _, err := f.ask(ctx, s, 3, 1); err != nil {
		return Sort{}, err
	}
	begun := time.Now()
	took, err := f.ask(ctx, s, f.o.Requests/f.o.Clients, 2)
	if err != nil {
		return Sort{}, err
	}
	per := float64(len(took)) / time.Since(begun).Seconds()
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[min(len(took)-1, int(float64(len(took))*share))] }
	return Sort{Name: s.name, N: len(took), P50: at(0.5), P99: at(0.99), Max: took[len(took)-1], PerSecond: per}, nil
}

// ask has each client make so many requests, and returns how long they took.
func (f *filled) ask(ctx context.Context, s sort, times int, seed uint64) ([]time.Duration, error) {
	var mu sync.Mutex
	var took []time.Duration
	var failures []error
	var all sync.WaitGroup
	for c := range f.o.Clients {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(c), seed))
			for range times {
				path, body := s.request(c, rng)
				asked := time.Now()
				status, text, err := f.do(ctx, c, s.method, path, body)
				d := time.Since(asked)
				if err == nil && status >= 300 && !(s.method == "POST" && status == http.StatusConflict) {
					err = fmt.Errorf("%s %s: %d %s", s.method, path, status, text)
				}
				mu.Lock()
				if err != nil {
					failures = append(failures, err)
				} else {
					took = append(took, d)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return took, errors.Join(failures[:min(3, len(failures))]...)
}

func (f *filled) do(ctx context.Context, client int, method, path string, body any) (int, string, error) {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, "", err
		}
		in = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, f.o.Bases[client%len(f.o.Bases)]+path, in)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+f.o.Key)
	request.Header.Set("Content-Type", "application/json")
	response, err := f.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, strings.TrimSpace(string(text)), err
}

// make makes a record through the interface.
func (f *filled) make(ctx context.Context, path string, body any, into any) error {
	status, text, err := f.do(ctx, 0, "POST", path, body)
	if err != nil {
		return err
	}
	if status != http.StatusCreated {
		return fmt.Errorf("POST %s: %d %s", path, status, text)
	}
	return json.Unmarshal([]byte(text), into)
}
