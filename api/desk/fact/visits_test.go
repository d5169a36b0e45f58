package fact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// visit is a stay of a vehicle in a geofence as the tests know it.
type visit struct {
	vehicle, geofence, id uint64
	revision              uint32
	start, end            time.Time
	open, deleted         bool
}

// stay stores a visit, the next revision of it.
func (w *world) stay(v *visit) {
	w.t.Helper()
	v.revision++
	err := w.db.Exec(w.t.Context(), fmt.Sprintf(`INSERT INTO visits (account, vehicle, id, revision, start_at, end_at,
		open, deleted, updated_at, geofence) VALUES (7, %d, %d, %d, '%s', '%s', %v, %v, now64(3), %d)`, v.vehicle, v.id,
		v.revision, sqlTime(v.start), sqlTime(v.end), v.open, v.deleted, v.geofence))
	if err != nil {
		w.t.Fatal(err)
	}
}

// geofenceDays are those that stand, by day, vehicle and geofence.
func (w *world) geofenceDays() map[string]facts {
	w.t.Helper()
	all := map[string]facts{}
	err := schemas.EachRow(w.t.Context(), w.db, "read days in geofences", `SELECT concat(toString(local_date), ' ',
		toString(vehicle), ' ', toString(geofence)), toInt64(stays), toInt64(visits), inside_s, visit_s
		FROM geofence_days FINAL WHERE stays > 0`, nil, func(row schemas.Row) error {
		var key string
		var stays, visits, inside, lasted int64
		if err := row.Scan(&key, &stays, &visits, &inside, &lasted); err != nil {
			return err
		}
		all[key] = facts{"stays": stays}
		all[key].add("visits", visits)
		all[key].add("inside_s", inside)
		all[key].add("visit_s", lasted)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// stayed counts what days in geofences ought to be.
func (w *world) stayed(visits []*visit) map[string]facts {
	all := map[string]facts{}
	whole := func(t time.Time) int64 { return (t.UnixMilli() + 500) / 1000 }
	for _, v := range visits {
		if v.deleted {
			continue
		}
		zone := load(w.t, get(w, w.base.Vehicles, v.vehicle).Body.Timezone)
		day := v.start.In(zone).Format(dateForm)
		for first := true; ; first, day = false, next(day) {
			begins, ends := w.midnight(day, zone), w.midnight(next(day), zone)
			if !first && !v.end.After(begins) {
				break
			}
			key := fmt.Sprintf("%s %d %d", day, v.vehicle, v.geofence)
			if all[key] == nil {
				all[key] = facts{}
			}
			f := all[key]
			f.add("stays", 1)
			f.add("inside_s", min(whole(v.end), ends.Unix())-max(whole(v.start), begins.Unix()))
			if first {
				f.add("visits", 1)
				f.add("visit_s", whole(v.end)-whole(v.start))
			}
		}
	}
	return all
}

// Vehicles stay in geofences for hours or weeks, fall silent and are heard of again, and what was taken for a visit is
// another one or none when late data come. Whatever happened between two looks, days in geofences are those of the
// visits as they stand, and made again from nothing they are the same.
func TestDaysInGeofencesAreThoseOfTheVisits(t *testing.T) {
	w := open(t, "UTC")
	w.rng = rand.New(rand.NewPCG(3, 4))
	w.now = time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	for _, zone := range zones {
		w.vehicle(zone, "2026-02-25")
	}
	w.look()
	w.now = w.now.Add(time.Hour) // so that nothing but visits is made again
	var visits []*visit
	newest := map[[2]uint64]*visit{} // of a vehicle and a geofence
	later := func(t time.Time, days int) time.Time {
		return earlier(w.now, t.Add(time.Duration(w.rng.Int64N(int64(days)*24*3600_000))*time.Millisecond))
	}
	step := func() {
		vehicle, _ := pick(w, w.vehicles)
		pair := [2]uint64{vehicle, 1 + w.rng.Uint64N(2)}
		v := newest[pair]
		switch what := w.rng.IntN(10); {
		case v == nil || !v.open && what < 6: // one begins, which may have lasted for long before it is known
			start := w.now.AddDate(0, 0, -60)
			if v != nil {
				start = v.end
			}
			start = later(start.Add(time.Second), 20)
			if start.Before(w.now) {
				v = &visit{vehicle: vehicle, geofence: pair[1], id: uint64(len(visits) + 1), start: start,
					end: later(start, 1), open: true}
				newest[pair], visits = v, append(visits, v)
				w.stay(v)
			}
		case v.open && what < 7: // it goes on, also after days of silence
			v.end = later(v.end, []int{1, 9}[w.rng.IntN(2)])
			w.stay(v)
		case what == 7 && w.rng.IntN(2) == 0: // it began earlier than it was thought to, so it is another one
			was := *v
			was.deleted = true
			w.stay(&was)
			*v = was
			began := visit{vehicle: v.vehicle, geofence: v.geofence, id: uint64(len(visits) + 1), end: v.end, open: v.open,
				start: v.start.Add(-time.Duration(w.rng.IntN(40*24*3600)) * time.Second)}
			newest[pair], visits = &began, append(visits, &began)
			w.stay(&began)
		case what < 8: // it ends, or it ended earlier than it was thought to
			v.end = v.start.Add(time.Duration(w.rng.Int64N(v.end.Sub(v.start).Milliseconds()+1)) * time.Millisecond)
			v.open = w.rng.IntN(3) > 0
			w.stay(v)
		default: // another of them was shorter, or is none
			if v, ok := pick(w, visits); ok && !v.open {
				v.end = v.start.Add(v.end.Sub(v.start) / 2)
				v.deleted = w.rng.IntN(2) == 0
				w.stay(v)
			}
		}
	}
	w.look()
	w.flaky.rng = rand.New(rand.NewPCG(5, 6))
	for range 16 {
		for range 6 + w.rng.IntN(6) {
			step()
		}
		w.look()
		same(t, "days in geofences", w.geofenceDays(), w.stayed(visits))
	}
	if w.flaky.rng = nil; w.flaky.failed == 0 {
		t.Error("no process died")
	}
	update(w, w.base.Vehicles, w.vehicles[0], func(v *record.Vehicle) { v.Timezone = zones[1] })
	w.look()
	days := w.geofenceDays()
	same(t, "days in another zone", days, w.stayed(visits))
	if len(days) < 50 {
		t.Errorf("%d days are few", len(days))
	}
	var old []string // of which every revision goes, as an earlier one may end later
	for _, v := range visits {
		if v.end.Before(w.now.AddDate(0, 0, -30)) {
			old = append(old, fmt.Sprint(v.id))
		}
	}
	for _, text := range []string{"OPTIMIZE TABLE geofence_days FINAL", "TRUNCATE TABLE geofence_days",
		"ALTER TABLE visits DELETE WHERE id IN (" + strings.Join(old, ", ") + ") SETTINGS mutations_sync = 1"} {
		if err := w.db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "ALTER") { // what is gone keeps its days, until these go too
			update(w, w.base.Accounts, uint64(account), func(a *record.Account) { a.RetentionDays = 30 })
		}
		from, to, err := w.facts.Extent(t.Context(), account)
		if err == nil {
			err = w.facts.Make(t.Context(), account, from, to, func(fact.Made) error { return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, text, w.geofenceDays(), days)
	}
}
