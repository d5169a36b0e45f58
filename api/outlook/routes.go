package outlook

// Routes registers the routes of every resource, a line each.
func (a *API) Routes() {
	a.utilizationRoutes()
	a.paceRoutes()
	a.priceRoutes()
	a.vehicleRoutes()
}
