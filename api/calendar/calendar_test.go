package calendar_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account = fleet.AccountID(7)

var (
	by    = record.Author{Actor: "test"}
	begin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
)

func hour(h int) record.Instant { return record.InstantOf(begin.Add(time.Duration(h) * time.Hour)) }

// desk is calendars on a clock that tests move, and holders that want what the test says.
type desk struct {
	*calendar.Calendars
	store *record.Store
	mu    sync.Mutex
	now   time.Time
	wants map[string]bool
}

func newDesk(t *testing.T, db driver.Conn, node uint64, shared bool) *desk {
	t.Helper()
	d := &desk{now: begin.Add(-time.Hour), wants: map[string]bool{}}
	clock := func() time.Time {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.now
	}
	var err error
	d.store, err = record.NewStore(record.Config{Deadline: 50 * time.Second, Abandoned: 100 * time.Second}, db,
		fleet.NewIDSource(node, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	make := calendar.New
	if shared {
		make = calendar.NewShared
	}
	d.Calendars = make(calendar.DefaultConfig(), d.store,
		func(_ context.Context, _ fleet.AccountID, _ uint64, h calendar.Hold) (bool, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.wants[h.Ref], nil
		}, clock)
	return d
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

func (d *desk) take(t *testing.T, ref string, from, until int, change ...func(*calendar.Hold)) error {
	t.Helper()
	h := calendar.Hold{Ref: ref, From: hour(from), Until: hour(until)}
	for _, f := range change {
		f(&h)
	}
	_, err := d.Take(t.Context(), by, account, 1, h)
	return err
}

// shown are the holds of vehicle 1: "a 1-3 b 5-7".
func (d *desk) shown(t *testing.T) string {
	t.Helper()
	holds, err := d.Of(t.Context(), account, 1)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, h := range holds {
		text += fmt.Sprintf("%s %d-%d ", h.Ref, int(h.From.Sub(begin).Hours()), int(h.Until.Sub(begin).Hours()))
	}
	return text
}

func wantTaken(t *testing.T, err error, ref string) {
	t.Helper()
	taken, ok := errors.AsType[*calendar.ConflictError](err)
	if !ok || taken.Hold.Ref != ref || fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("%v, want a conflict with %s", err, ref)
	}
}

func wantDone(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func wantHolds(t *testing.T, d *desk, want string) {
	t.Helper()
	if got := d.shown(t); got != want {
		t.Errorf("holds %q, want %q", got, want)
	}
}

func TestOneOfTwoThatOverlapIsRefused(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	wantDone(t, d.take(t, "a", 1, 3))
	wantTaken(t, d.take(t, "b", 2, 4), "a")
	wantTaken(t, d.take(t, "b", 0, 2), "a")
	wantTaken(t, d.take(t, "b", 0, 9), "a")
	wantDone(t, d.take(t, "b", 3, 4)) // half open
	wantDone(t, d.take(t, "c", 0, 1))
	wantDone(t, d.take(t, "a", 1, 2)) // its own is no obstacle
	wantHolds(t, d, "c 0-1 a 1-2 b 3-4 ")
	if err := d.take(t, "d", 5, 5); fleet.CodeOf(err) != fleet.CodeValidation {
		t.Errorf("an empty period: %v", err)
	}
	wantDone(t, d.Give(t.Context(), by, account, 1, "a"))
	wantDone(t, d.Give(t.Context(), by, account, 1, "a"))
	wantDone(t, d.Give(t.Context(), by, account, 99, "a"))
	wantHolds(t, d, "c 0-1 b 3-4 ")
	imported := calendar.Hold{Ref: "imported", From: hour(0), Until: hour(4), Conflict: true}
	all, err := d.Take(t.Context(), by, account, 1, imported)
	wantDone(t, err)
	if beside := all.Beside(&imported, d.now); len(beside) != 2 {
		t.Errorf("it overlaps %d", len(beside))
	}
}

// The buffer after a rental keeps other rentals away, and neither a block nor a work order: they may begin when the
// vehicle is back.
func TestWorkMayBeginInTheBufferAfterARental(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	backAt := func(h int) func(*calendar.Hold) { return func(o *calendar.Hold) { o.Back = hour(h) } }
	wantDone(t, d.take(t, "bkg_1", 1, 5, backAt(3)))
	buffered := d.take(t, "bkg_2", 3, 4)
	wantTaken(t, buffered, "bkg_1")
	if want := "until " + hour(3).Format(time.RFC3339) + ", with the buffer after it until " +
		hour(5).Format(time.RFC3339) + "."; !strings.Contains(buffered.Error(), want) {
		t.Errorf("%v does not tell the buffer: %s", buffered, want)
	}
	wantTaken(t, d.take(t, "wo_1", 2, 4), "bkg_1")
	wantDone(t, d.take(t, "wo_1", 3, 4))
	wantTaken(t, d.take(t, "blk_1", 3, 5), "wo_1")
	wantDone(t, d.take(t, "blk_1", 4, 6))
	wantTaken(t, d.take(t, "bkg_2", 4, 7), "bkg_1")
	wantTaken(t, d.take(t, "bkg_2", 5, 7), "blk_1")
	// The rental can have no more time that is somebody else's now, and keeps what it has.
	wantTaken(t, d.take(t, "bkg_1", 1, 6, backAt(4)), "wo_1")
	wantDone(t, d.take(t, "bkg_1", 1, 5, backAt(3), func(h *calendar.Hold) { h.Open = true }))
	// One that is overdue has not come back, whatever was planned.
	wantDone(t, d.Give(t.Context(), by, account, 1, "wo_1"))
	d.wants["bkg_1"] = true
	d.pass(5 * time.Hour)
	wantTaken(t, d.take(t, "wo_1", 3, 4), "bkg_1")
}

func TestAHoldThatLapsedOrWasAbandonedMakesWay(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	wantDone(t, d.take(t, "lapses", 1, 3, func(h *calendar.Hold) {
		h.Expires = record.InstantOf(begin.Add(-30 * time.Minute))
	}))
	wantTaken(t, d.take(t, "b", 1, 3), "lapses")
	d.pass(30 * time.Minute)
	wantDone(t, d.take(t, "b", 1, 3))
	// Nobody has written b, and for a while nobody may say so.
	cfg := calendar.DefaultConfig()
	d.pass(cfg.Abandoned + cfg.Skew - time.Second)
	wantTaken(t, d.take(t, "c", 1, 3), "b")
	d.pass(2 * time.Second)
	wantDone(t, d.take(t, "c", 1, 3))
	wantHolds(t, d, "c 1-3 ")
	d.wants["c"] = true
	d.pass(time.Hour)
	wantTaken(t, d.take(t, "e", 1, 3), "c")
}

func TestWhatIsLongOverIsForgotten(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	wantDone(t, d.take(t, "a", 1, 3))
	wantDone(t, d.take(t, "out", 3, 4, func(h *calendar.Hold) { h.Open = true }))
	d.pass(calendar.DefaultConfig().Kept + 5*time.Hour)
	wantDone(t, d.take(t, "b", 100000, 100001))
	wantHolds(t, d, "out 3-4 b 100000-100001 ")
}

func TestAVehicleThatIsOutIsOutUntilItIsBack(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	d.wants["out"] = true
	wantDone(t, d.take(t, "out", 0, 2, func(h *calendar.Hold) { h.Open = true }))
	d.pass(5 * time.Hour) // it is hour 4
	wantTaken(t, d.take(t, "now", 4, 6), "out")
	wantTaken(t, d.take(t, "past", 3, 4), "out")
	wantDone(t, d.take(t, "later", 5, 6)) // it may be back by then
	wantDone(t, d.Give(t.Context(), by, account, 1, "out"))
	wantDone(t, d.take(t, "now", 4, 5))
}

func TestBidsStandBesideUntilOneIsSettled(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	rev := func(n, bid uint64) func(*calendar.Hold) {
		return func(h *calendar.Hold) { h.Rev, h.Bid = n, bid }
	}
	settle := func(rev uint64, want *calendar.Hold) {
		t.Helper()
		wantDone(t, d.SettleHolder(t.Context(), by, account, 1, "a", func(context.Context) (uint64, *calendar.Hold, error) {
			if want == nil {
				return rev, nil, nil
			}
			again := *want
			return rev, &again, nil
		}))
	}
	wantDone(t, d.take(t, "a", 1, 3, rev(1, 11)))
	wantDone(t, d.take(t, "a", 1, 5, rev(2, 12)))
	wantDone(t, d.take(t, "a", 2, 8, rev(2, 13)))
	wantHolds(t, d, "a 1-3 a 1-5 a 2-8 ")
	wantTaken(t, d.take(t, "b", 7, 8), "a")
	// The first of the two was written, the second is withdrawn by whoever lost.
	settle(2, &calendar.Hold{Ref: "a", From: hour(1), Until: hour(5)})
	wantHolds(t, d, "a 1-5 ")
	wantDone(t, d.Withdraw(t.Context(), by, account, 1, calendar.Hold{Ref: "a", Rev: 2, Bid: 13}))
	wantDone(t, d.take(t, "a", 1, 9, rev(3, 14)))
	wantDone(t, d.take(t, "a", 9, 10, rev(3, 15)))
	wantDone(t, d.Withdraw(t.Context(), by, account, 1, calendar.Hold{Ref: "a", Rev: 3, Bid: 15}))
	wantHolds(t, d, "a 1-5 a 1-9 ")
	settle(2, &calendar.Hold{Ref: "a", From: hour(1), Until: hour(5)}) // late and again: the bid for the third stays
	wantHolds(t, d, "a 1-5 a 1-9 ")
	settle(3, &calendar.Hold{Ref: "a", From: hour(1), Until: hour(9)})
	wantHolds(t, d, "a 1-9 ")
	// Two bid the same: the one that lost withdraws its own after the other was settled.
	wantDone(t, d.take(t, "a", 1, 7, rev(4, 16)))
	wantDone(t, d.take(t, "a", 1, 7, rev(4, 17)))
	settle(4, &calendar.Hold{Ref: "a", From: hour(1), Until: hour(7)})
	for _, lost := range []uint64{16, 17} { // whichever of them it was
		wantDone(t, d.Withdraw(t.Context(), by, account, 1, calendar.Hold{Ref: "a", Rev: 4, Bid: lost}))
	}
	wantHolds(t, d, "a 1-7 ")
	settle(5, nil)
	wantHolds(t, d, "")
	// Settling a calendar that was never written, of a holder that wants nothing of it, writes none.
	wantDone(t, d.SettleHolder(t.Context(), by, account, 5, "a",
		func(context.Context) (uint64, *calendar.Hold, error) { return 1, nil, nil }))
	if holds, err := d.Of(t.Context(), account, 5); err != nil || holds != nil {
		t.Errorf("%v, %v", holds, err)
	}
	// What a holder wants is put in though nobody took it.
	wantDone(t, d.SettleHolder(t.Context(), by, account, 1, "z", func(context.Context) (uint64, *calendar.Hold, error) {
		return 1, &calendar.Hold{Ref: "z", From: hour(1), Until: hour(2)}, nil
	}))
	wantHolds(t, d, "z 1-2 ")
}

func TestARequestThatIsRepeatedIsRefusedForWhatIsInTheWayByNow(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, false)
	again := record.Author{Actor: "test", RequestID: "req_1", Command: 1, Again: true}
	hold := calendar.Hold{Ref: "a", From: hour(1), Until: hour(3), Rev: 1, Bid: 11}
	wantDone(t, d.take(t, "b", 2, 4))
	_, err := d.Take(t.Context(), again, account, 1,
		calendar.Hold{Ref: "a", From: hour(5), Until: hour(6), Rev: 1, Bid: 10})
	wantDone(t, err)
	wantDone(t, d.Withdraw(t.Context(), again, account, 1, calendar.Hold{Ref: "a", Rev: 1, Bid: 10}))
	_, err = d.Take(t.Context(), again, account, 1, hold)
	wantTaken(t, err, "b")
}

func TestInAClassHoldsLieBesideEachOther(t *testing.T) {
	d := newDesk(t, schematest.Open(t), 1, true)
	wantDone(t, d.take(t, "a", 1, 3))
	all, err := d.Take(t.Context(), by, account, 1, calendar.Hold{Ref: "b", From: hour(2), Until: hour(4)})
	wantDone(t, err)
	if len(all.Holds) != 1 || all.Holds[0].Ref != "a" {
		t.Errorf("beside %v", all.Holds)
	}
	wantHolds(t, d, "a 1-3 b 2-4 ")
}

// Many take and give at random, from two stores. Whoever was told that it has a period has it alone, from then
// until it gives it.
func TestNoTwoHoldsEverOverlap(t *testing.T) {
	db := schematest.Open(t)
	desks := []*desk{newDesk(t, db, 1, false), newDesk(t, db, 2, false)}
	type span struct{ vehicle, from, until int }
	var mu sync.Mutex
	held := map[string]span{}
	taken, refused := 0, 0
	var group errgroup.Group
	for worker := range 8 {
		group.Go(func() error {
			d, random := desks[worker%2], rand.New(rand.NewPCG(uint64(worker), 4))
			for turn := range 12 {
				ref := fmt.Sprintf("w%dt%d", worker, turn)
				s := span{vehicle: 1 + random.IntN(2), from: random.IntN(30)}
				s.until = s.from + 1 + random.IntN(6)
				_, err := d.Take(t.Context(), by, account, uint64(s.vehicle),
					calendar.Hold{Ref: ref, From: hour(s.from), Until: hour(s.until)})
				if _, conflict := errors.AsType[*calendar.ConflictError](err); err != nil && !conflict {
					return err
				}
				mu.Lock()
				if err == nil {
					taken++
					for other, o := range held {
						if o.vehicle == s.vehicle && o.from < s.until && s.from < o.until {
							t.Errorf("%s has %v and %s has %v", ref, s, other, o)
						}
					}
					held[ref] = s
				} else {
					refused++
				}
				mu.Unlock()
				if err == nil && random.IntN(2) == 0 {
					// It is given up here before it is given up there: nobody may have it in between.
					mu.Lock()
					delete(held, ref)
					mu.Unlock()
					if err := d.Give(t.Context(), by, account, uint64(s.vehicle), ref); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if taken < 10 || refused < 10 {
		t.Errorf("%d taken, %d refused: too little happened", taken, refused)
	}
	for vehicle := 1; vehicle <= 2; vehicle++ {
		holds, err := desks[0].Of(t.Context(), account, uint64(vehicle))
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, s := range held {
			if s.vehicle == vehicle {
				count++
			}
		}
		if len(holds) != count {
			t.Errorf("vehicle %d: %d holds, %d were taken and not given", vehicle, len(holds), count)
		}
		for i := 1; i < len(holds); i++ {
			if holds[i].From.Before(holds[i-1].Until.Time) {
				t.Errorf("vehicle %d: %v and %v", vehicle, holds[i-1], holds[i])
			}
		}
	}
}

// What writers of calendars bring to their table is what their feed makes of the log: every hold, at its place.
func TestTheTableOfCalendarsIsAsItsFeedMakesIt(t *testing.T) {
	const n = 30
	db := schematest.Open(t)
	d := newDesk(t, db, 1, false)
	rng := rand.New(rand.NewPCG(3, 4))
	for i, kind := range []record.Kind[calendar.Calendar]{calendar.Kind, calendar.ClassKind} {
		log := record.NewLog(d.store, kind)
		for range n {
			var c calendar.Calendar
			schematest.Fill(rng, &c)
			made, _, err := log.Create(t.Context(), by, account+fleet.AccountID(i), d.store.NextID(), c)
			if err != nil {
				t.Fatal(err)
			}
			if err := log.UpdateSeen(t.Context(), nil, by, made.Account, made.ID,
				func(r *record.Record[calendar.Calendar]) error {
					schematest.Fill(rng, &r.Body)
					return nil
				}); err != nil {
				t.Fatal(err)
			}
		}
	}
	schematest.FeedAgrees(t, db, "calendars", 2*n)
	rows, err := db.Query(t.Context(),
		`SELECT record_log.body, hold_refs, hold_from, hold_until, hold_expires, hold_conflict, hold_open,
			hold_begins, hold_ends
		FROM calendars FINAL
		INNER JOIN record_log ON record_log.kind = calendars.kind AND record_log.id = calendars.id
			AND record_log.revision = calendars.revision`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	read := 0
	for ; rows.Next(); read++ {
		var body string
		var refs, begins, ends []string
		var from, until, expires []time.Time
		var conflict, open []bool
		if err := rows.Scan(&body, &refs, &from, &until, &expires, &conflict, &open, &begins, &ends); err != nil {
			t.Fatal(err)
		}
		var c calendar.Calendar
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			t.Fatal(err)
		}
		if len(refs) != len(c.Holds) {
			t.Errorf("%d of %d holds", len(refs), len(c.Holds))
			continue
		}
		for i, h := range c.Holds {
			same := refs[i] == h.Ref && conflict[i] == h.Conflict && open[i] == h.Open
			same = same && begins[i] == h.Begins && ends[i] == h.Ends
			if !same || !stored(from[i], h.From) || !stored(until[i], h.Until) || !stored(expires[i], h.Expires) {
				t.Errorf("%+v stands as %s from %s until %s, which lapses at %s", h, refs[i], from[i], until[i], expires[i])
			}
		}
	}
	if err := rows.Err(); err != nil || read != 2*n {
		t.Errorf("%d calendars, %v", read, err)
	}
}

// stored says whether an instant stands in a table as it should: one that is not known is 1970.
func stored(at time.Time, want record.Instant) bool {
	return at.Equal(want.Time) || want.IsZero() && at.Unix() == 0
}
