package rent

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// vehicleInPath returns the id of the vehicle that the path names, if the account has it.
func (a *API) vehicleInPath(r *http.Request) (string, error) {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return "", err
	}
	err = rest.Has(r.Context(), a.Server, &query.Vehicles, a.vehicles, auth.From(r.Context()).Account, id)
	return fleet.FormatID(fleet.VehiclePrefix, id), err
}

// withinVehicle narrows a list to the vehicle that the path names.
func (a *API) withinVehicle(r *http.Request, req *query.ListRequest) error {
	id, err := a.vehicleInPath(r)
	req.Filters = append(req.Filters, query.Filter{Field: "vehicle_id", Op: "eq", Values: []string{id}})
	return err
}

// ofVehicle refuses a body that does not name a vehicle of the account.
func (a *API) ofVehicle(r *http.Request, id string) error {
	if id == "" {
		return fleet.Invalid(fleet.NoSuch("/vehicle_id", "vehicle", fleet.VehiclePrefix, id))
	}
	return a.CheckExists(r, &query.Vehicles, fleet.VehiclePrefix, id, "/vehicle_id", "vehicle")
}
