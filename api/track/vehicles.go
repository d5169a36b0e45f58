package track

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk/yard"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// Vehicle is a vehicle as it is answered: the published members first, under their published names.
type Vehicle struct {
	ID               string            `json:"id" doc:"Identity." example:"veh_1234"`
	Make             string            `json:"make" doc:"Manufacturer." example:"Tesla"`
	Model            string            `json:"model" example:"Model 3"`
	Year             *int              `json:"year" doc:"Model year; null if unknown." example:"2024"`
	VIN              string            `json:"vin" doc:"Vehicle identification number; empty if unknown." example:"5YJ3E1EA2KF317000"`
	Status           string            `json:"status" doc:"available, rented, turnaround, maintenance, out_of_service, inactive or retired. More may be added." example:"available"`
	Location         *VehicleLocation  `json:"location" doc:"Last known place; null if there is none."`
	CurrentMileageMi *units.WholeMiles `json:"current_mileage_mi" doc:"Odometer; null if unknown. By the way driven since the last reading where no tracker tells it: odometer_source is track then, and odometer_error_mi how far it may be off." example:"18250"`
	BatteryLevel     *int              `json:"battery_level" doc:"Charge of the traction battery in percent; null if it is not electrified, or unknown." example:"82"`

	record.VehicleFields

	Object       string         `json:"object" doc:"Always vehicle." example:"vehicle"`
	StatusReason string         `json:"status_reason,omitempty" doc:"Why it has this status."`
	StatusSince  record.Instant `json:"status_since" doc:"Since when it has this status."`

	VehicleFacts

	HeardState

	DeviceIDs []string `json:"device_ids" nullable:"false" doc:"Trackers that are on it now."`
	Devices   []Device `json:"devices" doc:"The same in full, with expand=devices; null without."`

	HeadingDeg         *float64            `json:"heading_deg" doc:"Direction of travel at the last known place."`
	SpeedMph           *units.MilesPerHour `json:"speed_mph" doc:"Speed at the last known place."`
	IgnitionOn         *bool               `json:"ignition_on"`
	FuelLevelPct       *float64            `json:"fuel_level_pct"`
	RangeMi            *units.WholeMiles   `json:"range_mi" doc:"Remaining range as the vehicle states it."`
	EngineHours        *float64            `json:"engine_hours"`
	OdometerSource     *string             `json:"odometer_source" doc:"Where current_mileage_mi comes from: telematics; manual, pickup, return, work_order or import, as its newest meter reading says; track if that reading and the way driven since come to it; or acquisition."`
	OdometerRecordedAt record.Instant      `json:"odometer_recorded_at"`
	OdometerErrorMi    *float64            `json:"odometer_error_mi" doc:"By how much current_mileage_mi may be off either way, if it is worked out: as much for each mile as the track was off between earlier readings, or else 3 % and all that nobody recorded. Null if it was read."`
	OdometerReadMi     *float64            `json:"odometer_read_mi" doc:"The last reading, if current_mileage_mi is worked out since."`
	OdometerReadAt     record.Instant      `json:"odometer_read_at" doc:"When that was."`

	BatteryLevelSource     *string        `json:"battery_level_source" doc:"Where battery_level comes from, by whichever is newest: telematics, or pickup or return of a booking."`
	BatteryLevelRecordedAt record.Instant `json:"battery_level_recorded_at"`
	FuelLevelSource        *string        `json:"fuel_level_source" doc:"Where fuel_level_pct comes from, by whichever is newest: telematics, pickup or return of a booking, or manual for an inspection."`
	FuelLevelRecordedAt    record.Instant `json:"fuel_level_recorded_at"`

	rest.Stamps
}

// VehicleLocation is the last known place of a vehicle.
type VehicleLocation struct {
	Lat        float64        `json:"lat" doc:"Degrees, WGS 84." example:"30.2672"`
	Lng        float64        `json:"lng" doc:"Degrees, WGS 84." example:"-97.7431"`
	Address    string         `json:"address" doc:"The place in words; empty if nobody knows them." example:"Austin, Texas, US"`
	RecordedAt record.Instant `json:"recorded_at" doc:"When it was there."`
	AccuracyM  *float64       `json:"accuracy_m" doc:"Radius of the error in metres, as the tracker estimates it."`
	Source     string         `json:"source" doc:"telematics." example:"telematics"`
}

// VehicleNew is what callers write to create a vehicle.
type VehicleNew struct {
	record.VehicleFields
	Status string `json:"status,omitempty" enum:"available,inactive" doc:"State to begin with; available unless given."`
}

// VehicleStatus is the body of the action that moves a vehicle to another state.
type VehicleStatus struct {
	Status string `json:"status" enum:"available,turnaround,maintenance,out_of_service,inactive,retired,rented" doc:"The state to move to."`
	Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"Why; kept in the history."`

	DisposalOn    string        `json:"disposal_on,omitempty" format:"date" doc:"With retired: when it was sold or scrapped, if the vehicle does not say so yet."`
	DisposalPrice *record.Money `json:"disposal_price,omitempty" doc:"With retired: what was got for it."`
}

func (a *API) vehicleRoutes() {
	s := &rest.Resource[record.Vehicle]{
		Server: a.Server, Log: a.vehicles, Listing: &query.Vehicles,
		Titles: rest.Titles{Path: "/v1/vehicles", Tag: "Vehicles", Noun: "vehicle", Nouns: "vehicles"},
		Scope: rest.Scopes{
			Read: auth.VehiclesRead, Write: auth.VehiclesWrite,
			Needs: map[string]auth.Scope{"devices": auth.TelematicsRead},
		},
		Views: rest.Views{
			View: Vehicle{}, Fields: record.VehicleFields{}, Create: VehicleNew{},
			Expand: []string{"devices", "vehicle_class", "home_location", "current_location"},
			Moving: append([]string{"online", "last_heard_at", "location", "current_mileage_mi", "battery_level", "device_ids",
				"devices", "heading_deg", "speed_mph", "ignition_on", "fuel_level_pct", "range_mi", "engine_hours",
				"odometer_source", "odometer_recorded_at", "odometer_error_mi", "odometer_read_mi", "odometer_read_at",
				"battery_level_source", "battery_level_recorded_at", "fuel_level_source", "fuel_level_recorded_at"},
				movingFacts...),
			States: rental.VehicleStates,
		},
		Writable: func(v *record.Vehicle) any { return &v.VehicleFields },
		Make: func(_ *http.Request, object map[string]any) (record.Vehicle, error) {
			var sent VehicleNew
			if err := a.DecodeObject(object, &sent); err != nil {
				return record.Vehicle{}, err
			}
			if sent.Status == "" {
				sent.Status = record.VehicleAvailable
			}
			return record.Vehicle{VehicleFields: sent.VehicleFields, Status: sent.Status,
				StatusSince: record.InstantOf(a.Now())}, nil
		},
		Show:    a.showVehicles,
		Ready:   &rest.Ready[record.Vehicle]{Facts: a.vehicleFacts, Show: a.readyVehicles},
		Prepare: a.prepareVehicle,
		MayArchive: func(r *http.Request, id uint64) (func(*record.Record[record.Vehicle]) error, func(error)) {
			leaving := a.desk.Yard.Leave(rest.Author(r), auth.From(r.Context()).Account, id)
			return func(rec *record.Record[record.Vehicle]) error {
				return leaving.MayArchive(r.Context(), rec)
			}, func(err error) { leaving.Done(r.Context(), err) }
		},
	}
	s.Register()
	rest.Act(s, rest.Action[record.Vehicle, VehicleStatus]{
		Verb: "status", ID: "setVehicleStatus", Summary: "Move a vehicle to another state by hand",
		About:   "A vehicle becomes rented, and ceases to be, through its bookings only.",
		Refuses: "A state that cannot be reached from the present one",
		Do: func(c *rest.Call[record.Vehicle], sent VehicleStatus) (record.Record[record.Vehicle], error) {
			if sent.Status != record.VehicleRetired && (sent.DisposalOn != "" || sent.DisposalPrice != nil) {
				return record.Record[record.Vehicle]{},
					fleet.Invalid(fleet.FieldError{Pointer: "/disposal_on", Code: "invalid", Detail: "goes with retired " +
						"only"})
			}
			return a.desk.Yard.MoveVehicle(c.Context(), c.By, c.Account, c.ID, yard.ByHand{Status: sent.Status,
				Reason: sent.Reason, DisposalOn: sent.DisposalOn, DisposalPrice: sent.DisposalPrice}, c.CheckRecord)
		},
	})
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/vehicles/{id}/devices", ID: "listVehicleDevices", Tag: "Vehicles",
		Scope:   auth.TelematicsRead,
		Summary: "List the trackers that are or were on a vehicle", Params: rest.PageParams, Reply: a.ListSchema(Device{}),
	}, a.vehicleDevices)
}

// prepareVehicle completes a vehicle that is about to be written, and refuses what its schema cannot.
func (a *API) prepareVehicle(r *http.Request, _ uint64, before, after *record.Vehicle) error {
	// What somebody says now of where it is counts more than what has ended until now.
	if said := after.CurrentLocationID; before == nil && said != "" || before != nil && said != before.CurrentLocationID {
		after.LocatedAt = record.InstantOf(slices.MaxFunc([]time.Time{a.Now(), after.LocatedAt.Time}, time.Time.Compare))
	}
	if err := checkVehicle(after); err != nil {
		return err
	}
	return a.vehicleRefers(r, after)
}

// hasVehicle refuses an id of which the account has no vehicle, archived or not.
func (a *API) hasVehicle(ctx context.Context, account fleet.AccountID, id uint64) error {
	return rest.Has(ctx, a.Server, &query.Vehicles, a.vehicles, account, id)
}

// vehicleDevices lists the devices of one vehicle; they are few, so that pages are cut here.
func (a *API) vehicleDevices(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	if err := a.hasVehicle(r.Context(), account, id); err != nil {
		return err
	}
	p, err := rest.PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	if p.After != nil {
		return rest.InvalidParam("cursor", "is not a next_cursor of this list")
	}
	stored, err := query.DevicesOf(r.Context(), a.DB, account, []uint64{id})
	if err != nil {
		return err
	}
	devices := []Device{}
	for _, row := range stored[min(p.Offset(), len(stored)):min(p.Offset()+p.PerPage, len(stored))] {
		rec, err := rest.FromStored[record.Device](account, row)
		if err != nil {
			return err
		}
		devices = append(devices, showDevice(rec, a.Now()))
	}
	if err := a.hearDevices(r.Context(), account, devices); err != nil {
		return err
	}
	return rest.WriteList(w, r, r.URL.Path, p, devices, len(stored), nil)
}

// showVehicles makes the answers for vehicles, joined with what is known of them at this moment.
func (a *API) showVehicles(ctx context.Context, records []record.Record[record.Vehicle],
	expand []string) ([]rest.Shown, error) {
	if len(records) == 0 {
		return nil, nil
	}
	ids := make([]uint64, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	all, now, err := a.known.Of(ctx, records[0].Account, ids)
	if err != nil {
		return nil, err
	}
	return a.showKnown(ctx, records, all, now, expand)
}

// vehicleFacts tells what is known of vehicles beside their records.
func (a *API) vehicleFacts(ctx context.Context, account fleet.AccountID, ids []uint64) ([]rest.Fact, time.Time, error) {
	all, now, err := a.known.Of(ctx, account, ids)
	if err != nil {
		return nil, now, err
	}
	facts := make([]rest.Fact, len(all))
	for i, k := range all {
		facts[i] = rest.Fact{Of: k, Number: k.number}
	}
	return facts, now, nil
}

// readyVehicles is showVehicles by facts that are there.
func (a *API) readyVehicles(ctx context.Context, records []record.Record[record.Vehicle], facts []rest.Fact,
	now time.Time) ([]rest.Shown, error) {
	all := make([]*known, len(facts))
	for i, f := range facts {
		all[i] = f.Of.(*known)
	}
	return a.showKnown(ctx, records, all, now, nil)
}

// showKnown makes the answers for vehicles by what is known of each at an instant.
func (a *API) showKnown(ctx context.Context, records []record.Record[record.Vehicle], all []*known, now time.Time,
	expand []string) ([]rest.Shown, error) {
	account := records[0].Account
	vehicles := make([]Vehicle, len(records))
	views := make([]rest.Shown, len(records))
	for i, rec := range records {
		v, k := showVehicle(rec), all[i]
		views[i].Until = k.shownUntil(now, v.StatusUntil.Time)
		v.DeviceIDs = []string{}
		for n := range k.devices {
			if k.devices[n].here(now) {
				v.DeviceIDs = append(v.DeviceIDs, fleet.FormatID(fleet.DevicePrefix, k.devices[n].id))
			}
		}
		v.HeardState = heardState(k.heard.Now(now))
		a.addLive(&v, k.live)
		v.addLevels(&rec.Body, k.live)
		v.addMeters(&k.meters)
		if v.Location != nil && v.Location.Address == "" && a.Geocoder != nil {
			views[i].Until = time.Time{} // who knows places by asking others may know this one in a moment
		}
		vehicles[i] = v
	}
	if slices.Contains(expand, "devices") {
		if err := a.addDevices(ctx, account, records, vehicles, now); err != nil {
			return nil, err
		}
	}
	stranded, err := a.addFacts(ctx, account, vehicles, all, now, expand)
	if err != nil {
		return nil, err
	}
	for i, v := range vehicles {
		views[i].View, views[i].Live = v, liveMark(v)
		if stranded[i] {
			views[i].Until = time.Time{} // by bookings, and by what they are called
		}
	}
	return views, nil
}

// addDevices fills in the trackers that are on vehicles now, in full.
func (a *API) addDevices(ctx context.Context, account fleet.AccountID, records []record.Record[record.Vehicle],
	vehicles []Vehicle, now time.Time) error {
	ids, at := make([]uint64, len(records)), make(map[string]*Vehicle, len(records))
	for i, rec := range records {
		ids[i], at[vehicles[i].ID] = rec.ID, &vehicles[i]
		vehicles[i].Devices = []Device{}
	}
	stored, err := query.DevicesOf(ctx, a.DB, account, ids)
	if err != nil {
		return err
	}
	for _, row := range stored {
		rec, err := rest.FromStored[record.Device](account, row)
		if err != nil {
			return err
		}
		if v := at[rec.Body.VehicleNow(now)]; v != nil {
			v.Devices = append(v.Devices, showDevice(rec, now))
		}
	}
	for i := range vehicles {
		if err := a.hearDevices(ctx, account, vehicles[i].Devices); err != nil {
			return err
		}
	}
	return nil
}

func showVehicle(rec record.Record[record.Vehicle]) Vehicle {
	b := rec.Body
	v := Vehicle{
		ID: fleet.FormatID(fleet.VehiclePrefix, rec.ID), Make: b.Make, Model: b.Model, VIN: b.VIN, Status: b.Status,
		VehicleFields: b.VehicleFields, Object: "vehicle", StatusReason: b.StatusReason, StatusSince: b.StatusSince,
		VehicleFacts: VehicleFacts{StatusCause: b.StatusCause, StatusUntil: b.StatusUntil}, Stamps: rest.StampsOf(rec),
	}
	if b.Year != 0 {
		v.Year = &b.Year
	}
	return v
}

// combustion are the fuel types of vehicles without a traction battery that could be charged.
var combustion = []string{"gasoline", "diesel", "cng", "lpg"}

// addLive fills in what is known at this moment, in the units of the interface.
func (a *API) addLive(v *Vehicle, l query.Live) {
	if l.FixTime != 0 {
		v.Location = &VehicleLocation{Lat: l.Lat, Lng: l.Lng, RecordedAt: record.InstantOf(l.FixTime.Time()),
			AccuracyM: rest.RoundedOrNull(l.Accuracy, 1), Source: "telematics"}
		if a.Geocoder != nil {
			v.Location.Address = a.Geocoder.Address(l.Lat, l.Lng)
		}
		v.HeadingDeg, v.SpeedMph = rest.RoundedOrNull(l.Course, 1),
			rest.QuantityOrNull[units.MilesPerHour](l.Speed/fleet.MetresPerMph)
		if l.Ignition != fleet.Unknown {
			on := l.Ignition == fleet.Yes
			v.IgnitionOn = &on
		}
	}
	v.RangeMi = rest.QuantityOrNull[units.WholeMiles](l.Range / fleet.MetresPerMile)
}

// addLevels fills in how full tank and traction battery are: as the trackers say, or as somebody told since.
func (v *Vehicle) addLevels(b *record.Vehicle, l query.Live) {
	newest := func(live float64, at fleet.Millis, read *record.LevelReading) (float64, *string, record.Instant) {
		source := "telematics"
		switch told := read != nil && (math.IsNaN(live) || at.Time().Before(read.At.Time)); {
		case told:
			return read.Pct, &read.Source, read.At
		case math.IsNaN(live):
			return live, nil, record.Instant{}
		}
		return live, &source, record.InstantOf(at.Time())
	}
	var level float64
	if !slices.Contains(combustion, v.FuelType) {
		level, v.BatteryLevelSource, v.BatteryLevelRecordedAt = newest(l.Charge, l.ChargeTime, b.BatteryRead)
		v.BatteryLevel = rest.WholeOrNull(level)
	}
	level, v.FuelLevelSource, v.FuelLevelRecordedAt = newest(l.Fuel, l.FuelTime, b.FuelRead)
	v.FuelLevelPct = rest.RoundedOrNull(level, 1)
}

// acquisition is where the odometer of a vehicle comes from that was never read.
const acquisition = "acquisition"

// addMeters fills in where the meters stand.
func (v *Vehicle) addMeters(m *meters) {
	switch odometer := &m.odometer; {
	case odometer.at != 0:
		v.CurrentMileageMi, v.OdometerSource = rest.QuantityOrNull[units.WholeMiles](odometer.value), &odometer.source
		v.OdometerRecordedAt = record.InstantOf(odometer.at.Time())
		if t := odometer.track; t != nil {
			v.OdometerErrorMi, v.OdometerReadMi, v.OdometerReadAt =
				rest.RoundedOrNull(t.Error, 1), rest.RoundedOrNull(t.Read, 1), rest.Instant(t.ReadAt)
		}
	case v.AcquisitionMileageMi != nil:
		source := acquisition
		v.CurrentMileageMi, v.OdometerSource = rest.QuantityOrNull[units.WholeMiles](float64(*v.AcquisitionMileageMi)),
			&source
	}
	if m.engineAt != 0 {
		v.EngineHours = rest.RoundedOrNull(m.engineHours, 1)
	}
}

// liveMark is what a vehicle shows beside its record, for its entity tag; nil if there is nothing.
func liveMark(v Vehicle) []byte {
	if v.LastHeardAt.IsZero() && v.Location == nil && (v.OdometerSource == nil || *v.OdometerSource == acquisition) &&
		v.BatteryLevel == nil && v.FuelLevelPct == nil && v.RangeMi == nil && v.EngineHours == nil && len(v.DeviceIDs) == 0 &&
		v.CurrentBookingID == nil && v.NextBookingID == nil && (v.IsRentable || v.Status != record.VehicleAvailable) &&
		v.NextAvailableAt.IsZero() && v.BookValue == nil && len(v.Compliance) == 0 && v.VehicleClass == nil &&
		v.HomeLocation == nil &&
		v.CurrentLocation == nil {
		return nil
	}
	mark, err := json.Marshal([]any{v.Location, v.CurrentMileageMi, v.BatteryLevel, v.HeadingDeg, v.SpeedMph, v.IgnitionOn,
		v.FuelLevelPct, v.RangeMi, v.EngineHours, v.OdometerRecordedAt, v.BatteryLevelRecordedAt,
		v.FuelLevelRecordedAt, v.DeviceIDs, v.Devices, v.VehicleFacts, v.HeardState})
	if err != nil {
		panic(err) // plain values
	}
	return mark
}
