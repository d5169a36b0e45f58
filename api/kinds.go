package api

import (
	"cmp"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// kinds are the kinds of records that others name, that texts speak of or that are told of, by the prefix of their ids:
// one row each. What is not here has none of these, or takes telematics:read.
var kinds = map[string]rest.Kind{
	fleet.VehiclePrefix: {Log: record.Vehicles.Name, Read: auth.VehiclesRead, NamedBy: []string{"vehicle_id"},
		NameOf: calledVehicle},
	fleet.ClassPrefix: {Log: record.VehicleClasses.Name, Read: auth.VehiclesRead, NamedBy: []string{"vehicle_class_id"},
		NameOf: calledByName},
	fleet.LocationPrefix: {Log: record.Locations.Name, Read: auth.VehiclesRead, NamedBy: locationMembers,
		NameOf: calledByName},
	fleet.BlockPrefix:     {Log: record.Blocks.Name, Read: auth.VehiclesRead, NameOf: calledBlock},
	fleet.DevicePrefix:    {Log: record.Devices.Name, Read: auth.TelematicsRead, NameOf: calledByName},
	fleet.FencePrefix:     {Log: record.Geofences.Name, Read: auth.TelematicsRead, NameOf: calledByName},
	fleet.IssuePrefix:     {Log: record.Issues.Name, Read: auth.MaintenanceRead, NameOf: calledIssue},
	fleet.WorkOrderPrefix: {Log: record.WorkOrders.Name, Read: auth.MaintenanceRead, NameOf: calledByName},
	fleet.RatePlanPrefix: {Log: record.RatePlans.Name, Read: auth.BookingsRead, EventScope: auth.VehiclesRead,
		NamedBy: []string{"rate_plan_id"}, NameOf: calledByName},
	fleet.BookingPrefix: {Log: record.Bookings.Name, Read: auth.BookingsRead, NamedBy: []string{"booking_id"},
		NameOf: calledByName},
	fleet.QuotePrefix:   {Log: record.Quotes.Name, Read: auth.BookingsRead, NameOf: calledByName},
	fleet.PaymentPrefix: {Log: record.Payments.Name, Read: auth.FinanceRead, NameOf: calledByName},
	fleet.CustomerPrefix: {Log: record.Customers.Name, Read: auth.CustomersRead, Open: true,
		NamedBy: []string{"customer_id", "driver_ids", "owner_customer_id"}, NameOf: calledCustomer},

	fleet.InvoicePrefix: {Log: record.Invoices.Name, Read: auth.FinanceRead, NamedBy: []string{"invoice_id"},
		NameOf: calledByName},
	fleet.CreditNotePrefix:   {Log: record.CreditNotes.Name, Read: auth.FinanceRead, NameOf: calledByName},
	fleet.ReceiptPrefix:      {Log: record.Receipts.Name, Read: auth.FinanceRead, NameOf: calledByName},
	fleet.DepositPaperPrefix: {Log: record.DepositStatements.Name, Read: auth.FinanceRead, NameOf: calledByName},
	fleet.AgreementPrefix:    {Log: record.Agreements.Name, Read: auth.CustomersRead, NameOf: calledByName},
	fleet.OwnerPaperPrefix:   {Log: record.OwnerStatements.Name, Read: auth.FinanceRead, NameOf: calledByName},

	fleet.MeterReadingPrefix: {Log: record.MeterReadings.Name, Read: auth.VehiclesRead},
	fleet.ReminderPrefix:     {Log: record.Reminders.Name, Read: auth.MaintenanceRead},
	fleet.InspectionPrefix:   {Log: record.Inspections.Name, Read: auth.MaintenanceRead},
	fleet.TaskPrefix:         {Log: record.ServiceTasks.Name, Read: auth.MaintenanceRead},
	fleet.SchedulePrefix:     {Log: record.MaintenanceSchedules.Name, Read: auth.MaintenanceRead},
	fleet.ExpensePrefix:      {Log: record.Expenses.Name, Read: auth.FinanceRead},
	fleet.RecurringCostPrefix: {Log: record.RecurringCosts.Name, Read: auth.FinanceRead,
		NamedBy: []string{"recurring_cost_id"}, NameOf: calledRecurring},
	fleet.JournalEntryPrefix: {Log: record.JournalEntries.Name, Read: auth.FinanceRead,
		NameOf: calledByName},
	fleet.TollPrefix:        {Log: record.Tolls.Name, Read: auth.FinanceRead},
	fleet.NotePrefix:        {Log: record.Notes.Name, Read: auth.CustomersRead},
	fleet.DocumentPrefix:    {Log: record.Documents.Name, Read: auth.CustomersRead},
	fleet.DriverTagPrefix:   {Log: record.DriverTags.Name, Read: auth.CustomersRead},
	fleet.SavedReportPrefix: {Log: record.SavedReports.Name, Read: auth.ReportsRead, NameOf: calledByName},
	fleet.ShareLinkPrefix:   {Log: record.ShareLinks.Name, Read: auth.TelematicsRead},
	fleet.JobPrefix:         {Log: record.Jobs.Name, Read: auth.TelematicsRead, EventScope: auth.ReportsRead},
}

// locationMembers are the members of bookings, vehicles and blocks that name a location.
var locationMembers = []string{"pickup_location_id", "return_location_id", "location_ids", "due_location_id",
	"from_location_id", "to_location_id", "home_location_id", "current_location_id"}

// calledByName is the number, name or unique id of a record, whichever it has.
func calledByName(c *rest.NameFields, _ bool) string { return cmp.Or(c.Number, c.Name, c.UniqueID) }

func calledVehicle(c *rest.NameFields, _ bool) string {
	name := cmp.Or(c.Nickname, strings.TrimSpace(c.Make+" "+c.Model))
	plate := cmp.Or(c.Plate, c.FleetNumber)
	if plate != "" && name != "" {
		return plate + " (" + name + ")"
	}
	return cmp.Or(plate, name)
}

// calledCustomer is the name and the number of a customer; its number alone to those who may not read customers.
func calledCustomer(c *rest.NameFields, may bool) string {
	if name := cmp.Or(c.DisplayName, strings.TrimSpace(c.FirstName+" "+c.LastName)); may && name != "" {
		return name + " (" + c.Number + ")"
	}
	return c.Number
}

// calledRecurring is what a recurring cost is for.
func calledRecurring(c *rest.NameFields, _ bool) string {
	return cmp.Or(c.Description, c.Vendor, strings.ReplaceAll(c.Category, "_", " "))
}

func calledIssue(c *rest.NameFields, _ bool) string { return c.Description }

func calledBlock(c *rest.NameFields, _ bool) string {
	return "a block (" + strings.ReplaceAll(c.Kind, "_", " ") + ")"
}
