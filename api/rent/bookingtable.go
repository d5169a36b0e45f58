package rent

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/query"
)

// bookingRow is a booking with what its table for people names. What is not known is zero.
type bookingRow struct {
	Booking
	customer record.Customer
	vehicle  record.Vehicle
	class    record.VehicleClass
	from, to record.Location
}

// bookingColumn is a column of the table of bookings.
type bookingColumn struct {
	rest.TableColumn
	cell func(*bookingRow) string
}

func usual(name string, cell func(*bookingRow) string) bookingColumn {
	return bookingColumn{rest.TableColumn{Name: name}, cell}
}

func extra(name string, cell func(*bookingRow) string) bookingColumn {
	return bookingColumn{rest.TableColumn{Name: name, Extra: true}, cell}
}

func (c bookingColumn) with(scope auth.Scope) bookingColumn {
	c.Scope = scope
	return c
}

// bookingTable are the columns of the table of bookings, in order.
var bookingTable = []bookingColumn{
	usual("number", func(b *bookingRow) string { return b.Number }),
	usual("status", func(b *bookingRow) string { return b.Status }),
	usual("channel", func(b *bookingRow) string { return cmp.Or(b.Channel, "direct") }),
	usual("external_reservation_id", func(b *bookingRow) string { return b.ExternalReservationID }),
	usual("customer_name", func(b *bookingRow) string { return b.customer.DisplayName }).with(auth.CustomersRead),
	usual("customer_phone", func(b *bookingRow) string { return b.customer.Phone }).with(auth.CustomersRead),
	usual("license_plate", func(b *bookingRow) string { return b.vehicle.LicensePlate }).with(auth.VehiclesRead),
	usual("vehicle_name", func(b *bookingRow) string { return vehicleName(&b.vehicle) }).with(auth.VehiclesRead),
	usual("vehicle_class_name", func(b *bookingRow) string { return b.class.Name }).with(auth.VehiclesRead),
	usual("pickup_location_name", func(b *bookingRow) string { return b.from.Name }).with(auth.VehiclesRead),
	usual("return_location_name", func(b *bookingRow) string { return b.to.Name }).with(auth.VehiclesRead),
	usual("pickup_at", func(b *bookingRow) string { return b.clock(b.PickupAt, &b.from) }),
	usual("return_at", func(b *bookingRow) string { return b.clock(b.ReturnAt, &b.to) }),
	usual("actual_pickup_at", func(b *bookingRow) string { return b.clock(b.ActualPickupAt, &b.from) }),
	usual("actual_return_at", func(b *bookingRow) string { return b.clock(b.ActualReturnAt, &b.to) }),
	usual("billed_days", func(b *bookingRow) string { return strconv.Itoa(b.BilledDays) }),
	usual("pickup_mileage_mi", func(b *bookingRow) string { return wholeCell(b.PickupMileageMi) }),
	usual("return_mileage_mi", func(b *bookingRow) string { return wholeCell(b.ReturnMileageMi) }),
	usual("miles_driven", func(b *bookingRow) string { return wholeCell(b.MilesDriven) }),
	usual("currency", func(b *bookingRow) string { return b.Currency }),
	usual("rental_amount", func(b *bookingRow) string { return b.money(b.Subtotal.Amount - b.Fees.Amount - b.extras()) }),
	usual("extras_amount", func(b *bookingRow) string { return b.money(b.extras()) }),
	usual("fees_total", func(b *bookingRow) string { return b.money(b.Fees.Amount) }),
	usual("discounts_total", func(b *bookingRow) string { return b.money(b.Discounts.Amount) }),
	usual("taxes_total", func(b *bookingRow) string { return b.money(b.Taxes.Amount) }),
	usual("total", func(b *bookingRow) string { return b.money(b.Total.Amount) }),
	usual("platform_fee", func(b *bookingRow) string { return b.money(b.PlatformFee.Amount) }),
	usual("net_to_host", func(b *bookingRow) string { return b.money(b.NetToHost.Amount) }),
	usual("amount_paid", func(b *bookingRow) string { return b.money(b.AmountPaid.Amount) }),
	usual("balance_due", func(b *bookingRow) string { return b.money(b.BalanceDue.Amount) }),
	usual("payment_status", func(b *bookingRow) string { return b.PaymentStatus }),
	usual("deposit_amount", func(b *bookingRow) string { return b.money(b.Deposit.Amount.Amount) }),
	usual("deposit_status", func(b *bookingRow) string { return b.Deposit.Status }),
	usual("created_at", func(b *bookingRow) string { return b.clock(b.CreatedAt, &b.from) }),
	usual("id", func(b *bookingRow) string { return b.ID }),
	extra("due_for", func(b *bookingRow) string { return text(b.DueFor) }),
	extra("due_at", func(b *bookingRow) string {
		if text(b.DueFor) == "return" {
			return b.clock(b.DueAt, &b.to)
		}
		return b.clock(b.DueAt, &b.from)
	}),
	extra("is_overdue", func(b *bookingRow) string { return strconv.FormatBool(b.IsOverdue) }),
	extra("customer_email", func(b *bookingRow) string { return b.customer.Email }).with(auth.CustomersRead),
	extra("vin", func(b *bookingRow) string { return b.vehicle.VIN }).with(auth.VehiclesRead),
	extra("customer_id", func(b *bookingRow) string { return b.CustomerID }),
	extra("vehicle_id", func(b *bookingRow) string { return b.VehicleID }),
	extra("vehicle_class_id", func(b *bookingRow) string { return b.VehicleClassID }),
	extra("pickup_location_id", func(b *bookingRow) string { return b.PickupLocationID }),
	extra("return_location_id", func(b *bookingRow) string { return b.ReturnLocationID }),
	extra("timezone", func(b *bookingRow) string { return b.Timezone }),
	extra("included_miles", func(b *bookingRow) string { return wholeCell(b.IncludedMiles) }),
	extra("extra_miles", func(b *bookingRow) string { return wholeCell(b.ExtraMiles) }),
	extra("pickup_fuel_pct", func(b *bookingRow) string { return numberCell(b.PickupFuelPct) }),
	extra("return_fuel_pct", func(b *bookingRow) string { return numberCell(b.ReturnFuelPct) }),
	extra("pickup_battery_level", func(b *bookingRow) string { return wholeCell(b.PickupBattery) }),
	extra("return_battery_level", func(b *bookingRow) string { return wholeCell(b.ReturnBattery) }),
	extra("subtotal", func(b *bookingRow) string { return b.money(b.Subtotal.Amount) }),
	extra("promo_code", func(b *bookingRow) string { return b.PromoCode }),
	extra("source_campaign", func(b *bookingRow) string { return b.SourceCampaign }),
	extra("protection_plan", func(b *bookingRow) string { return b.ProtectionPlan }),
	extra("delivery_address", func(b *bookingRow) string { return b.DeliveryAddress }),
	extra("confirmed_at", func(b *bookingRow) string { return b.clock(b.ConfirmedAt, &b.from) }),
	extra("cancelled_at", func(b *bookingRow) string { return b.clock(b.cancelled().At, &b.from) }),
	extra("cancelled_by", func(b *bookingRow) string { return b.cancelled().By }),
	extra("has_damage", func(b *bookingRow) string { return strconv.FormatBool(b.HasDamage) }),
	extra("has_open_toll", func(b *bookingRow) string { return strconv.FormatBool(b.HasOpenToll) }),
	extra("conflict", func(b *bookingRow) string { return strconv.FormatBool(b.Conflict) }),
	extra("notes", func(b *bookingRow) string { return b.Notes }),
	extra("updated_at", func(b *bookingRow) string { return b.clock(b.UpdatedAt, &b.from) }),
}

// bookingColumns are the columns by themselves.
func bookingColumns() []rest.TableColumn {
	columns := make([]rest.TableColumn, len(bookingTable))
	for i, c := range bookingTable {
		columns[i] = c.TableColumn
	}
	return columns
}

// tableOfBookings is the table that a request asks for.
func (a *API) tableOfBookings(r *http.Request) (*rest.Table[record.Booking], error) {
	columns, err := rest.ColumnsWanted(r, bookingColumns())
	if err != nil {
		return nil, err
	}
	cells := make([]func(*bookingRow) string, len(columns))
	for i, c := range columns {
		cells[i] = freeColumn(c.Name)
		for _, known := range bookingTable {
			if known.Name == c.Name {
				cells[i] = known.cell
			}
		}
	}
	return &rest.Table[record.Booking]{Columns: columns,
		Rows: func(ctx context.Context, records []record.Record[record.Booking]) ([][]string, error) {
			rows, err := a.bookingRows(ctx, records)
			if err != nil {
				return nil, err
			}
			table := make([][]string, len(rows))
			for i := range rows {
				for _, cell := range cells {
					value := cell(&rows[i])
					if _, err := strconv.ParseFloat(value, 64); err != nil { // which is no formula, even if it begins with a minus
						value = sheet.InertCell(value)
					}
					table[i] = append(table[i], value)
				}
			}
			return table, nil
		}}, nil
}

// freeColumn is a column of the callers' own members.
func freeColumn(name string) func(*bookingRow) string {
	_, member, _ := strings.Cut(name, ".")
	if strings.HasPrefix(name, "metadata.") {
		return func(b *bookingRow) string { return b.Metadata[member] }
	}
	return func(b *bookingRow) string {
		switch value := b.CustomFields[member].(type) {
		case nil:
			return ""
		case string:
			return value
		default:
			return sheet.FreeCell(value)
		}
	}
}

// bookingRows joins bookings with what their table names. Whoever may not see it has no column of it.
func (a *API) bookingRows(ctx context.Context, records []record.Record[record.Booking]) ([]bookingRow, error) {
	if len(records) == 0 {
		return nil, nil
	}
	var views []rest.Shown
	var customers map[string]record.Customer
	var vehicles map[string]record.Vehicle
	var classes map[string]record.VehicleClass
	var places map[string]record.Location
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		views, err = a.showBookings(inner, records, nil)
		return err
	})
	group.Go(func() (err error) {
		customers, err = bodiesOf[record.Customer](inner, a, &query.Customers, fleet.CustomerPrefix, records,
			func(b *record.Booking) []string { return []string{b.CustomerID} })
		return err
	})
	group.Go(func() (err error) {
		vehicles, err = bodiesOf[record.Vehicle](inner, a, &query.Vehicles, fleet.VehiclePrefix, records,
			func(b *record.Booking) []string { return []string{b.VehicleID} })
		return err
	})
	group.Go(func() (err error) {
		classes, err = bodiesOf[record.VehicleClass](inner, a, &query.VehicleClasses, fleet.ClassPrefix, records,
			func(b *record.Booking) []string { return []string{b.VehicleClassID} })
		return err
	})
	group.Go(func() (err error) {
		places, err = bodiesOf[record.Location](inner, a, &query.Locations, fleet.LocationPrefix, records,
			func(b *record.Booking) []string { return []string{b.PickupLocationID, b.ReturnLocationID} })
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	rows := make([]bookingRow, len(views))
	for i, v := range views {
		b := v.View.(Booking)
		rows[i] = bookingRow{Booking: b, customer: customers[b.CustomerID], vehicle: vehicles[b.VehicleID],
			class: classes[b.VehicleClassID],
			from:  places[b.PickupLocationID], to: places[b.ReturnLocationID]}
	}
	return rows, nil
}

// bodiesOf reads the records of another kind that some records name, by their ids.
func bodiesOf[R, T any](ctx context.Context, a *API, l *query.Listing, prefix string, records []record.Record[T],
	of func(*T) []string) (map[string]R, error) {
	var ids []uint64
	for i := range records {
		for _, text := range of(&records[i].Body) {
			if id, err := fleet.ParseID(prefix, text); err == nil {
				ids = append(ids, id)
			}
		}
	}
	found, err := query.RecordsByID(ctx, a.DB, l, records[0].Account, ids)
	if err != nil {
		return nil, err
	}
	bodies := make(map[string]R, len(found))
	for id, stored := range found {
		rec, err := rest.FromStored[R](records[0].Account, stored)
		if err != nil {
			return nil, err
		}
		bodies[fleet.FormatID(prefix, id)] = rec.Body
	}
	return bodies, nil
}

// clock writes an instant as the clock of a place shows it, or else that of the booking.
func (b *bookingRow) clock(at record.Instant, place *record.Location) string {
	if at.IsZero() {
		return ""
	}
	return at.In(fleet.ZoneOf(place.Timezone, b.Timezone)).Format("2006-01-02 15:04")
}

// money writes an amount of the booking's currency.
func (b *bookingRow) money(minor int64) string {
	return price.Decimal(record.Money{Amount: minor, Currency: b.Currency})
}

// extras is what the extras and the protection come to.
func (b *bookingRow) extras() int64 {
	var sum int64
	for _, c := range b.Charges {
		if c.Type == "extra" || c.Type == "protection" {
			sum += c.Amount.Amount
		}
	}
	return sum
}

func (b *bookingRow) cancelled() record.Cancellation {
	if b.Cancellation == nil {
		return record.Cancellation{}
	}
	return *b.Cancellation
}

// vehicleName is what people call a vehicle.
func vehicleName(v *record.Vehicle) string {
	if v.Nickname != "" {
		return v.Nickname
	}
	name := strings.TrimSpace(v.Make + " " + v.Model)
	if v.Year != 0 {
		name = fmt.Sprintf("%d %s", v.Year, name)
	}
	return name
}

// text is a text, or nothing.
func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}

func wholeCell(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func numberCell(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
