package ingest

// Routes registers the routes of every way in, a line each.
func (a *API) Routes() {
	a.ingestRoutes()
	a.traccarRoutes()
	a.osmandRoutes()
	a.deadLetterRoutes()
}
