package event

import (
	"reflect"
	"slices"

	"github.com/motorpool/fleet/api/record"
)

// Body is what is stored of a kind of records, of which its events tell all but what Takes out.
type Body struct {
	Kind   string // of records, as in their log
	Prefix string // of its ids
	Type   reflect.Type
}

// Bodies are those of all kinds that are told of.
var Bodies = []Body{
	of(record.Bookings), of(record.Quotes), of(record.Payments), of(record.Reminders), of(record.Invoices),
	of(record.CreditNotes), of(record.Receipts), of(record.DepositStatements), of(record.Agreements),
	of(record.OwnerStatements), of(record.WorkOrders), of(record.Issues), of(record.Inspections),
	of(record.ServiceTasks), of(record.MaintenanceSchedules), of(record.Vehicles), of(record.VehicleClasses),
	of(record.Locations), of(record.RatePlans), of(record.Blocks), of(record.MeterReadings), of(record.Customers),
	of(record.Notes), of(record.Documents), of(record.Expenses), of(record.RecurringCosts), of(record.JournalEntries),
	of(record.Tolls), of(record.SavedReports), of(record.Jobs), of(record.Devices), of(record.DeviceCommands),
	of(record.Geofences), of(record.RoutePlans), of(record.AlertRules), of(record.AlertAcks), of(record.DriverTags),
	of(record.TripDrivers),
}

// of is the body of a kind, where its events do not tell something of their own.
func of[T any](k record.Kind[T]) Body {
	b := Body{Kind: k.Name, Prefix: k.Prefix, Type: reflect.TypeFor[T]()}
	switch {
	case slices.Contains(thin, k.Name):
		b.Type = reflect.TypeFor[struct{}]()
	case k.Name == record.Jobs.Name:
		b.Type = reflect.TypeFor[Report]()
	case k.Name == record.TripDrivers.Name:
		b.Type = reflect.TypeFor[tripDriver]()
	}
	return b
}

// Report is what is told of the job of a saved report: who does it, and for whom, is nobody's business.
type Report struct {
	Kind       string         `json:"kind" example:"report"`
	SubjectID  string         `json:"subject_id" doc:"The saved report." example:"srp_1234"`
	Records    string         `json:"records" doc:"Which report it is." example:"revenue"`
	Format     string         `json:"format" example:"csv"`
	FinishedAt record.Instant `json:"finished_at" doc:"Null if it failed."`
	Error      string         `json:"error,omitempty" doc:"Why it failed."`
}

// tripDriver is what is told of who drove.
type tripDriver struct {
	record.TripDriver
	DriverID string `json:"driver_id,omitempty" doc:"If it is a customer." example:"cus_1234"`
}
