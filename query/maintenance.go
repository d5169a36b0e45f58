package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// ServiceTasks is how service tasks are listed.
var ServiceTasks = Listing{Table: "service_tasks", Fields: []ListField{
	{Name: "name", Type: WordsField, Sort: true},
	{Name: "category", Type: TextField, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"name", "category", "description"}}

// Schedules is how maintenance schedules are listed.
var Schedules = Listing{Table: "maintenance_schedules", Fields: []ListField{
	{Name: "task_id", Type: TextField},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "vehicle_class_id", Type: TextField},
	{Name: "tag", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"tag"}, Related: []Related{ofVehicle}}

// Reminders is how reminders are listed.
var Reminders = Listing{Table: "reminders", Fields: []ListField{
	{Name: "schedule_id", Type: TextField},
	{Name: "task_id", Type: TextField},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "stage", Type: TextField, Sort: true},
	{Name: "cycle", Type: NumberField, Range: true, Sort: true},
	{Name: "due_on", Type: TextField, Range: true, Sort: true},
	{Name: "forecast_due_on", Type: TextField, Range: true, Sort: true},
	{Name: "work_order_id", Type: TextField},
	{Name: "resolved_by_work_order_id", Type: TextField},
	{Name: "stage_since", Type: TimeField, Range: true, Sort: true},
	{Name: "snoozed_until", Type: TimeField, Range: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Related: []Related{ofVehicle}}

// WorkOrders is how work orders are listed.
var WorkOrders = Listing{Table: "work_orders", Fields: []ListField{
	{Name: "number", Column: byNumber, Type: CodeField, Few: true, Sort: true},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "type", Type: TextField, Sort: true},
	{Name: "priority", Type: TextField},
	{Name: "status", Type: TextField, Sort: true},
	{Name: "vendor", Type: WordsField, Sort: true},
	{Name: "assignee", Type: WordsField, Sort: true},
	{Name: "invoice_ref", Type: TextField},
	{Name: "scheduled_from", Column: "scheduled_start", Type: TimeField, Range: true, Sort: true},
	{Name: "scheduled_until", Column: "scheduled_end", Type: TimeField, Range: true, Sort: true},
	{Name: "started_at", Type: TimeField, Range: true, Sort: true},
	{Name: "completed_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"number", "title", "description", "vendor", "assignee", "invoice_ref"},
	Related: []Related{ofVehicle}}

// Issues is how issues are listed.
var Issues = Listing{Table: "issues", Fields: []ListField{
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "severity", Type: TextField, Sort: true},
	{Name: "category", Type: TextField, Sort: true},
	{Name: "status", Type: TextField, Sort: true},
	{Name: "booking_id", Type: TextField, Few: true},
	{Name: "work_order_id", Type: TextField},
	{Name: "reported_by", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"description", "category", "reported_by"}, Related: []Related{ofVehicle, ofBooking}}

// Inspections is how inspections of vehicles outside handovers are listed.
var Inspections = Listing{Table: "inspections", Fields: []ListField{
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "type", Type: TextField, Sort: true},
	{Name: "template", Type: TextField, Sort: true},
	{Name: "status", Type: TextField, Sort: true},
	{Name: "booking_id", Type: TextField, Few: true},
	{Name: "signed_by", Type: TextField},
	{Name: "submitted_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"template", "signed_by", "notes"}, Related: []Related{ofVehicle, ofBooking}}

// OpenSafetyIssues returns, for those of some vehicles of an account that have any, the ids of the issues that are
// critical for safety and not resolved: such a vehicle must not become available.
func OpenSafetyIssues(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles []uint64) (map[uint64][]uint64, error) {
	found := make(map[uint64][]uint64)
	if len(vehicles) == 0 {
		return found, nil
	}
	names := make([]string, len(vehicles))
	for i, id := range vehicles {
		names[i] = fleet.FormatID(fleet.VehiclePrefix, id)
	}
	err := schemas.EachRow(ctx, db, "read safety issues", schemas.Query("safety_issues"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", names),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var issues []uint64
		if err := row.Scan(&vehicle, &issues); err != nil {
			return err
		}
		found[vehicle] = issues
		return nil
	})
	return found, err
}

// PendingMaintenance is a schedule and a vehicle that the desk must look at.
type PendingMaintenance struct {
	Account  fleet.AccountID
	Schedule uint64
	Vehicle  uint64
	Targeted bool   // the schedule asks for it still
	Reminder uint64 // the last; 0 for none
	Cycle    uint32 // of it
}

// MaintenancePending returns what the desk must look at, at most limit of it, in random order; with all every
// open reminder too.
func MaintenancePending(ctx context.Context, db driver.Conn, now time.Time, all bool,
	limit int) ([]PendingMaintenance, error) {
	every := uint8(0)
	if all {
		every = 1
	}
	return schemas.AllRows(ctx, db, "read pending maintenance", schemas.Query("maintenance_pending"), []any{
		clickhouse.Named("now", now.UnixMilli()), clickhouse.Named("all", every),
		clickhouse.Named("limit", uint32(limit)),
	}, func(p *PendingMaintenance, row schemas.Row) error {
		var targeted uint8
		if err := row.Scan((*uint64)(&p.Account), &p.Schedule, &p.Vehicle, &targeted, &p.Reminder, &p.Cycle); err != nil {
			return err
		}
		p.Targeted = targeted != 0
		return nil
	})
}
