package rent

// Routes registers the routes of every resource, a line each.
func (a *API) Routes() {
	a.vehicleCalendarRoutes()
	a.blockRoutes()
	a.meterReadingRoutes()
	a.catalogueRoutes()
	a.ratePriceRoutes()
	a.quoteRoutes()
	a.availabilityRoutes()
	a.customerRoutes()
	a.tollRoutes()
	a.paymentRoutes()
	a.expenseRoutes()
	a.recurringCostRoutes()
	a.journalEntryRoutes()
	a.vehicleValueRoutes()
	a.ledgerRoutes()
	a.bookingRoutes()
	a.taskRoutes()
	a.scheduleRoutes()
	a.reminderRoutes()
	a.workOrderRoutes()
	a.issueRoutes()
	a.inspectionRoutes()
}
