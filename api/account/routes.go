package account

// Routes registers the routes of every resource, a line each.
func (a *API) Routes() {
	a.keyRoutes()
	a.auditRoutes()
	a.accountRoutes()
	a.eventRoutes()
	a.streamRoutes()
}
