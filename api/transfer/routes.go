package transfer

// Routes registers the routes of jobs; what can be imported and exported must be registered before.
func (a *API) Routes() {
	a.jobRoutes()
}
