package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// Audit looks through the books of all accounts and repairs them. It is safe for concurrent use.
type Audit struct {
	*base.Base
	books *books.Books
	holds *holding.Holds
	facts *fact.Facts

	// Neither is set while duties are done.
	Apart time.Duration // of two looks: longer than a write takes
	To    Publisher     // of drifts; nil for none
}

// New opens the room.
func New(b *base.Base, books *books.Books, holds *holding.Holds, facts *fact.Facts) *Audit {
	return &Audit{Base: b, books: books, holds: holds, facts: facts, Apart: schemas.RollupsApart}
}

// Look looks for drifts of all accounts.
func (a *Audit) Look(ctx context.Context) ([]Drift, error) { return Look(ctx, a.DB, a.Now(), a.Apart) }

// Repair makes again, from the log of revisions and the entries of the ledger, what drifts are about, and returns what
// has drifted still. What it does may be repeated, by any number of processes.
func (a *Audit) Repair(ctx context.Context, drifts []Drift) ([]Drift, error) {
	for _, check := range Checks {
		var some []Drift
		for _, d := range drifts {
			if d.Check == check {
				some = append(some, d)
			}
		}
		if len(some) == 0 {
			continue
		}
		if err := a.repair(ctx, check, some); err != nil {
			return drifts, fmt.Errorf("repair %s: %w", check, err)
		}
	}
	if len(drifts) == 0 {
		return nil, nil
	}
	return a.Look(ctx)
}

func (a *Audit) repair(ctx context.Context, check string, drifts []Drift) error {
	switch check {
	case Counts:
		var kinds []string
		for _, d := range drifts {
			if d.kind != "" && !slices.Contains(kinds, d.kind) {
				kinds = append(kinds, d.kind)
			}
		}
		return schemas.Fill(ctx, a.DB, kinds...)
	case Transactions, Deposits:
		return a.postAgain(ctx, drifts)
	case Rollups:
		return a.repairRollups(ctx, time.Time{})
	case Calendars:
		return base.Each(ctx, eachRecord(drifts), func(d Drift) error { return a.settleCalendar(ctx, d) })
	default:
		return a.makeFacts(ctx, drifts)
	}
}

// eachRecord leaves of the drifts about one record the first.
func eachRecord(drifts []Drift) (all []Drift) {
	type about struct {
		account fleet.AccountID
		kind    string
		id      uint64
	}
	seen := map[about]bool{}
	for _, d := range drifts {
		if key := (about{d.Account, d.kind, d.id}); !seen[key] {
			seen[key] = true
			all = append(all, d)
		}
	}
	return all
}

// postAgain posts every revision of the records again: what the books have of it stays as it is, and what they lack is
// written. Rows of entries that stand twice become one.
func (a *Audit) postAgain(ctx context.Context, drifts []Drift) error {
	doubled := slices.ContainsFunc(drifts, func(d Drift) bool { return d.What == "doubled" })
	err := base.Each(ctx, eachRecord(drifts), func(d Drift) error {
		if d.What == "doubled" {
			return nil
		}
		return a.Store.EachWritten(ctx, d.Account, d.kind, d.id, func(w record.Written) error { return a.books.Post(ctx, w) })
	})
	if err == nil && doubled {
		if err = a.DB.Exec(ctx, schemas.Query("ledger_merge")); err != nil {
			return fmt.Errorf("merge the entries: %w", err)
		}
	}
	return err
}

// repairRollups repairs the months of the rollups that have entries of records written since an instant, all if it is
// zero.
func (a *Audit) repairRollups(ctx context.Context, since time.Time) error {
	months, err := schemas.RollupMonths(ctx, a.DB, since)
	if err != nil {
		return err
	}
	done, err := schemas.RepairRollups(ctx, a.DB, months, a.Apart)
	for _, r := range done {
		a.Log.WarnContext(ctx, "sums of the ledger were put right", "table", r.Table, "month", r.Month, "keys", r.Keys)
	}
	return err
}

// settleCalendar makes the calendar of a booking's vehicle say what the booking says, and then its facts.
func (a *Audit) settleCalendar(ctx context.Context, d Drift) error {
	r, err := a.Bookings.Get(ctx, d.Account, d.id)
	if err != nil {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, r.Body.VehicleID)
	if err != nil {
		return err
	}
	if err := a.holds.SettleBooking(ctx, record.System, d.Account, d.id, holding.Place{Vehicle: vehicle}); err != nil {
		return err
	}
	return a.makeFacts(ctx, []Drift{d})
}

// makeFacts makes the facts of the days of drifts again, of each account from the first to the last.
func (a *Audit) makeFacts(ctx context.Context, drifts []Drift) error {
	type span struct{ from, to ledger.Day }
	spans := map[fleet.AccountID]span{}
	for _, d := range drifts {
		from, to, err := a.days(ctx, d)
		if err != nil {
			return err
		}
		s, ok := spans[d.Account]
		if !ok {
			s = span{from, to}
		}
		spans[d.Account] = span{min(s.from, from), max(s.to, to)}
	}
	for account, s := range spans {
		if err := a.facts.Make(ctx, account, s.from, s.to, func(fact.Made) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// days are those that a drift is about: of a booking all that it lies on, in whatever zone.
func (a *Audit) days(ctx context.Context, d Drift) (from, to ledger.Day, err error) {
	from, err = ledger.ParseDay(d.day)
	if err != nil || d.kind != record.Bookings.Name {
		return from, from, err
	}
	r, err := a.Bookings.Get(ctx, d.Account, d.id)
	if err != nil {
		return from, from, err
	}
	for _, at := range []record.Instant{r.Body.PickupAt, r.Body.ActualPickupAt, r.Body.ReturnAt, r.Body.ActualReturnAt} {
		if !at.IsZero() {
			day := ledger.DayOf(at.Time, time.UTC)
			from, to = min(from, day-1), max(from, to, day+1)
		}
	}
	return from, to, nil
}
