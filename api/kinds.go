package api

import (
	"cmp"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// kinds are the kinds of records that others name, that texts speak of or that are told of, by the prefix of their ids: one
// row each. What is not here has none of these, or takes telematics:read.
var kinds = map[string]kind{
	fleet.VehiclePrefix:   {log: record.Vehicles.Name, read: auth.VehiclesRead, named: []string{"vehicle_id"}, called: calledVehicle},
	fleet.ClassPrefix:     {log: record.VehicleClasses.Name, read: auth.VehiclesRead, named: []string{"vehicle_class_id"}, called: calledByName},
	fleet.LocationPrefix:  {log: record.Locations.Name, read: auth.VehiclesRead, named: locationMembers, called: calledByName},
	fleet.BlockPrefix:     {log: record.Blocks.Name, read: auth.VehiclesRead, called: calledBlock},
	fleet.DevicePrefix:    {log: record.Devices.Name, read: auth.TelematicsRead, called: calledByName},
	fleet.FencePrefix:     {log: record.Geofences.Name, read: auth.TelematicsRead, called: calledByName},
	fleet.IssuePrefix:     {log: record.Issues.Name, read: auth.MaintenanceRead, called: calledIssue},
	fleet.WorkOrderPrefix: {log: record.WorkOrders.Name, read: auth.MaintenanceRead, called: calledByName},
	fleet.RatePlanPrefix:  {log: record.RatePlans.Name, read: auth.BookingsRead, told: auth.VehiclesRead, named: []string{"rate_plan_id"}, called: calledByName},
	fleet.BookingPrefix:   {log: record.Bookings.Name, read: auth.BookingsRead, named: []string{"booking_id"}, called: calledByName},
	fleet.QuotePrefix:     {log: record.Quotes.Name, read: auth.BookingsRead, called: calledByName},
	fleet.PaymentPrefix:   {log: record.Payments.Name, read: auth.FinanceRead, called: calledByName},
	fleet.CustomerPrefix: {log: record.Customers.Name, read: auth.CustomersRead, open: true,
		named: []string{"customer_id", "driver_ids", "owner_customer_id"}, called: calledCustomer},

	fleet.MeterReadingPrefix: {log: record.MeterReadings.Name, read: auth.VehiclesRead},
	fleet.ReminderPrefix:     {log: record.Reminders.Name, read: auth.MaintenanceRead},
	fleet.InspectionPrefix:   {log: record.Inspections.Name, read: auth.MaintenanceRead},
	fleet.TaskPrefix:         {log: record.ServiceTasks.Name, read: auth.MaintenanceRead},
	fleet.SchedulePrefix:     {log: record.MaintenanceSchedules.Name, read: auth.MaintenanceRead},
	fleet.ExpensePrefix:      {log: record.Expenses.Name, read: auth.FinanceRead},
	fleet.TollPrefix:         {log: record.Tolls.Name, read: auth.FinanceRead},
	fleet.NotePrefix:         {log: record.Notes.Name, read: auth.CustomersRead},
	fleet.DocumentPrefix:     {log: record.Documents.Name, read: auth.CustomersRead},
	fleet.DriverTagPrefix:    {log: record.DriverTags.Name, read: auth.CustomersRead},
}

// locationMembers are the members of bookings, vehicles and blocks that name a location.
var locationMembers = []string{"pickup_location_id", "return_location_id", "location_ids", "due_location_id", "from_location_id",
	"to_location_id", "home_location_id", "current_location_id"}

// calledByName is the number, name or unique id of a record, whichever it has.
func calledByName(c *called, _ bool) string { return cmp.Or(c.Number, c.Name, c.UniqueID) }

func calledVehicle(c *called, _ bool) string {
	name := cmp.Or(c.Nickname, strings.TrimSpace(c.Make+" "+c.Model))
	plate := cmp.Or(c.Plate, c.FleetNumber)
	if plate != "" && name != "" {
		return plate + " (" + name + ")"
	}
	return cmp.Or(plate, name)
}

// calledCustomer is the name and the number of a customer; its number alone to those who may not read customers.
func calledCustomer(c *called, may bool) string {
	if name := cmp.Or(c.DisplayName, strings.TrimSpace(c.FirstName+" "+c.LastName)); may && name != "" {
		return name + " (" + c.Number + ")"
	}
	return c.Number
}

func calledIssue(c *called, _ bool) string { return c.Description }

func calledBlock(c *called, _ bool) string {
	return "a block (" + strings.ReplaceAll(c.Kind, "_", " ") + ")"
}
