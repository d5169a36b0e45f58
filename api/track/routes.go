package track

// Routes registers the routes of every resource, a line each.
func (a *API) Routes() {
	a.vehicleRoutes()
	a.deviceRoutes()
	a.qualityRoutes()
	a.deviceCommandRoutes()
	a.geofenceRoutes()
	a.routePlanRoutes()
	a.alertRuleRoutes()
	a.positionRoutes()
	a.telemetryRoutes()
	a.signalRoutes()
	a.searchRoutes()
	a.heatmapRoutes()
	a.tripRoutes()
	a.stopRoutes()
	a.visitRoutes()
	a.chargingSessionRoutes()
	a.drivingEventRoutes()
	a.routeHistoryRoutes()
	a.scoreRoutes()
	a.mileageRoutes()
	a.driverTagRoutes()
	a.driverHourRoutes()
	a.proximityRoutes()
	a.alertRoutes()
}
