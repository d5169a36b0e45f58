package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DaySpan is a span of local days of an account, in a zone. Days are texts like 2026-11-23, both inclusive.
type DaySpan struct {
	Account  fleet.AccountID
	From, To string
	Zone     string
}

func (s *DaySpan) named(more ...any) []any {
	return append(more, clickhouse.Named("account", uint64(s.Account)), clickhouse.Named("from", s.From),
		clickhouse.Named("to", s.To), clickhouse.Named("zone", s.Zone))
}

// ClassDay is what vehicles of a class had, or will have, on a local day, which is the number of days since 1970-01-01.
type ClassDay struct {
	Class              uint64 // 0 for none
	Day                int32
	RentedS, RentableS int64
}

// ClassDays returns what vehicles of each class had on days of the past.
func ClassDays(ctx context.Context, db driver.Conn, s DaySpan) ([]ClassDay, error) {
	return schemas.AllRows(ctx, db, "read days of classes", schemas.Query("forecast_days"), s.named(),
		func(d *ClassDay, row schemas.Row) error { return row.Scan(&d.Class, &d.Day, &d.RentedS, &d.RentableS) })
}

// ClassCapacity returns what will be rentable of each class on days to come.
func ClassCapacity(ctx context.Context, db driver.Conn, s DaySpan) ([]ClassDay, error) {
	return schemas.AllRows(ctx, db, "read what will be rentable", schemas.Query("forecast_capacity"), s.named(),
		func(d *ClassDay, row schemas.Row) error { return row.Scan(&d.Class, &d.Day, &d.RentableS) })
}

// Stay is when a booking is to have a vehicle of a class, as planned, and since when that was on the books. Days are
// numbers of days since 1970-01-01.
type Stay struct {
	Class        uint64 // 0 for none
	Begins, Ends int64  // milliseconds since 1970
	Booked       int32
	Gone         bool
	Left         int32 // the day on which it left the books, if it is gone
	Afterwards   bool  // it was written down after its pickup
}

// EachStay hands over each booking that ever was on the books and is to have a vehicle within the days. They are many:
// the Stay is only good for the call.
func EachStay(ctx context.Context, db driver.Conn, span DaySpan, take func(*Stay)) error {
	var s Stay
	return schemas.EachRow(ctx, db, "read what was booked", schemas.Query("forecast_stays"), span.named(),
		func(row schemas.Row) error {
			err := row.Scan(&s.Class, &s.Begins, &s.Ends, &s.Booked, &s.Gone, &s.Left, &s.Afterwards)
			if err == nil {
				take(&s)
			}
			return err
		})
}

// FactsAreMade is an error that says what to do while facts of an account are still to be made again after an upgrade.
func FactsAreMade(ctx context.Context, db driver.Conn, account fleet.AccountID) error {
	var remade bool
	if err := db.QueryRow(ctx, schemas.Query("facts_remade"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("version", schemas.FactsVersion)).Scan(&remade); err != nil {
		return fmt.Errorf("read whether facts are made: %w", err)
	}
	if remade {
		return fleet.NewError(fleet.CodeUnavailable, "What this is made of is being made again after an upgrade. Ask again in some minutes.")
	}
	return nil
}

// ClassRate is what the vehicles of a class brought on one day of the week: minor units of one currency.
type ClassRate struct {
	Class       uint64
	Weekday     uint8 // 1 is Monday
	Revenue     int64 // time and mileage, less discounts
	BilledDays  int64
	VariableOut int64 // what driving cost, and what platforms kept
}

// ClassRates returns what the vehicles of each class brought by the day of the week.
func ClassRates(ctx context.Context, db driver.Conn, s DaySpan, currency string) ([]ClassRate, error) {
	return schemas.AllRows(ctx, db, "read rates of classes", schemas.Query("forecast_rates"),
		s.named(clickhouse.Named("currency", currency)), func(r *ClassRate, row schemas.Row) error {
			return row.Scan(&r.Class, &r.Weekday, &r.Revenue, &r.BilledDays, &r.VariableOut)
		})
}

// ClassPace is what stood on the books for a class and a day at the ends of some days: billed days, and what was agreed
// for them in one currency.
type ClassPace struct {
	Class        uint64
	Day          int32
	Since, Until uint8 // of the days that are asked about, those from place Since on and before Until, from 0
	BilledDays   int64
	Revenue      int64 // without taxes
	OfTime       int64 // of it, what is for time and miles
}

// PaceOfClasses returns what stood on the books for each class and day of the span, and of the year before it, at the
// ends of the local days asOf, which are in order; and the error of FactsAreMade.
func PaceOfClasses(
	ctx context.Context, db driver.Conn, s DaySpan, asOf []string, currency string,
) ([]ClassPace, error) {
	if err := FactsAreMade(ctx, db, s.Account); err != nil {
		return nil, err
	}
	return schemas.AllRows(ctx, db, "read the pace", schemas.Query("pace_days"),
		s.named(clickhouse.Named("as_of", asOf), clickhouse.Named("currency", currency)),
		func(p *ClassPace, row schemas.Row) error {
			return row.Scan(&p.Class, &p.Day, &p.Since, &p.Until, &p.BilledDays, &p.Revenue, &p.OfTime)
		})
}

// VehicleResult is what a vehicle earned and cost in a span of days, in minor units of one currency.
type VehicleResult struct {
	Vehicle                                           uint64
	Plate, Nickname, Make, Model                      string
	Gone                                              bool  // it was disposed of, or archived
	Days                                              int64 // that are known
	BilledDays, RentedS, RentableS                    int64
	Revenue, PlatformFees                             int64
	Energy, Maintenance, OtherVariable, TollRecharge  int64
	Depreciation, Finance, Insurance, OtherFixedCosts int64
}

// VehicleResults returns what each vehicle of some classes, or of all if there are none, earned and cost, and whether
// it is gone on the day today.
func VehicleResults(
	ctx context.Context, db driver.Conn, s DaySpan, today, currency string, classes []uint64,
) ([]VehicleResult, error) {
	args := s.named(clickhouse.Named("today", today), clickhouse.Named("currency", currency),
		clickhouse.Named("group", "vehicle"), clickhouse.Named("classes", append([]uint64{}, classes...)))
	for _, filter := range []string{"vehicles", "locations", "owners"} {
		args = append(args, clickhouse.Named(filter, []uint64{}))
	}
	for _, filter := range []string{"tags", "makes", "models"} {
		args = append(args, clickhouse.Named(filter, []string{}))
	}
	return schemas.AllRows(ctx, db, "read results of vehicles", schemas.Query("vehicle_results"), args,
		func(v *VehicleResult, row schemas.Row) error {
			return row.Scan(&v.Vehicle, &v.Plate, &v.Nickname, &v.Make, &v.Model, &v.Gone, &v.Days,
				&v.BilledDays, &v.RentedS, &v.RentableS, &v.Revenue, &v.PlatformFees, &v.Energy,
				&v.Maintenance, &v.OtherVariable, &v.TollRecharge, &v.Depreciation, &v.Finance, &v.Insurance,
				&v.OtherFixedCosts)
		})
}
