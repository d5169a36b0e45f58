package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// RecurringCosts is how recurring costs are listed.
var RecurringCosts = Listing{Table: "recurring_costs", Fields: []ListField{
	{Name: "category", Type: WordsField, Sort: true},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "location_id", Type: TextField, Few: true},
	{Name: "vendor", Type: WordsField, Sort: true},
	{Name: "every", Type: TextField},
	{Name: "currency", Type: WordsField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"vendor", "description", "category"}, Related: []Related{ofVehicle}}

// PendingSchedule is a vehicle or a recurring cost that the desk must look at.
type PendingSchedule struct {
	Account fleet.AccountID
	Subject string // "veh_1", "rcc_1"
	Basis   uint64 // fingerprint of what is to be looked at
}

// SchedulesPending returns what the desk must look at of an account, 0 for all, at most limit of it, longest waiting
// first. categories are those that vehicles' terms make expenses of.
func SchedulesPending(ctx context.Context, db driver.Conn, account fleet.AccountID, now time.Time, categories []string,
	limit int) ([]PendingSchedule, error) {
	return schemas.AllRows(ctx, db, "read pending schedules", schemas.Query("schedules_pending"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("now", now.UnixMilli()),
		clickhouse.Named("categories", categories), clickhouse.Named("limit", uint32(limit)),
	}, func(p *PendingSchedule, row schemas.Row) error {
		return row.Scan((*uint64)(&p.Account), &p.Subject, &p.Basis)
	})
}

// ScheduledExpense is an expense that a schedule has made, or that stands beside one.
type ScheduledExpense struct {
	ID      uint64
	By      string // what made it; empty for a person
	Vehicle string // empty for none
	Status  string
	Body    string
}

// ScheduledExpenses returns the expenses that some vehicles and recurring costs have made by schedule, and those that
// were posted for the vehicles, of some categories.
func ScheduledExpenses(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles, recurring, categories []string) ([]ScheduledExpense, error) {
	return schemas.AllRows(ctx, db, "read expenses by schedule", schemas.Query("schedules_expenses"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("recurring", recurring), clickhouse.Named("categories", categories),
	}, func(e *ScheduledExpense, row schemas.Row) error {
		return row.Scan(&e.ID, &e.By, &e.Vehicle, &e.Status, &e.Body)
	})
}

// DrivenByMonth returns how many metres vehicles have driven, by the number of the month since the year 0.
func DrivenByMonth(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles []uint64) (map[uint64]map[int]int64, error) {
	driven := map[uint64]map[int]int64{}
	if len(vehicles) == 0 {
		return driven, nil
	}
	err := schemas.EachRow(ctx, db, "read what vehicles have driven", schemas.Query("vehicles_driven"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var month uint32
		var metres int64
		if err := row.Scan(&vehicle, &month, &metres); err != nil {
			return err
		}
		if driven[vehicle] == nil {
			driven[vehicle] = map[int]int64{}
		}
		driven[vehicle][int(month)] = metres
		return nil
	})
	return driven, err
}
