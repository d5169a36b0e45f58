package schemas

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Feed is what fills a table of current records from record_log. Unlike a view it costs nothing to the writes of other
// kinds. It can be repeated for any revisions, as a table keeps the highest of each record. It fills the columns that a
// revision has beside its record; the table takes all others from the record itself, by their DEFAULT expressions. Who
// has the record at hand may hand over some of these as well.
type Feed struct {
	Table   string
	Kinds   []string // of the records in it
	Columns []string // of the table, that are filled
}

// plain are the columns that nearly all tables fill.
var plain = []string{"account", "id", "revision", "created_at", "updated_at", "archived_at", "body"}

var feeds = []Feed{
	{"accounts", []string{"account"}, plain},
	{"alert_acks", []string{"alert_ack"}, append([]string{"actor"}, plain...)},
	{"alert_rules", []string{"alert_rule"}, plain},
	{"api_keys", []string{"api_key"}, plain},
	{"blocks", []string{"block"}, plain},
	{"bookings", []string{"booking"}, plain},
	{"calendars", []string{"calendar", "class_calendar"},
		[]string{"account", "kind", "id", "revision", "updated_at", "body"}},
	{"customer_notes", []string{"customer_note"}, plain},
	{"customers", []string{"customer"}, plain},
	{"device_commands", []string{"device_command"}, plain},
	{"devices", []string{"device"}, plain},
	{"documents", []string{"document"}, plain},
	{"driver_tags", []string{"driver_tag"}, plain},
	{"expenses", []string{"expense"}, plain},
	{"geofences", []string{"geofence"}, plain},
	{"inspections", []string{"inspection"}, plain},
	{"issues", []string{"issue"}, plain},
	{"jobs", []string{"job"}, plain},
	{"journal_entries", []string{"journal_entry"}, plain},
	{"locations", []string{"location"}, plain},
	{"maintenance_schedules", []string{"maintenance_schedule"}, plain},
	{"meter_readings", []string{"meter_reading"}, plain},
	{"meters", []string{"meter_reading"}, []string{"account", "id", "revision", "body"}},
	{"oauth_clients", []string{"oauth_client"}, plain},
	{"oauth_grants", []string{"oauth_grant"}, plain},
	{"papers", []string{"agreement", "credit_note", "deposit_statement", "invoice", "owner_statement", "receipt"},
		append([]string{"kind"}, plain...)},
	{"payments", []string{"payment"}, plain},
	{"quotes", []string{"quote"}, plain},
	{"rate_plans", []string{"rate_plan"}, plain},
	{"recurring_costs", []string{"recurring_cost"}, plain},
	{"reminders", []string{"reminder"}, plain},
	{"route_plans", []string{"route_plan"}, plain},
	{"saved_reports", []string{"saved_report"}, plain},
	{"service_tasks", []string{"service_task"}, plain},
	{"share_links", []string{"share_link"}, plain},
	{"tolls", []string{"toll"}, plain},
	{"trip_drivers", []string{"trip_driver"}, plain},
	{"users", []string{"user"}, plain},
	{"vehicle_classes", []string{"vehicle_class"}, plain},
	{"vehicles", []string{"vehicle"}, plain},
	{"webhook_endpoints", []string{"webhook_endpoint"}, plain},
	{"work_orders", []string{"work_order"}, plain},
}

// Feeds returns all feeds in the order of the names of their tables.
func Feeds() []Feed { return slices.Clone(feeds) }

// Insert returns what begins an insert into the table: the columns that are filled, and others that are handed over.
func (f *Feed) Insert(others ...string) string {
	return "INSERT INTO " + f.Table + " (" + strings.Join(slices.Concat(f.Columns, others), ", ") + ")"
}

// Of returns the query of what is filled into the table from the revisions that another query of record_log finds, and
// from all if that is empty.
func (f *Feed) Of(revisions string) string {
	from := "record_log"
	if revisions != "" {
		from = "(\n" + revisions + "\n)"
	}
	columns := strings.Replace(strings.Join(f.Columns, ", "), "updated_at", "at AS updated_at", 1)
	return "SELECT " + columns + "\nFROM " + from + "\nWHERE kind IN ('" + strings.Join(f.Kinds, "', '") + "')"
}

// Fill brings everything that record_log holds of some kinds, or of all if none are named, to the tables of current
// records.
func Fill(ctx context.Context, db driver.Conn, kinds ...string) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate":              0, // a table that was emptied may still know what was inserted before
		"max_partitions_per_insert_block": 0,
	}))
	for _, f := range feeds {
		named := slices.ContainsFunc(f.Kinds, func(kind string) bool { return slices.Contains(kinds, kind) })
		if len(kinds) > 0 && !named {
			continue
		}
		if err := db.Exec(ctx, f.Insert()+"\n"+f.Of("")); err != nil {
			return fmt.Errorf("fill %s: %w", f.Table, err)
		}
	}
	return nil
}

// ReturnZones are the time zones that the expression of returned_on of bookings names: in others it tells no day.
var ReturnZones = sync.OnceValue(func() map[string]bool {
	text := read("tables/finance/6300_bookings_returned_on.sql")
	_, text, _ = strings.Cut(text, "timezone IN (")
	text, _, _ = strings.Cut(text, ") AS known")
	zones := make(map[string]bool)
	for name := range strings.SplitSeq(text, ",") {
		zones[strings.Trim(name, " \n'")] = true
	}
	return zones
})
