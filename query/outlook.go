package query

import (
	"context"

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

// ClassBooks is what came onto the books for a class and day, and left them, so many days before: seconds of the day.
type ClassBooks struct {
	Class      uint64
	Day        int32
	Leads      []uint16
	Seconds    []int64
	Afterwards uint64 // bookings that begin on the day and were written down after their pickup
}

// BooksOfClasses returns what came onto the books for each class and day; what came earlier than most days before, at
// that.
func BooksOfClasses(ctx context.Context, db driver.Conn, s DaySpan, most uint16) ([]ClassBooks, error) {
	return schemas.AllRows(ctx, db, "read the books of days", schemas.Query("forecast_books"),
		s.named(clickhouse.Named("most", most)), func(b *ClassBooks, row schemas.Row) error {
			return row.Scan(&b.Class, &b.Day, &b.Leads, &b.Seconds, &b.Afterwards)
		})
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

// ClassPace is what stood on the books for a class and a day: billed days, and what was agreed for them in one
// currency.
type ClassPace struct {
	Class      uint64
	Day        int32
	BilledDays int64
	Revenue    int64 // without taxes
	OfTime     int64 // of it, what is for time and miles
}

// PaceOfClasses returns what stood on the books for each class and day at the end of the local day asOf.
func PaceOfClasses(ctx context.Context, db driver.Conn, s DaySpan, asOf, currency string) ([]ClassPace, error) {
	return schemas.AllRows(ctx, db, "read the pace", schemas.Query("pace_days"),
		s.named(clickhouse.Named("as_of", asOf), clickhouse.Named("currency", currency)),
		func(p *ClassPace, row schemas.Row) error {
			return row.Scan(&p.Class, &p.Day, &p.BilledDays, &p.Revenue, &p.OfTime)
		})
}

// VehicleResult is what a vehicle earned and cost in a span of days, in minor units of one currency.
type VehicleResult struct {
	Vehicle                                           uint64
	Plate, Nickname, Make, Model                      string
	Class                                             uint64
	FirstDay                                          int32 // of those that are known
	Days                                              int64 // that are known
	BilledDays, RentedS, RentableS                    int64
	RentalRevenue, Revenue, PlatformFees              int64
	Energy, Maintenance, OtherVariable, TollRecharge  int64
	Depreciation, Finance, Insurance, OtherFixedCosts int64
}

// VehicleResults returns what each vehicle earned and cost.
func VehicleResults(ctx context.Context, db driver.Conn, s DaySpan, currency string) ([]VehicleResult, error) {
	return schemas.AllRows(ctx, db, "read results of vehicles", schemas.Query("vehicle_results"),
		s.named(clickhouse.Named("currency", currency)), func(v *VehicleResult, row schemas.Row) error {
			return row.Scan(&v.Vehicle, &v.Plate, &v.Nickname, &v.Make, &v.Model, &v.Class, &v.FirstDay, &v.Days,
				&v.BilledDays, &v.RentedS, &v.RentableS, &v.RentalRevenue, &v.Revenue, &v.PlatformFees, &v.Energy,
				&v.Maintenance, &v.OtherVariable, &v.TollRecharge, &v.Depreciation, &v.Finance, &v.Insurance,
				&v.OtherFixedCosts)
		})
}
