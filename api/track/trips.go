package track

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/driver"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// Trip is movement between two stops, as it is answered.
type Trip struct {
	ID              string             `json:"id" example:"trp_1234"`
	Object          string             `json:"object" doc:"Always trip." example:"trip"`
	VehicleID       string             `json:"vehicle_id" example:"veh_1234"`
	DeviceID        *string            `json:"device_id" nullable:"true" doc:"That sent its first fix." example:"dev_1234"`
	DriverID        *string            `json:"driver_id" nullable:"true" doc:"Customer who drove most of it, if one is known by id." example:"cus_1234"`
	Driver          *string            `json:"driver" nullable:"true" doc:"Name of who drove, if only a name is known: that which somebody set. A customer is named by driver_id, and this is null."`
	DriverSource    *string            `json:"driver_source" nullable:"true" example:"tag" doc:"What says who drove: manual, somebody set it (that holds until it is deleted); else tag, the one at the wheel (see /v1/driver_tags); else booking, which had the vehicle; null if nobody is known."`
	StartAt         record.Instant     `json:"from" doc:"First fix of the movement."`
	EndAt           record.Instant     `json:"until" doc:"Last fix of the movement so far. While it goes on all of a trip is up to a minute behind its fixes."`
	DurationS       float64            `json:"duration_s"`
	LocalOn         string             `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	StartPlace      rest.Place         `json:"start_place"`
	EndPlace        rest.Place         `json:"end_place"`
	DistanceMi      units.Miles        `json:"distance_mi" doc:"Recorded, along the fixes, and estimated."`
	EstimatedMi     units.Miles        `json:"distance_estimated_mi" doc:"Of distance_mi: ways over which nothing was heard, straight on, or as the odometer has it if it came with both ends. The rest is recorded."`
	MovingS         float64            `json:"moving_s" doc:"Recorded time on the move."`
	UnrecordedS     float64            `json:"unrecorded_s" doc:"Time on ways over which nothing was heard."`
	Unrecorded      bool               `json:"unrecorded" doc:"Nothing of it was recorded: it is one way between two places, over which nothing was heard."`
	IdleS           float64            `json:"idle_s" doc:"Standing with the engine on."`
	MaxSpeedMph     units.MilesPerHour `json:"max_speed_mph" doc:"The highest that the tracker said; if it says none, that of the legs between its fixes as far as another leg confirms it. mean_speed_mph if that is higher."`
	MeanSpeedMph    units.MilesPerHour `json:"mean_speed_mph" doc:"What was recorded of distance_mi, over moving_s; if nothing was, distance_estimated_mi over unrecorded_s."`
	OdometerStartMi *units.Miles       `json:"odometer_start_mi" nullable:"true" doc:"Made monotonic."`
	OdometerEndMi   *units.Miles       `json:"odometer_end_mi" nullable:"true"`
	FuelUsedGal     *units.Gallons     `json:"fuel_used_gal" nullable:"true"`
	EnergyUsedKWh   *float64           `json:"energy_used_kwh" nullable:"true"`
	SocStartPct     *float64           `json:"soc_start_pct" nullable:"true" doc:"State of charge."`
	SocEndPct       *float64           `json:"soc_end_pct" nullable:"true"`
	Fixes           int                `json:"fixes"`
	ClosedReason    *string            `json:"closed_reason" nullable:"true" doc:"stop (it stood for long enough, and the trip ends where that began), ignition_off (the trip ends with that, once the ignition of the vehicle has proven right twice), gap or device_change; null while it goes on."`
	DriverParts     []DriverPart       `json:"driver_parts,omitempty" flat:"-" doc:"If who is at the wheel changed on the way: all of the trip, in order."`
	Geometry        json.RawMessage    `json:"geometry,omitempty" flat:"-" doc:"GeoJSON LineString of the trusted positions, or null for fewer than two; only of a trip asked for by id."`
	DerivedStamps
}

// DriverPart is a part of a trip with one driver.
type DriverPart struct {
	From         record.Instant `json:"from"`
	To           record.Instant `json:"until"`
	DriverID     *string        `json:"driver_id" nullable:"true" example:"cus_1234"`
	Driver       *string        `json:"driver" nullable:"true"`
	DriverSource *string        `json:"driver_source" nullable:"true"`
}

// TripDriver is the body that says who drove a trip.
type TripDriver struct {
	Driver string `json:"driver" minLength:"1" maxLength:"200" doc:"A name, or the id of a customer." example:"cus_1234"`
}

func (a *API) tripRoutes() {
	s := &derivedResource[*fleet.Trip, Trip]{
		api: a, path: "/v1/trips", name: "Trip", noun: "trip", nouns: "trips", tag: "Trips", from: &query.Trips,
		about: "Movement between two stops, or a way over which nothing was heard (`unrecorded`): a vehicle is found somewhere else after a silence.", show: a.showTrips,
		tell: func(d *query.Derived[*fleet.Trip], _ bool) Trip { return a.showTrip(d) },
		params: []rest.Param{{Name: "driver", NotEmpty: true,
			About: "Only trips of this driver: the id of a customer, whatever says so, or a name that was set. They are looked for among at most 100,000 trips of the vehicles that it may have driven: if there are more, choose a span with `from` and `to`."}},
		narrow: func(w http.ResponseWriter, r *http.Request, f *query.DerivedFilter) error {
			who := rest.TextParam(r, "driver", "")
			if who == "" {
				return nil
			}
			db, err := a.LongTurn(w, r)
			if err != nil {
				return err
			}
			return a.narrowToDriver(r.Context(), db, f, who)
		},
	}
	s.registerList()
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/trips/{id}", ID: "getTrip", Tag: "Trips", Scope: auth.TelematicsRead,
		Summary: "Get a trip with its geometry",
		About: "A line of more than " + strconv.Itoa(maxTrackPage) +
			" positions is simplified to as many. `format=geojson` answers one Feature; the other formats answer the positions. " +
			"A trip that data which came later has replaced is a 404 that says where to look.",
		Params: geometryParams, Reply: Trip{}, ReplyTypes: export.MediaTypes(export.Tracks), Timeout: rest.ExportTime,
	}, func(w http.ResponseWriter, r *http.Request) error { return a.getTrip(w, r, s) })
	a.Handle(rest.Route{
		Method: http.MethodPut, Path: "/v1/trips/{id}/driver", ID: "setTripDriver", Tag: "Trips", Scope: auth.TelematicsWrite,
		Summary: "Say who drove a trip",
		About:   "Holds for the time of the trip, so that it survives when the trip goes on or is derived again from data that came late. The newest statement counts, above tags and bookings, until it is deleted. It is no new revision of the trip: `vehicle.trip.driver_assigned` (or `driver_removed`) tells others, with the trip's id.",
		Body:    TripDriver{}, Reply: Trip{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		var sent TripDriver
		if err := a.DecodeBody(r, &sent); err != nil {
			return err
		}
		sent.Driver = strings.TrimSpace(sent.Driver)
		if _, err := fleet.ParseID(fleet.CustomerPrefix, sent.Driver); sent.Driver == "" ||
			strings.HasPrefix(sent.Driver, fleet.CustomerPrefix) && err != nil {
			return fleet.Invalid(fleet.FieldError{Pointer: "/driver", Code: "invalid",
				Detail: "must be a name, or an id of the form cus_<digits>"})
		}
		if strings.HasPrefix(sent.Driver, fleet.CustomerPrefix) {
			if err := a.CheckExists(r, &query.Customers, fleet.CustomerPrefix, sent.Driver, "/driver", "customer"); err != nil {
				return err
			}
		}
		d, err := a.setDriver(r, s, sent.Driver)
		if err != nil {
			return err
		}
		views, err := a.showTrips(r, []query.Derived[*fleet.Trip]{d})
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, views[0])
	})
	a.Handle(rest.Route{
		Method: http.MethodDelete, Path: "/v1/trips/{id}/driver", ID: "deleteTripDriver", Tag: "Trips",
		Scope:   auth.TelematicsWrite,
		Summary: "Take back who was said to have driven a trip", Status: http.StatusNoContent,
		About: "What the tag at the wheel or the booking says counts again.",
	}, func(w http.ResponseWriter, r *http.Request) error {
		if _, err := a.setDriver(r, s, ""); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// setDriver writes who is said to have driven the trip in the path, unless that was said already.
func (a *API) setDriver(r *http.Request, s *derivedResource[*fleet.Trip, Trip],
	who string) (query.Derived[*fleet.Trip], error) {
	d, err := s.find(r)
	if err != nil {
		return d, err
	}
	said, err := query.DriversSaid(r.Context(), a.DB, auth.From(r.Context()).Account, []fleet.VehicleID{d.Vehicle},
		d.Entity.Start, d.Entity.End)
	e := driver.Evidence{Manual: said}
	if err != nil || e.Who(d.Vehicle, d.Entity.Start, d.Entity.End).Driver == who {
		return d, err
	}
	_, err = a.tripDrivers.New(r.Context(), rest.Author(r), auth.From(r.Context()).Account, record.TripDriver{
		VehicleID: d.Vehicle.String(), TripID: DerivedID(d.Entity), From: d.Entity.Start,
		To: max(d.Entity.End, d.Entity.Start+1), Driver: who,
	})
	return d, err
}

func (a *API) showTrips(r *http.Request, rows []query.Derived[*fleet.Trip]) ([]Trip, error) {
	var vehicles []fleet.VehicleID
	var from, to fleet.Millis
	for i := range rows {
		t := rows[i].Entity
		if !slices.Contains(vehicles, rows[i].Vehicle) {
			vehicles = append(vehicles, rows[i].Vehicle)
		}
		if i == 0 {
			from = t.Start
		}
		from, to = min(from, t.Start), max(to, t.End)
	}
	e, err := a.evidence(r.Context(), a.DB, auth.From(r.Context()).Account, vehicles, from, to)
	if err != nil {
		return nil, err
	}
	views := make([]Trip, len(rows))
	for i := range rows {
		views[i] = a.showTrip(&rows[i])
		views[i].showDrive(e.Who(rows[i].Vehicle, rows[i].Entity.Start, rows[i].Entity.End))
	}
	return views, nil
}

// showDrive says who drove.
func (t *Trip) showDrive(d driver.Drive) {
	t.DriverID, t.Driver = driverOf(d.Driver)
	t.DriverSource = rest.TextOrNull(string(d.Source))
	if len(d.Parts) == 1 {
		return
	}
	for _, p := range d.Parts {
		part := DriverPart{From: rest.Instant(p.From), To: rest.Instant(p.To),
			DriverSource: rest.TextOrNull(string(p.Source))}
		part.DriverID, part.Driver = driverOf(p.Driver)
		t.DriverParts = append(t.DriverParts, part)
	}
}

func (a *API) showTrip(d *query.Derived[*fleet.Trip]) Trip {
	t := d.Entity
	three := func(v float64) float64 { return units.Rounded(v, 3) }
	view := Trip{
		ID: DerivedID(t), Object: "trip", VehicleID: d.Vehicle.String(), StartAt: rest.Instant(t.Start),
		EndAt:     rest.Instant(t.End),
		DurationS: rest.Seconds(t.End - t.Start), LocalOn: d.LocalDate.Format("2006-01-02"),
		StartPlace: a.Place(t.StartPlace), EndPlace: a.Place(t.EndPlace),
		DistanceMi: units.MilesOf(t.Distance), EstimatedMi: units.MilesOf(t.Estimated), MovingS: rest.Seconds(t.Moving),
		UnrecordedS: rest.Seconds(t.Unrecorded), Unrecorded: t.Unseen, IdleS: rest.Seconds(t.Idle),
		MaxSpeedMph: units.MphOf(max(t.MaxSpeed, t.MeanSpeed)), MeanSpeedMph: units.MphOf(t.MeanSpeed),
		OdometerStartMi: rest.ConvertOrNull(t.OdometerStart, units.MilesOf),
		OdometerEndMi:   rest.ConvertOrNull(t.OdometerEnd, units.MilesOf),
		FuelUsedGal:     rest.ConvertOrNull(t.FuelUsed, units.GallonsOf),
		EnergyUsedKWh:   rest.ConvertOrNull(t.EnergyUsed, three), SocStartPct: rest.ConvertOrNull(t.SocStart, three),
		SocEndPct: rest.ConvertOrNull(t.SocEnd, three),
		Fixes:     t.Fixes, ClosedReason: rest.TextOrNull(t.ClosedReason), DerivedStamps: derivedStamps(d),
	}
	if t.Device != 0 {
		view.DeviceID = rest.TextOrNull(t.Device.String())
	}
	return view
}

// readWay reads the positions of a way, which must not be more than can be simplified.
func (a *API) readWay(r *http.Request, f query.TrackFilter) ([]fleet.Position, error) {
	f.Limit = maxSimplified + 1
	var all []fleet.Position
	for p, err := range query.Track(r.Context(), a.DB, f) {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) > maxSimplified {
		return nil, tooLong()
	}
	return all, nil
}

func (a *API) getTrip(w http.ResponseWriter, r *http.Request, s *derivedResource[*fleet.Trip, Trip]) error {
	format, err := rest.FormatOf(r, export.Tracks)
	if err != nil {
		return err
	}
	d, err := s.find(r)
	if err != nil {
		return err
	}
	views, err := a.showTrips(r, []query.Derived[*fleet.Trip]{d})
	if err != nil {
		return err
	}
	view := views[0]
	f := wayOf(auth.From(r.Context()).Account, d.Vehicle, d.Entity.Start, d.Entity.End)
	way, err := a.readWay(r, f)
	if err != nil {
		return err
	}
	tolerance, keep := rest.NumberParam(r, "simplify_m", 0), rest.IntParam(r, "max_points", 0)
	if keep == 0 && (format == export.JSON || format == export.GeoJSON) {
		keep = maxTrackPage
	}
	way = export.Simplify(way, tolerance, keep)
	switch format {
	case export.JSON:
		view.Geometry = lineString(way)
		return rest.WriteJSON(w, r, http.StatusOK, view)
	case export.GeoJSON:
		return a.writeFeatures(w, r, view.ID, []feature{{view: view, geometry: lineString(way)}}, false)
	}
	return a.downloadWay(w, r, view.ID, f.Vehicle, format, way)
}
