package bulk

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account fleet.AccountID = 9

var by = record.Author{Actor: "test"}

// one is any of some.
func one[T any](rng *rand.Rand, some ...T) T { return some[rng.IntN(len(some))] }

var (
	vehicles = []uint64{11, 12, 13}
	names    = []string{"Ada Lovelace", "ada lovelace", "Grace Hopper", ""}
	licences = []string{"AB-123", "ab 123", "ÄÖ 77", "äö77", "", "№5", "straß-1"}
	emails   = []string{"Ada@Example.com", " ada@example.com ", "grace@example.com", ""}
	phones   = []string{"+15125550100", "+1 (512) 555-0100", "5125550100", "+442079460018", "", "5550100"}
	births   = []string{"1990-01-02", "1991-03-04", ""}
)

func description(rng *rand.Rand) record.CustomerFields {
	c := record.CustomerFields{Type: "person", DisplayName: one(rng, names...), Email: one(rng, emails...),
		Phone: one(rng, phones...), DateOfBirth: one(rng, births...),
		RiskLevel: one(rng, "normal", "normal", record.RiskBlocked)}
	if rng.IntN(3) > 0 {
		c.Licence = &record.Licence{Number: one(rng, licences...), Country: one(rng, "US", "DE"), Region: one(rng, "", "NE")}
	}
	if rng.IntN(4) == 0 {
		c.DistinctFrom = []string{fleet.FormatID(fleet.CustomerPrefix, rng.Uint64N(100))}
	}
	return c
}

// write writes some random records of each kind that is read.
func write(t *testing.T, rng *rand.Rand, d *desk.Desk, at time.Time) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 25 {
		c := record.Customer{CustomerFields: description(rng)}
		if rng.IntN(5) == 0 {
			c.DoNotRent = &record.DoNotRent{Active: rng.IntN(3) > 0}
		}
		if rng.IntN(8) == 0 {
			c.ErasingSince = record.InstantOf(at)
		}
		rec, err := d.Customers.New(t.Context(), by, account, c)
		must(err)
		if rng.IntN(6) == 0 {
			_, err := d.Customers.Archive(t.Context(), by, account, rec.ID, 0, nil)
			must(err)
		}
	}
	car := func() string { return fleet.FormatID(fleet.VehiclePrefix, one(rng, vehicles...)) }
	booking := func() string { return fleet.FormatID(fleet.BookingPrefix, 1+rng.Uint64N(4)) }
	for range 20 {
		m := record.MeterReading{VehicleID: car(), Meter: one(rng, query.Odometer, query.Odometer, query.EngineHours),
			Value:      float64(rng.IntN(1000)),
			RecordedAt: record.InstantOf(at.Add(time.Duration(rng.IntN(20*3_600_000)) * time.Millisecond)),
			Source:     one(rng, "manual", "pickup"),
			Voided:     rng.IntN(4) == 0}
		_, err := d.Readings.New(t.Context(), by, account, m)
		must(err)
		// Of a booking that is not there no postings and no states follow.
		_, err = d.Payments.New(t.Context(), by, account, record.Payment{PaymentFields: record.PaymentFields{
			BookingID: booking(), Direction: "in", Method: "cash", Amount: record.Money{Amount: 100, Currency: "USD"},
			ReceivedAt: record.InstantOf(at)}, Status: "pending"})
		must(err)
		_, err = d.Issues.New(t.Context(), by, account, record.Issue{IssueFields: record.IssueFields{VehicleID: car(),
			Severity: one(rng, "safety_critical", "minor"), Description: "noise"},
			Status: one(rng, "open", "in_progress", "resolved")})
		must(err)
		_, err = d.Work.New(t.Context(), by, account, record.WorkOrder{WorkOrderFields: record.WorkOrderFields{
			VehicleID: car(), Type: "corrective", Title: "Repair"},
			Status: one(rng, record.WorkDraft, record.WorkInProgress, record.WorkOnHold)})
		must(err)
	}
}

// same asks both the same, and wants the same answer.
func same[T any](t *testing.T, what string, memory, store func() (T, error)) {
	t.Helper()
	a, err := memory()
	if err != nil {
		t.Errorf("%s from memory: %v", what, err)
	}
	b, err := store()
	if err != nil {
		t.Errorf("%s from the store: %v", what, err)
	}
	if diff := cmp.Diff(b, a, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
		t.Errorf("%s: from the store (-) and from memory (+):\n%s", what, diff)
	}
}

// agree asks memory and store at random.
func agree(t *testing.T, rng *rand.Rand, ctx context.Context, memory, store base.Reads, at time.Time) {
	t.Helper()
	people := make([]query.Sought, 120) // who are looked for at the same moment are looked for together
	var work errgroup.Group
	for i := range people {
		c := description(rng)
		p := &people[i]
		p.Person = query.Person{Name: c.DisplayName, DateOfBirth: c.DateOfBirth, Email: record.Normal(c.Email),
			Phones: record.Dialled(c.Phone), PhoneEnd: record.PhoneEnd(c.Phone)}
		if c.Licence != nil {
			p.LicenceNumber = c.Licence.Number
		}
		p.Archived = rng.IntN(2) == 0
		if like, err := memory.CustomersLike(ctx, account, p); err == nil && len(like) > 0 && rng.IntN(2) == 0 {
			p.Self = one(rng, like...).ID
		}
		work.Go(func() error {
			same(t, fmt.Sprintf("customers like %+v", p),
				func() ([]query.Likeness, error) { return memory.CustomersLike(ctx, account, p) },
				func() ([]query.Likeness, error) { return store.CustomersLike(ctx, account, p) })
			if like, err := store.CustomersLike(ctx, account+1, p); len(like) > 0 || err != nil {
				t.Errorf("another account has customers like %+v: %v, %v", p, like, err)
			}
			return nil
		})
	}
	_ = work.Wait()
	for range 60 {
		vehicle, kind := one(rng, vehicles...), one(rng, query.Odometer, query.EngineHours)
		when := at.Add(time.Duration(rng.IntN(25)-2) * time.Hour)
		same(t, fmt.Sprintf("readings of %d around %s", vehicle, when),
			func() (query.Around, error) { return memory.MetersAround(ctx, account, vehicle, kind, when) },
			func() (query.Around, error) { return store.MetersAround(ctx, account, vehicle, kind, when) })
	}
	for _, vehicle := range vehicles {
		type kept struct{ Issues, Work []string }
		ask := func(r base.Reads) func() (kept, error) {
			return func() (k kept, err error) {
				k.Issues, k.Work, err = r.Hindrances(ctx, account, vehicle)
				return k, err
			}
		}
		same(t, "hindrances", ask(memory), ask(store))
		for hours := range 20 {
			when := at.Add(time.Duration(hours) * time.Hour)
			same(t, fmt.Sprintf("meters of %d at %s", vehicle, when),
				func() (map[uint64]query.Meters, error) {
					return memory.MetersNow(ctx, account, []uint64{vehicle}, when)
				},
				func() (map[uint64]query.Meters, error) { return store.MetersNow(ctx, account, []uint64{vehicle}, when) })
		}
	}
	for booking := uint64(1); booking < 6; booking++ {
		sorted := func(r base.Reads) func() ([]uint64, error) {
			return func() ([]uint64, error) {
				ids, err := r.PaymentsOf(ctx, account, booking)
				slices.Sort(ids)
				return ids, err
			}
		}
		same(t, "payments", sorted(memory), sorted(store))
		papers := func(r base.Reads) func() ([]query.StoredPaper, error) {
			return func() ([]query.StoredPaper, error) {
				return r.PapersOfBooking(ctx, account, fleet.FormatID(fleet.BookingPrefix, booking), record.Invoices.Name)
			}
		}
		same(t, "papers", papers(memory), papers(store))
	}
}

// What memory answers is what the store does: of what stood before a draft, and of what the draft has made, once it is
// written.
func TestMemoryAnswersWhatTheStoreDoes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	db := schematest.Open(t)
	now := time.Now().Truncate(time.Millisecond)
	clock := func() time.Time { return now }
	cfg := record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute, Log: slog.New(slog.DiscardHandler)}
	store, err := record.NewStore(cfg, db, fleet.NewIDSource(1, time.Now), clock)
	if err != nil {
		t.Fatal(err)
	}
	d := desk.New(store, db, clock, cfg.Log)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "Test", Timezone: "UTC", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	at := now.AddDate(0, 0, -2)
	write(t, rng, d, at)
	b, err := Begin(t.Context(), d, account)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, rng, t.Context(), b.tables, d.Reads, at)
	draft, err := b.Draft(record.Ref{}, fleet.NewIDSource(2, time.Now), clock)
	if err != nil {
		t.Fatal(err)
	}
	write(t, rng, draft.Desk, at)
	if moved, err := b.Write(t.Context(), draft); err != nil || len(moved) > 0 {
		t.Fatalf("%d have moved, %v", len(moved), err)
	}
	agree(t, rng, t.Context(), draft.Reads, d.Reads, at)
}
