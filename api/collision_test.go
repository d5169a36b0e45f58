package api

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// twins are two processes that were given one node number, and whose clocks stand still: each makes the very ids that
// the other makes. There is a third one, which does not.
func twins(t *testing.T) (first, second, third *world) {
	t.Helper()
	frozen := time.Now()
	source := func() *fleet.IDSource { return fleet.NewIDSource(5, func() time.Time { return frozen }) }
	third = newWorld(t)
	twin := func() *world {
		cfg := rest.DefaultConfig()
		cfg.ReadTime, cfg.WriteTime = 50*time.Second, 50*time.Second
		cfg.Record = record.Config{Deadline: 50 * time.Second, Abandoned: 100 * time.Second}
		w := *third
		var err error
		if w.api, err = New(cfg, Deps{Deps: rest.Deps{DB: third.db, IDs: source(), Geocoder: words(""), Log: third.api.Log,
			Now: third.api.Now}}); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(w.api.Handler())
		t.Cleanup(server.Close)
		w.url = server.URL
		return &w
	}
	return twin(), twin(), third
}

// In one account and in two, whatever is made by two processes that make the same ids is made, and is what
// its maker sent.
func TestProcessesThatMakeTheSameIDsMakeRecordsOfTheirOwn(t *testing.T) {
	first, second, setup := twins(t)
	van := setup.vehicle(`{"make":"A","model":"B"}`)
	stranger := *second
	stranger.account = setup.newAccount("Second")
	stranger.key = setup.newKey(stranger.account, auth.Admin)
	const each = 4
	for _, other := range []*world{second, &stranger} {
		for _, c := range []struct {
			name, path, body, member string // body with %s for what tells one from another
			keyed                    bool
		}{
			{"vehicles", "/v1/vehicles", `{"make":"A","model":"B","vin":"%s","nickname":"%[1]s"}`, "nickname", false},
			{"vehicles of repeatable requests", "/v1/vehicles", `{"make":"A","model":"B","nickname":"%s"}`, "nickname", true},
			{"customers", "/v1/customers", `{"first_name":"%s"}`, "first_name", false},
			{"work orders", "/v1/maintenance/work_orders", `{"vehicle_id":"` + van + `","title":"%s"}`, "title", false},
		} {
			if other == &stranger && c.name == "work orders" {
				continue // which need a vehicle of the other account
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			made := map[string]string{}
			for n, w := range []*world{first, other} {
				all.Go(func() {
					for i := range each {
						tag := strings.ToUpper(fmt.Sprintf("%s%d%d%x", strings.ReplaceAll(c.name, " ", ""), n, i,
							uint64(other.account)%997))
						var headers []string
						if c.keyed {
							headers = []string{"Idempotency-Key", tag}
						}
						answer := w.do("POST", c.path, fmt.Sprintf(c.body, tag), headers...)
						if answer.status != 201 || answer.object()[c.member] != tag {
							t.Errorf("%s %s: %d %s", c.name, tag, answer.status, answer.body)
							return
						}
						stands := w.do("GET", c.path+"/"+answer.id(), "").ok(200).object()
						if stands[c.member] != tag {
							t.Errorf("%s %s is %v under %s", c.name, tag, stands[c.member], answer.id())
						}
						mu.Lock()
						at := fmt.Sprint(w.account, answer.id())
						if made[at] != "" {
							t.Errorf("%s and %s are both %s", made[at], tag, at)
						}
						made[at] = tag
						mu.Unlock()
					}
				})
			}
			all.Wait()
		}
	}
	if records, claims, err := first.api.Store.Audit(t.Context()); err != nil || records+claims != 0 {
		t.Errorf("%d revisions and %d claims are double, %v", records, claims, err)
	}
}

func TestKeysThatAreMadeUnderOneIDHaveTheirOwnSecrets(t *testing.T) {
	first, second, _ := twins(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	var keys []*reply
	for _, w := range []*world{first, second} {
		all.Go(func() {
			for i := range 4 {
				body := `{"name":"x","scopes":["vehicles:read"]}`
				made := w.do("POST", "/v1/api_keys", body, "Idempotency-Key", []string{"", fmt.Sprint(w.url, i)}[i%2])
				if made.status != 201 {
					t.Errorf("key: %d %s", made.status, made.body)
					return
				}
				if i == 3 {
					made = w.do("POST", "/v1/api_keys/"+made.id()+"/rotate", "")
				}
				mu.Lock()
				keys = append(keys, made)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, made := range keys {
		answer := first.do("GET", "/v1/account", "", "Authorization", "Bearer "+made.object()["key"].(string))
		if answer.status != 200 || answer.object()["api_key_id"] != made.id() {
			t.Errorf("the key of %s opens %s", made.id(), answer.body)
		}
	}
}

func TestBatchesUnderTheSameIDsMakeAllTheirRecords(t *testing.T) {
	first, second, _ := twins(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]string{}
	for n, w := range []*world{first, second} {
		all.Go(func() {
			var items []string
			for i := range 20 {
				items = append(items, fmt.Sprintf(`{"make":"A","model":"B","nickname":"%d-%d"}`, n, i))
			}
			for i, r := range w.do("POST", "/v1/vehicles/batch", `{"data":[`+strings.Join(items, ",")+`]}`).ok(200).data() {
				mu.Lock()
				id, want := fmt.Sprint(r["id"]), fmt.Sprintf("%d-%d", n, i)
				if r["status"] != 201.0 || made[id] != "" || r["record"].(map[string]any)["nickname"] != want {
					t.Errorf("item %s: %v, and %s has its id", want, r, made[id])
				}
				made[id] = want
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for id, want := range made {
		wantEqual(t, id, first.do("GET", "/v1/vehicles/"+id, "").ok(200).object()["nickname"], want)
	}
	if records, claims, err := first.api.Store.Audit(t.Context()); err != nil || records+claims != 0 {
		t.Errorf("%d revisions and %d claims are double, %v", records, claims, err)
	}
}

// One after the other, so that each finds what the one before has made: a batch, a batch of the other process under
// the same ids, and single ones of both.
func TestBatchesAndSingleOnesUnderTheSameIDsMakeAllTheirRecords(t *testing.T) {
	first, second, third := twins(t)
	const each = 4
	made := map[string]string{}
	note := func(id, want string) {
		if made[id] != "" {
			t.Errorf("%s is %s and %s", id, made[id], want)
		}
		made[id] = want
	}
	batch := func(w *world, name string) {
		var items []string
		for i := range each {
			items = append(items, fmt.Sprintf(`{"make":"A","model":"B","nickname":"%s %d"}`, name, i))
		}
		for i, r := range w.do("POST", "/v1/vehicles/batch", `{"data":[`+strings.Join(items, ",")+`]}`).ok(200).data() {
			note(fmt.Sprint(r["id"]), fmt.Sprintf("%s %d", name, i))
		}
	}
	single := func(w *world, name string) {
		for i := range each {
			want := fmt.Sprintf("%s %d", name, i)
			note(w.vehicle(`{"make":"A","model":"B","nickname":"`+want+`"}`), want)
		}
	}
	batch(first, "batch")
	single(second, "single")
	batch(second, "second batch")
	single(first, "second single")
	for id, want := range made {
		wantEqual(t, id, third.do("GET", "/v1/vehicles/"+id, "").ok(200).object()["nickname"], want)
	}
	records, claims, err := third.api.Store.Audit(t.Context())
	if err != nil || records+claims != 0 || len(made) != 4*each {
		t.Errorf("%d are made, %d revisions and %d claims are double, %v", len(made), records, claims, err)
	}
}

// Many at a time in both, so that they share inserts: each booking is made of its own vehicle, and none leaves a hold
// behind under the id that it had first.
func TestBookingsThatAreMadeAtOneMomentUnderTheSameIDsHoldTheirVehiclesOnce(t *testing.T) {
	const writers, each = 5, 3
	first, second, third := twins(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]string{} // vehicles by bookings
	for _, w := range []*world{first, second} {
		for range writers {
			all.Go(func() {
				for range each {
					van := w.vehicle(`{"make":"A","model":"B","daily_rate":{"amount":5000,"currency":"USD"}}`)
					body := `{"vehicle_id":"` + van + `","pickup_at":"2031-05-01T10:00:00Z","return_at":"2031-05-04T10:00:00Z"}`
					got := w.do("POST", "/v1/bookings", body)
					if got.status != 201 || got.object()["vehicle_id"] != van {
						t.Errorf("%d %s", got.status, got.body)
						continue
					}
					mu.Lock()
					id := fmt.Sprint(got.object()["id"])
					if made[id] != "" {
						t.Errorf("%s is of %s and of %s", id, made[id], van)
					}
					made[id] = van
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	for id, van := range made {
		wantEqual(t, id, third.do("GET", "/v1/bookings/"+id, "").ok(200).object()["vehicle_id"], any(van))
		number, err := fleet.ParseID(fleet.VehiclePrefix, van)
		if err != nil {
			t.Fatal(err)
		}
		holds, err := third.api.desk.Calendars.Of(t.Context(), third.account, number)
		if err != nil || len(holds) != 1 || holds[0].Ref != id {
			t.Errorf("%s of %s: its calendar has %+v, %v", id, van, holds, err)
		}
	}
	records, claims, err := third.api.Store.Audit(t.Context())
	if err != nil || records+claims != 0 || len(made) != 2*writers*each {
		t.Errorf("%d are made, %d revisions and %d claims are double, %v", len(made), records, claims, err)
	}
}

func TestBlocksUnderOneIDKeepTheirOwnTimes(t *testing.T) {
	first, second, third := twins(t)
	van := third.vehicle(`{"make":"A","model":"B"}`)
	var all sync.WaitGroup
	for n, w := range []*world{first, second} {
		all.Go(func() {
			for i := range 3 {
				day := 1 + 2*(2*i+n)
				body := fmt.Sprintf(`{"from":"2031-01-%02dT00:00:00Z","until":"2031-01-%02dT00:00:00Z","kind":"manual","reason":"x"}`, day, day+1)
				made := w.do("POST", "/v1/vehicles/"+van+"/blocks", body)
				if made.status != 201 || !strings.HasPrefix(fmt.Sprint(made.object()["from"]), fmt.Sprintf("2031-01-%02d", day)) {
					t.Errorf("block of day %d: %d %s", day, made.status, made.body)
				}
			}
		})
	}
	all.Wait()
	busy := first.do("GET", "/v1/vehicles/"+van+
		"/calendar?from=2031-01-01T00:00:00Z&until=2031-02-01T00:00:00Z", "").ok(200)
	for day := 1; day <= 11; day += 2 {
		if !strings.Contains(string(busy.body), fmt.Sprintf("2031-01-%02dT00:00:00", day)) {
			t.Errorf("day %d is not in the calendar: %s", day, busy.body)
		}
	}
}
