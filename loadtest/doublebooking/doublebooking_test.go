// Package doublebooking holds the rental half to its promise through the interface of two processes: no vehicle is ever
// rented twice at once, whoever asks at the same time and whatever is killed meanwhile; every command that was accepted
// is in the history; every revision has one author.
package doublebooking

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/loadtest/system/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

const scopes = "vehicles:read,vehicles:write,bookings:read,bookings:write,customers:read,customers:write,maintenance:read,maintenance:write"

// garage is a rental business of some vehicles.
type garage struct {
	t        *testing.T
	sys      *system.System
	clients  []systemtest.Client
	serving  []*system.Process
	vehicles []string
	customer string
	begin    time.Time // of the days in which bookings lie
	extended atomic.Int64
}

// booking is what the test reads of a booking.
type booking struct {
	ID           string
	Status       string
	Revision     int
	VehicleID    string    `json:"vehicle_id"`
	PickupAt     time.Time `json:"pickup_at"`
	ReturnAt     time.Time `json:"return_at"`
	BlockedFrom  time.Time `json:"blocked_from"`
	BlockedUntil time.Time `json:"blocked_until"`
}

// open starts two processes and makes a garage.
func open(t *testing.T, vehicles int) *garage {
	t.Helper()
	g := &garage{t: t, sys: systemtest.Start(t), begin: time.Now().Add(48 * time.Hour).Truncate(time.Hour)}
	key := systemtest.Key(t, g.sys, "Garage", scopes)
	g.clients = []systemtest.Client{{Base: g.sys.URL(), Key: key}, {Base: "http://" + systemtest.FreeAddr(t), Key: key}}
	g.serving = make([]*system.Process, len(g.clients))
	for i := range g.clients {
		g.serve(i)
	}
	for _, c := range g.clients {
		c.Await(t)
	}
	var made struct{ ID string }
	g.must(http.StatusCreated, "POST", "/v1/customers",
		map[string]any{"first_name": "Grace", "last_name": "Hopper"}).Decode(&made)
	g.customer = made.ID
	for i := range vehicles {
		g.must(http.StatusCreated, "POST", "/v1/vehicles",
			map[string]any{"make": "Dacia", "model": "Spring", "nickname": fmt.Sprint("Spring ", i),
				"daily_rate": map[string]any{"amount": 4900, "currency": "USD"}}).Decode(&made)
		g.vehicles = append(g.vehicles, made.ID)
	}
	return g
}

// serve starts the process of a client.
func (g *garage) serve(i int) {
	g.t.Helper()
	process, err := g.sys.Start("serve", "--http", g.clients[i].Base[len("http://"):], "--ops", systemtest.FreeAddr(g.t))
	if err != nil {
		g.t.Fatal(err)
	}
	g.serving[i] = process
}

// must makes a request whose answer must have a status.
func (g *garage) must(status int, method, path string, body any) systemtest.Answer {
	g.t.Helper()
	answer := g.do(rand.New(rand.NewPCG(1, 1)), method, path, body)
	if answer.Status != status {
		g.t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Body)
	}
	return answer
}

// do makes a request to either process, and again if there are too many.
func (g *garage) do(rng *rand.Rand, method, path string, body any) systemtest.Answer {
	for {
		answer := g.clients[rng.IntN(len(g.clients))].Do(g.t.Context(), method, path, body)
		if answer.Status != http.StatusTooManyRequests {
			return answer
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// period makes up a planned period.
func (g *garage) period(rng *rand.Rand) (from, until time.Time) {
	from = g.begin.Add(time.Duration(rng.IntN(20*24)) * time.Hour)
	return from, from.Add(time.Duration(4+rng.IntN(72)) * time.Hour)
}

// bookingBody is what a request for a booking sends.
func (g *garage) bookingBody(vehicle string, from, until time.Time, confirm bool) map[string]any {
	return map[string]any{"vehicle_id": vehicle, "customer_id": g.customer, "pickup_at": from, "return_at": until,
		"confirm": confirm}
}

// model is the naive one: a list of who has what when.
type model struct {
	holds map[string]booking // by id; of blocks too
}

func (m *model) free(own, vehicle string, from, until time.Time) bool {
	for id, h := range m.holds {
		if id != own && h.VehicleID == vehicle && h.PickupAt.Before(until) && from.Before(h.ReturnAt) {
			return false
		}
	}
	return true
}

// TestOneAfterTheOtherAgreesWithTheModel gives random commands one by one, to either process, and expects of each what
// the model says.
func TestOneAfterTheOtherAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	g := open(t, 3)
	rng := rand.New(rand.NewPCG(7, 7))
	m := &model{holds: map[string]booking{}}
	var known []booking // made, in any state
	accepted, refused := 0, 0
	expect := func(what string, answer systemtest.Answer, ok bool) bool {
		t.Helper()
		got := answer.Status >= 200 && answer.Status < 300
		if got != ok || !got && answer.Status != http.StatusConflict {
			t.Fatalf("%s: the model says %v, the answer was %d %s", what, ok, answer.Status, answer.Body)
		}
		if ok {
			accepted++
		} else {
			refused++
		}
		return ok
	}
	for range 150 {
		vehicle := g.vehicles[rng.IntN(len(g.vehicles))]
		from, until := g.period(rng)
		var b booking
		pick := -1
		if len(known) > 0 {
			pick = rng.IntN(len(known))
			b = known[pick]
		}
		switch n := rng.IntN(11); {
		case n < 4 || pick < 0:
			answer := g.do(rng, "POST", "/v1/bookings", g.bookingBody(vehicle, from, until, rng.IntN(2) == 0))
			if expect("create", answer, m.free("", vehicle, from, until)) {
				answer.Decode(&b)
				m.holds[b.ID] = b
				known = append(known, b)
			}
		case n == 4:
			answer := g.do(rng, "POST", "/v1/bookings/"+b.ID+"/confirm", nil)
			if expect("confirm "+b.Status, answer, b.Status == "pending") {
				known[pick].Status = "confirmed"
			}
		case n == 5:
			answer := g.do(rng, "POST", "/v1/bookings/"+b.ID+"/cancel", map[string]any{"cancelled_by": "customer"})
			if expect("cancel "+b.Status, answer, b.Status == "pending" || b.Status == "confirmed") {
				known[pick].Status = "cancelled"
				delete(m.holds, b.ID)
			}
		case n == 6:
			longer := b.ReturnAt.Add(time.Duration(1+rng.IntN(48)) * time.Hour)
			answer := g.do(rng, "POST", "/v1/bookings/"+b.ID+"/extend", map[string]any{"return_at": longer})
			if expect("extend "+b.Status, answer, (b.Status == "pending" || b.Status == "confirmed") &&
				m.free(b.ID, b.VehicleID, b.PickupAt, longer)) {
				b.ReturnAt = longer
				known[pick], m.holds[b.ID] = b, b
			}
		case n == 7 && b.VehicleID != vehicle:
			answer := g.do(rng, "POST", "/v1/bookings/"+b.ID+"/swap_vehicle",
				map[string]any{"vehicle_id": vehicle, "reason": "flat tyre"})
			if expect("swap "+b.Status, answer, (b.Status == "pending" || b.Status == "confirmed") &&
				m.free(b.ID, vehicle, b.PickupAt, b.ReturnAt)) {
				b.VehicleID = vehicle
				known[pick], m.holds[b.ID] = b, b
			}
		case n == 8: // nothing was handed over yet
			answer := g.do(rng, "POST", "/v1/bookings/"+b.ID+"/correct",
				map[string]any{"reason": "the clock", "pickup": map[string]any{"mileage_mi": 10}})
			expect("correct "+b.Status, answer, false)
		case n > 8:
			answer := g.do(rng, "POST", "/v1/vehicles/"+vehicle+"/blocks",
				map[string]any{"from": from, "until": until, "reason": "cleaning"})
			if expect("block", answer, m.free("", vehicle, from, until)) {
				var block struct{ ID string }
				answer.Decode(&block)
				m.holds[block.ID] = booking{ID: block.ID, VehicleID: vehicle, PickupAt: from, ReturnAt: until}
			}
		}
	}
	t.Logf("%d commands accepted, %d refused, as the model says", accepted, refused)
	if refused < 20 || accepted < 20 {
		t.Error("the commands are too much alike")
	}
}

// done is a command that was accepted.
type done struct {
	booking, request string
	revision         int
}

// TestNoVehicleIsRentedTwice has many ask at once, while processes and ClickHouse are killed.
func TestNoVehicleIsRentedTwice(t *testing.T) {
	t.Parallel()
	g := open(t, 4)
	length := 40 * time.Second
	if d, err := time.ParseDuration(os.Getenv("MOTORPOOL_SOAK")); err == nil {
		length = d
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*length)
	defer stop()
	ends := time.Now().Add(length) // or as soon after as enough has happened, on a machine that is busy
	var mu sync.Mutex
	var accepted []done
	var known []string
	counts := map[int]int{}
	var all sync.WaitGroup
	for w := range 12 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 3))
			for ctx.Err() == nil {
				mu.Lock()
				id := ""
				if len(known) > 0 {
					id = known[rng.IntN(len(known))]
				}
				mu.Unlock()
				answer := g.command(rng, id)
				var b booking
				answer.Decode(&b)
				mu.Lock()
				counts[answer.Status]++
				if time.Now().After(ends) && len(accepted) >= 15 && counts[http.StatusConflict] >= 15 {
					stop()
				}
				if answer.Status >= 200 && answer.Status < 300 && strings.HasPrefix(b.ID, "bkg_") {
					accepted = append(accepted, done{b.ID, answer.RequestID, b.Revision})
					if answer.Status == http.StatusCreated {
						known = append(known, b.ID)
					}
				}
				mu.Unlock()
			}
		})
	}
	for round := 0; ctx.Err() == nil; round++ {
		select {
		case <-ctx.Done():
		case <-time.After(6 * time.Second):
			g.kill(round)
		}
	}
	all.Wait()
	g.awaitServing()
	t.Logf("answers by status: %v; %d bookings, %d commands accepted", counts, len(known), len(accepted))
	for status := range counts {
		if status >= 500 && status != http.StatusServiceUnavailable {
			t.Errorf("%d answers of status %d", counts[status], status)
		}
	}
	g.checkOverlaps()
	g.checkHistories(accepted)
	if len(accepted) < 15 || counts[http.StatusConflict] < 15 {
		t.Errorf("too little happened: %d accepted, %d conflicts", len(accepted), counts[http.StatusConflict])
	}
}

// commands are what is done with a booking at random, each as often as its share says. None is ever twice the same:
// what changes nothing is accepted, and no revision.
var commands = []struct {
	share int
	do    func(g *garage, rng *rand.Rand, path string) systemtest.Answer
}{
	{5, func(g *garage, rng *rand.Rand, _ string) systemtest.Answer {
		from, until := g.period(rng)
		return g.do(rng, "POST", "/v1/bookings", g.bookingBody(g.vehicle(rng), from, until, rng.IntN(2) == 0))
	}},
	{1, posts("confirm", nil)},
	{1, posts("cancel", func(*garage, *rand.Rand) any { return map[string]any{"cancelled_by": "customer"} })},
	{1, posts("extend", func(g *garage, rng *rand.Rand) any {
		_, until := g.period(rng)
		return map[string]any{"return_at": until.Add(time.Duration(g.extended.Add(1)) * time.Second)}
	})},
	{1, posts("swap_vehicle", func(g *garage, rng *rand.Rand) any {
		return map[string]any{"vehicle_id": g.vehicle(rng), "reason": "flat tyre"}
	})},
	{1, posts("pickup", func(*garage, *rand.Rand) any { return map[string]any{"mileage_mi": 100} })},
	{1, posts("return", func(*garage, *rand.Rand) any { return map[string]any{"mileage_mi": 200} })},
	{1, posts("correct", func(_ *garage, rng *rand.Rand) any {
		return map[string]any{"reason": "the clock",
			"pickup": map[string]any{"at": before(rng, 72*time.Hour), "mileage_mi": rng.IntN(100)}}
	})},
	{1, posts("correct", func(_ *garage, rng *rand.Rand) any {
		return map[string]any{"reason": "the clock",
			"return": map[string]any{"at": before(rng, time.Minute), "mileage_mi": 200 + rng.IntN(100)}}
	})},
	{1, func(g *garage, rng *rand.Rand, _ string) systemtest.Answer {
		from, until := g.period(rng)
		return g.do(rng, "POST", "/v1/vehicles/"+g.vehicle(rng)+"/blocks",
			map[string]any{"from": from, "until": until, "reason": "cleaning"})
	}},
}

// posts is an action on a booking, with a body.
func posts(action string, body func(*garage, *rand.Rand) any) func(*garage, *rand.Rand, string) systemtest.Answer {
	return func(g *garage, rng *rand.Rand, path string) systemtest.Answer {
		if body == nil {
			return g.do(rng, "POST", path+"/"+action, nil)
		}
		return g.do(rng, "POST", path+"/"+action, body(g, rng))
	}
}

// before is an instant that is past, by no more than so much.
func before(rng *rand.Rand, most time.Duration) time.Time {
	return time.Now().Add(-time.Duration(rng.Int64N(int64(most))))
}

func (g *garage) vehicle(rng *rand.Rand) string { return g.vehicles[rng.IntN(len(g.vehicles))] }

// command gives a random command, mostly about a booking that there is.
func (g *garage) command(rng *rand.Rand, id string) systemtest.Answer {
	all := 0
	for _, c := range commands {
		all += c.share
	}
	n := rng.IntN(all)
	if id == "" {
		n = 0
	}
	for _, c := range commands {
		if n -= c.share; n < 0 {
			return c.do(g, rng, "/v1/bookings/"+id)
		}
	}
	panic("shares add up to more than all")
}

// kill ends a process, or ClickHouse, and starts it again.
func (g *garage) kill(round int) {
	if round%3 == 2 {
		if err := g.sys.KillClickHouse(context.Background()); err != nil {
			g.t.Error(err)
		}
		if err := g.sys.StartClickHouse(context.Background()); err != nil {
			g.t.Error(err)
		}
		return
	}
	i := round % len(g.serving)
	if err := g.serving[i].Kill(); err != nil {
		g.t.Error(err)
	}
	process, err := g.sys.Start("serve", "--http", g.clients[i].Base[len("http://"):], "--ops", systemtest.FreeAddr(g.t))
	if err != nil {
		g.t.Error(err)
		return
	}
	g.serving[i] = process
}

// awaitServing waits until both processes answer, and the lists say what is decided: of what was cut off by a kill they
// know after a minute.
func (g *garage) awaitServing() {
	g.t.Helper()
	const behind = `SELECT count() FROM (SELECT kind, id, max(revision) AS newest FROM record_log WHERE kind IN ('booking', 'block') GROUP BY kind, id) AS l
		LEFT JOIN (SELECT 'booking' AS kind, id, max(revision) AS newest FROM bookings GROUP BY id UNION ALL
			SELECT 'block', id, max(revision) FROM blocks GROUP BY id) AS t ON t.kind = l.kind AND t.id = l.id WHERE t.newest != l.newest`
	for until := time.Now().Add(100 * time.Second); ; time.Sleep(time.Second) {
		var n uint64
		if err := g.sys.DB.QueryRow(g.t.Context(), behind).Scan(&n); err == nil && n == 0 {
			break
		} else if time.Now().After(until) {
			g.t.Fatalf("lists are behind by %d records, %v", n, err)
		}
	}
	for _, c := range g.clients {
		c.Await(g.t)
	}
}

// checkOverlaps reads every booking and block, and looks for two that have a vehicle at once.
func (g *garage) checkOverlaps() {
	g.t.Helper()
	byVehicle := map[string][]booking{}
	for cursor := ""; ; {
		var page struct {
			Data       []booking
			Pagination struct {
				NextCursor string `json:"next_cursor"`
			}
		}
		g.must(http.StatusOK, "GET", "/v1/bookings?per_page=100&cursor="+cursor, nil).Decode(&page)
		for _, b := range page.Data {
			if slices.Contains([]string{"pending", "confirmed", "active", "completed"}, b.Status) {
				byVehicle[b.VehicleID] = append(byVehicle[b.VehicleID], b)
			}
		}
		if cursor = page.Pagination.NextCursor; cursor == "" {
			break
		}
	}
	blocks := 0
	for _, vehicle := range g.vehicles {
		var page struct {
			Data []struct {
				ID          string
				From, Until time.Time
			}
		}
		g.must(http.StatusOK, "GET", "/v1/vehicles/"+vehicle+"/blocks?per_page=100", nil).Decode(&page)
		for _, b := range page.Data {
			byVehicle[vehicle] = append(byVehicle[vehicle], booking{ID: b.ID, BlockedFrom: b.From, BlockedUntil: b.Until})
			blocks++
		}
	}
	held := 0
	for vehicle, all := range byVehicle {
		slices.SortFunc(all, func(a, b booking) int { return a.BlockedFrom.Compare(b.BlockedFrom) })
		held += len(all)
		a := all[0] // of those before, the one that ends last
		for _, b := range all[1:] {
			if b.BlockedFrom.Before(a.BlockedUntil) {
				g.t.Errorf("%s is taken twice: by %s (%s) from %v until %v and by %s (%s) from %v", vehicle, a.ID, a.Status,
					a.BlockedFrom, a.BlockedUntil, b.ID, b.Status, b.BlockedFrom)
				g.tell(vehicle, a.ID, b.ID)
			}
			if b.BlockedUntil.After(a.BlockedUntil) {
				a = b
			}
		}
	}
	g.t.Logf("%d periods, %d of them blocks, no two of a vehicle overlap", held, blocks)
}

// tell logs how it came to what some records say.
func (g *garage) tell(ids ...string) {
	for _, id := range ids {
		prefix, _, _ := strings.Cut(id, "_")
		number, err := fleet.ParseID(prefix+"_", id)
		if err != nil {
			g.t.Error(err)
			continue
		}
		rows, err := g.sys.DB.Query(g.t.Context(), `SELECT kind, revision, at, actor, request_id, body FROM record_log
			WHERE id = {id:UInt64} AND kind != 'vehicle' ORDER BY kind, revision`, clickhouse.Named("id", number))
		if err != nil {
			g.t.Error(err)
			continue
		}
		for rows.Next() {
			var kind, actor, request, body string
			var revision uint64
			var at time.Time
			if err := rows.Scan(&kind, &revision, &at, &actor, &request, &body); err != nil {
				g.t.Error(err)
			}
			g.t.Logf("%s %s revision %d at %v by %s %s: %s", kind, id, revision, at, actor, request, body)
		}
		rows.Close()
	}
}

// checkHistories looks for every accepted command in the history of its booking, and for one author of each revision.
func (g *garage) checkHistories(accepted []done) {
	g.t.Helper()
	authors := map[string]map[int]string{}
	for _, d := range accepted {
		if authors[d.booking] == nil {
			authors[d.booking] = map[int]string{}
			for cursor := ""; ; {
				var page struct {
					Data []struct {
						Revision  int
						RequestID string `json:"request_id"`
					}
					Pagination struct {
						NextCursor string `json:"next_cursor"`
					}
				}
				g.must(http.StatusOK, "GET", "/v1/bookings/"+d.booking+"/history?per_page=100&cursor="+cursor, nil).Decode(&page)
				for _, r := range page.Data {
					if other, ok := authors[d.booking][r.Revision]; ok {
						g.t.Errorf("%s revision %d is by %s and by %s", d.booking, r.Revision, other, r.RequestID)
					}
					authors[d.booking][r.Revision] = r.RequestID
				}
				if cursor = page.Pagination.NextCursor; cursor == "" {
					break
				}
			}
		}
		if !slices.Contains(values(authors[d.booking]), d.request) {
			g.t.Errorf("%s: the command of request %s was accepted (revision %d) and is not in the history", d.booking,
				d.request, d.revision)
		}
	}
	for id, revisions := range authors {
		for n := range len(revisions) {
			if _, ok := revisions[n+1]; !ok {
				g.t.Errorf("%s has no revision %d of %d", id, n+1, len(revisions))
			}
		}
	}
	var records, claims uint64
	if err := g.sys.DB.QueryRow(g.t.Context(), `SELECT
		(SELECT count() FROM (SELECT 1 FROM record_log GROUP BY account, kind, id, revision HAVING count() > 1)),
		(SELECT count() FROM (SELECT 1 FROM claim_log GROUP BY account, field, value, revision HAVING count() > 1))`).Scan(&records, &claims); err != nil {
		g.t.Fatal(err)
	}
	if records+claims != 0 {
		g.t.Errorf("%d revisions of records and %d of claims have two authors", records, claims)
	}
}

func values(m map[int]string) []string {
	var all []string
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
