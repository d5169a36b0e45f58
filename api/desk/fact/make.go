package fact

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// Bounds of what is made in one go. A statement costs about the same for a few days of vehicles as for a few thousand.
const (
	// Of each vehicle about ten bookings are made together: each of them meets all trips of its vehicle that lie in the
	// time of the batch. A batch has at least 1,000 bookings, and 30,000 at most.
	ofEachVehicle = 10
	togetherLeast = 1_000
	togetherMost  = 30_000
	// A batch whose rentals have more days than that is halved. A statement takes half a GB of memory for so many.
	rentalDays  = 600_000
	vehicleDays = 155_000 // a month of 5,000 vehicles
	sliceMonths = 12      // so that a slice reaches few partitions
)

// Made is what Make has come to: the facts of some days.
type Made struct {
	From, To ledger.Day // of the slice that is done now
	Took     time.Duration
}

// Make makes the facts of an account from one day to another again, from nothing but what they are made of, in slices
// of whole months, the newest first and two at a time, and says of each when it is done, one after the other. It may be
// stopped and begun again, beside everything else.
func (f *Facts) Make(ctx context.Context, id fleet.AccountID, from, to ledger.Day, done func(Made) error) error {
	all, _, err := f.accounts(ctx, id)
	if err != nil {
		return err
	}
	a, ok := all[uint64(id)]
	if !ok {
		return fleet.NewError(fleet.CodeNotFound, "There is no account "+id.String()+".")
	}
	first, last := f.reach(a)
	if from, to = max(from, first), min(to, last); from > to {
		return nil
	}
	bookings, err := f.bookingsBetween(ctx, a, from, to)
	if err != nil {
		return err
	}
	err = f.rentals(ctx, a, bookings, func(ctx context.Context) error { return f.statuses(ctx, a.id, time.Time{}) })
	if err != nil {
		return err
	}
	if err := f.customers(ctx, a, []uint64{}, 0); err != nil {
		return err
	}
	vehicles, err := f.vehiclesOf(ctx, a)
	if err != nil {
		return err
	}
	months := int(max(1, min(sliceMonths, vehicleDays/31/max(1, vehicles))))
	var said sync.Mutex
	work, ctx := f.sideBySide(ctx)
	for from <= to {
		first, last := max(from, to.Month(1-months)), to
		work.Go(func() error {
			begun := time.Now()
			if err := f.days(ctx, a, first, last, nil); err != nil {
				return err
			}
			if err := f.geofenceDays(ctx, a, first, last, nil); err != nil {
				return err
			}
			said.Lock()
			defer said.Unlock()
			return done(Made{first, last, time.Since(begun)})
		})
		to = first - 1
	}
	return work.Wait()
}

// sideBySide begins work of which two pieces are under way at a time, as the engine does most of one by one thread,
// unless there is but one connection.
func (f *Facts) sideBySide(ctx context.Context) (*errgroup.Group, context.Context) {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, min(2, f.DB.Stats().MaxOpenConns)))
	return work, ctx
}

// vehiclesOf counts the vehicles that an account has or had.
func (f *Facts) vehiclesOf(ctx context.Context, a account) (vehicles uint64, err error) {
	err = f.DB.QueryRow(ctx, schemas.Query("facts_fleet"), clickhouse.Named("account", a.id)).Scan(&vehicles)
	if err != nil {
		return 0, fmt.Errorf("count the vehicles of account %d: %w", a.id, err)
	}
	return vehicles, nil
}

// Extent returns the first and the last day of which an account has facts, or ought to; from is after to if there is
// none.
func (f *Facts) Extent(ctx context.Context, id fleet.AccountID) (from, to ledger.Day, err error) {
	all, _, err := f.accounts(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	a, ok := all[uint64(id)]
	if !ok {
		return 0, 0, fleet.NewError(fleet.CodeNotFound, "There is no account "+id.String()+".")
	}
	return f.extent(ctx, a)
}

// MakeAll makes all facts of all accounts again. It is for when what they are made of came back without having been
// written, as after a fill of tables: no look finds that.
func (f *Facts) MakeAll(ctx context.Context) error {
	_, order, err := f.accounts(ctx, 0)
	if err != nil {
		return err
	}
	for _, id := range order {
		from, to, err := f.Extent(ctx, fleet.AccountID(id))
		if err == nil && from <= to {
			err = f.Make(ctx, fleet.AccountID(id), from, to, func(Made) error { return nil })
		}
		if err != nil {
			return fmt.Errorf("make the facts of %s: %w", fleet.AccountID(id), err)
		}
	}
	return nil
}

func (f *Facts) extent(ctx context.Context, a account) (from, to ledger.Day, err error) {
	accounts, _, _ := ledger.Measured()
	var first, last time.Time
	err = f.DB.QueryRow(ctx, schemas.Query("facts_extent"), clickhouse.Named("account", a.id),
		clickhouse.Named("accounts", accounts)).Scan(&first, &last)
	if err != nil {
		return 0, 0, fmt.Errorf("read since when account %d has facts: %w", a.id, err)
	}
	if first.Unix() <= 0 {
		return 1, 0, nil
	}
	from, to = f.reach(a)
	today := ledger.DayOf(f.Now(), a.zone)
	return max(from, ledger.DayOf(first, time.UTC)), min(to, max(today+1, ledger.DayOf(last, time.UTC))), nil
}

// reach is from when until when an account may have facts.
func (f *Facts) reach(a account) (from, to ledger.Day) {
	now := f.Now()
	return ledger.DayOf(now.AddDate(-yearsBack, 0, 0), a.zone), ledger.DayOf(now.AddDate(yearsAhead, 0, 0), a.zone)
}

// statuses takes over the states of vehicles from the revisions since an instant, of all accounts for 0.
func (f *Facts) statuses(ctx context.Context, account uint64, since time.Time) error {
	return f.exec(ctx, "facts_statuses",
		[]any{clickhouse.Named("account", account), clickhouse.Named("since", max(0, since.UnixMilli()))})
}

// bookingsBetween returns the bookings that may have days between two days, by id; where these are the first or the
// last of which the account may have facts, also those of before or after them, such as are yet to come.
func (f *Facts) bookingsBetween(ctx context.Context, a account, from, to ledger.Day) ([]uint64, error) {
	first, last, err := f.extent(ctx, a)
	if err != nil {
		return nil, err
	}
	if from <= first {
		from = 0
	}
	if to >= last {
		to = everAfter
	}
	return schemas.AllRows(ctx, f.DB, "find the bookings of days", schemas.Query("facts_rentals_between"), []any{
		clickhouse.Named("account", a.id), clickhouse.Named("from", from.String()), clickhouse.Named("to", to.String()),
	}, func(id *uint64, row schemas.Row) error { return row.Scan(id) })
}

// everAfter is a day after all that is booked.
var everAfter = ledger.DayOf(time.Date(2299, 1, 1, 0, 0, 0, 0, time.UTC), time.UTC)

// rentals makes the days of bookings again, what these came to, on what they were taxed, and what was agreed for them.
// The bookings are in the order of their ids. beside are pieces of work that are done in the same go.
func (f *Facts) rentals(
	ctx context.Context, a account, bookings []uint64, beside ...func(context.Context) error,
) error {
	together := togetherLeast
	if len(bookings) > together {
		vehicles, err := f.vehiclesOf(ctx, a)
		if err != nil {
			return err
		}
		together = max(together, int(min(togetherMost, ofEachVehicle*vehicles)))
	}
	work, ctx := f.sideBySide(ctx)
	for _, do := range beside {
		work.Go(func() error { return do(ctx) })
	}
	for some := range slices.Chunk(bookings, min(together, f.together)) {
		work.Go(func() error { return f.someRentals(ctx, a, some) })
	}
	return work.Wait()
}

// someRentals makes what rentals makes of one batch of bookings, or of its halves where these have many days.
func (f *Facts) someRentals(ctx context.Context, a account, bookings []uint64) error {
	args := []any{clickhouse.Named("account", a.id), clickhouse.Named("first", bookings[0]),
		clickhouse.Named("last", bookings[len(bookings)-1])}
	chosen, err := schemas.Chosen(bookings)
	if err != nil {
		return err
	}
	var first, last time.Time
	var days uint64
	err = f.DB.QueryRow(clickhouse.Context(ctx, chosen), schemas.Query("facts_rentals_span"),
		append(args, clickhouse.Named("now", f.Now().Unix()))...).Scan(&first, &last, &days)
	if err != nil {
		return fmt.Errorf("read when bookings are: %w", err)
	}
	if days > f.rentalDays && len(bookings) > 1 {
		half := len(bookings) / 2
		if err := f.someRentals(ctx, a, bookings[:half]); err != nil {
			return err
		}
		return f.someRentals(ctx, a, bookings[half:])
	}
	zones, err := f.zones(ctx, a)
	if err != nil {
		return err
	}
	from, to := f.reach(a)
	now := f.Now()
	if now.After(last) {
		last = now
	}
	b, err := boundsOf(zones, max(from, ledger.DayOf(first, time.UTC)-2), min(to, ledger.DayOf(last, time.UTC)+2))
	if err != nil {
		return err
	}
	err = f.exec(ctx, "facts_rentals", append(args, clickhouse.Named("now", now.Unix()),
		clickhouse.Named("currency", a.currency)), chosen, clickhouse.WithExternalTable(b.table))
	if err != nil {
		return err
	}
	accounts, columns, _ := ledger.Measured()
	err = f.exec(ctx, "facts_rental_sums", append(args, clickhouse.Named("kept", f.kept(a).String()),
		clickhouse.Named("zone", a.zone.String()), clickhouse.Named("accounts", accounts),
		clickhouse.Named("measures", columns)), chosen)
	if err != nil {
		return err
	}
	if err := f.exec(ctx, "facts_tax_bases", args, chosen); err != nil {
		return err
	}
	return f.exec(ctx, "facts_booking_sums", append(args, clickhouse.Named("zone", a.zone.String())), chosen)
}

// customers makes what the books have of customers again from the first day of a month on, of all of them if none are
// named.
func (f *Facts) customers(ctx context.Context, a account, customers []uint64, since ledger.Day) error {
	accounts, columns, _ := ledger.Measured()
	return f.exec(ctx, "facts_customer_sums", []any{clickhouse.Named("account", a.id),
		clickhouse.Named("customers", customers), clickhouse.Named("since", since.String()),
		clickhouse.Named("accounts", accounts),
		clickhouse.Named("measures", columns)})
}

// kept is the day before which trips may be gone, the first of all if the account keeps them for ever.
func (f *Facts) kept(a account) ledger.Day {
	if a.keeps == 0 {
		return 0
	}
	return ledger.DayOf(f.Now(), time.UTC) - ledger.Day(a.keeps) + keptSpare
}

// zones are the zones that records of an account name, and its own by no name.
func (f *Facts) zones(ctx context.Context, a account) (map[string]*time.Location, error) {
	all := map[string]*time.Location{"": a.zone}
	err := f.each(ctx, "facts_zones", []any{clickhouse.Named("account", a.id)}, func(row schemas.Row) error {
		var name string
		if err := row.Scan(&name); err != nil {
			return err
		}
		all[name] = ledger.ZoneOf(name, a.zone)
		return nil
	})
	return all, err
}

// days makes the days of vehicles of an account again, of all of them if none are named, and then their months and the
// days of its fleet.
func (f *Facts) days(ctx context.Context, a account, from, to ledger.Day, vehicles []uint64) error {
	zones, err := f.zones(ctx, a)
	if err != nil {
		return err
	}
	b, err := boundsOf(zones, from, to)
	if err != nil {
		return err
	}
	now := f.Now()
	accounts, columns, signs := ledger.Measured()
	if vehicles == nil {
		vehicles = []uint64{}
	}
	args := []any{clickhouse.Named("account", a.id), clickhouse.Named("from", from.String()),
		clickhouse.Named("to", to.String()), clickhouse.Named("vehicles", vehicles)}
	err = f.exec(ctx, "facts_vehicles", append(args, clickhouse.Named("now", now.Unix()),
		clickhouse.Named("begins", b.begins), clickhouse.Named("ends", b.ends),
		clickhouse.Named("kept", f.kept(a).String()), clickhouse.Named("currency", a.currency),
		clickhouse.Named("accounts", accounts), clickhouse.Named("measures", columns), clickhouse.Named("signs", signs)),
		clickhouse.WithExternalTable(b.table))
	if err != nil {
		return err
	}
	if err := f.exec(ctx, "facts_months", args); err != nil {
		return err
	}
	if err := f.fleetDays(ctx, a.id, from, to); err != nil {
		return err
	}
	err = f.exec(ctx, "facts_driving",
		append(args, clickhouse.Named("zone", a.zone.String()), clickhouse.Named("kept", f.kept(a).String())))
	if err != nil {
		return err
	}
	return f.exec(ctx, "facts_driving_months", args)
}

// geofenceDays makes the days of vehicles of an account in geofences again, of all of them if none are named.
func (f *Facts) geofenceDays(ctx context.Context, a account, from, to ledger.Day, vehicles []uint64) error {
	if vehicles == nil {
		vehicles = []uint64{}
	}
	var kept ledger.Day // from which no visit of any zone's day is gone, as they go by their end
	if a.keeps > 0 {
		kept = f.kept(a) - keptSpare + 2
	}
	return f.exec(ctx, "facts_geofence_days", []any{clickhouse.Named("account", a.id),
		clickhouse.Named("from", from.String()), clickhouse.Named("to", to.String()),
		clickhouse.Named("vehicles", vehicles), clickhouse.Named("zone", a.zone.String()),
		clickhouse.Named("kept", kept.String())})
}

// fleetDays adds up the days of the vehicles of an account over all of them, of every account for 0.
func (f *Facts) fleetDays(ctx context.Context, account uint64, from, to ledger.Day) error {
	return f.exec(ctx, "facts_fleet_days", []any{clickhouse.Named("account", account),
		clickhouse.Named("from", from.String()), clickhouse.Named("to", to.String())})
}

// keptSpare is how many days before trips of a day are deleted that day is no longer made of them: the cut is at a
// midnight of UTC, and a trip that passed midnight goes with the day on which it began.
const keptSpare = 8
