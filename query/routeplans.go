package query

import "github.com/motorpool/fleet"

// RoutePlans is how route plans are listed.
var RoutePlans = Listing{Table: "route_plans", Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "from", Column: "starts_at", Type: TimeField, Range: true, Sort: true},
	{Name: "until", Column: "ends_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"name", "description"}}

// RouteRuns is how runs along route plans are read.
var RouteRuns = Derivable[*fleet.RouteRun]{Kind: fleet.KindRun, table: "route_runs",
	fresh: func() *fleet.RouteRun { return new(fleet.RouteRun) }}
