package track

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Device is a tracker as it is answered.
type Device struct {
	ID string `json:"id" doc:"Identity." example:"dev_1234"`

	record.DeviceFields

	Object         string       `json:"object" doc:"Always device." example:"device"`
	VehicleID      *string      `json:"vehicle_id" doc:"The vehicle that it is on now; null if on none."`
	Assignments    []Assignment `json:"assignments" nullable:"false" doc:"The vehicles that it was on, in order of time."`
	HasOsmandToken bool         `json:"has_osmand_token" doc:"Whether a phone can send its position as this device."`
	ArchiveReason  string       `json:"archive_reason,omitempty" doc:"Why it was archived, if that was not the account's doing: an operator may give a tracker to another account." example:"given to another account"`
	HeardState
	ReportIntervalS *int64   `json:"report_interval_s" doc:"The interval in which it has reported in the last week, by whole minutes: nine tenths of the time lie in silences of at most that. Null if it was heard of less than three times." example:"600"`
	Vehicle         *Vehicle `json:"vehicle,omitempty" doc:"The vehicle that it is on, with expand=vehicle."`

	rest.Stamps
}

// Assignment says that a device was on a vehicle during [from, to).
type Assignment struct {
	VehicleID string         `json:"vehicle_id" example:"veh_1234"`
	From      record.Instant `json:"from" doc:"Null means since ever."`
	To        record.Instant `json:"until" doc:"Null means until further notice."`
}

// DeviceAssign is the body of the action that puts a device on a vehicle.
type DeviceAssign struct {
	VehicleID string          `json:"vehicle_id" example:"veh_1234"`
	From      *record.Instant `json:"from,omitempty" doc:"Since when; null for since ever. Unless given: since ever for its first vehicle, and now for another."`
}

// DeviceUnassign is the body of the action that takes a device off its vehicle.
type DeviceUnassign struct {
	At *record.Instant `json:"at,omitempty" doc:"Since when; now unless given."`
}

// DeviceToken is a token with which a phone sends its position.
type DeviceToken struct {
	DeviceID string `json:"device_id" example:"dev_1234"`
	UniqueID string `json:"unique_id" doc:"The device identifier to enter in the app."`
	Token    string `json:"token,omitempty" doc:"Shown this once, and stored nowhere. Give it as the parameter token, or as the bearer."`
}

func (a *API) deviceRoutes() {
	s := &rest.Resource[record.Device]{
		Server: a.Server, Log: a.devices, Listing: &query.Devices,
		Titles: rest.Titles{Path: "/v1/devices", Tag: "Devices", Noun: "device", Nouns: "devices"},
		Scope: rest.Scopes{
			Read: auth.TelematicsRead, Write: auth.TelematicsWrite,
			Needs: map[string]auth.Scope{"vehicle": auth.VehiclesRead},
		},
		Views: rest.Views{
			View: Device{}, Fields: record.DeviceFields{}, Expand: []string{"vehicle"},
			Moving: []string{"vehicle_id", "vehicle", "online", "last_heard_at", "report_interval_s"},
		},
		Writable: func(d *record.Device) any { return &d.DeviceFields },
		Show:     a.showDevices,
		Prepare:  a.prepareDevice,
	}
	s.Register()
	type rec = record.Record[record.Device]
	type asked = rest.Call[record.Device]
	rest.Act(s, rest.Action[record.Device, DeviceAssign]{
		Verb: "assign", Summary: "Put a tracker on a vehicle",
		About: "Ends the assignment that the tracker has then. Assignments of a tracker never overlap. What comes in " +
			"two seconds from now or later goes to the vehicle that the tracker was on at its time; positions and " +
			"trips that are stored already stay with the vehicle that they are of.",
		Do: a.assign,
	})
	rest.Act(s, rest.Action[record.Device, DeviceUnassign]{
		Verb: "unassign", Summary: "Take a tracker off its vehicle", Optional: true,
		Do: func(c *asked, sent DeviceUnassign) (rec, error) {
			at := a.Now()
			if sent.At != nil {
				at = sent.At.Time
			}
			return c.Update(func(rec *rec) error { return rec.Body.Unassign(at) })
		},
	})
	rest.Act(s, rest.Action[record.Device, rest.NoBody]{
		Verb: "osmand_token", ID: "createDeviceToken",
		Summary: "Make the token with which a phone sends its position as this device",
		About:   "An earlier token stops working. An answer that is replayed for an Idempotency-Key does not show the token again.",
		Status:  http.StatusCreated, Reply: DeviceToken{}, Answer: a.deviceToken,
	})
	a.Handle(rest.Route{
		Method: "DELETE", Path: "/v1/devices/{id}/osmand_token", ID: "deleteDeviceToken", Tag: "Devices",
		Scope:   auth.TelematicsWrite,
		Summary: "Withdraw the token of a device", Status: 204,
	}, func(w http.ResponseWriter, r *http.Request) error {
		if _, err := a.setToken(r, ""); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// prepareDevice refuses a unique id that another account has, or that nobody can read.
func (a *API) prepareDevice(r *http.Request, _ uint64, before, after *record.Device) error {
	if before == nil || before.UniqueID != after.UniqueID {
		if err := a.prepareUniqueID(r, before, after); err != nil {
			return err
		}
	}
	if !rest.Printable(after.UniqueID) {
		return fleet.Invalid(fleet.FieldError{Pointer: "/unique_id", Code: "invalid",
			Detail: "must be printable, without blanks at its ends"})
	}
	return nil
}

// prepareUniqueID notes since when a device has a unique id that is new to it: an account that has not shown that the
// tracker is its own gets what comes from then on. One that an operator gave to another account is taken.
func (a *API) prepareUniqueID(r *http.Request, before, after *record.Device) error {
	if before != nil {
		after.UniqueSince = record.InstantOf(a.Now())
	}
	owners, err := query.Owners(r.Context(), a.DB, after.UniqueID)
	if err != nil {
		return err
	}
	if owner, owned := owners[after.UniqueID]; owned && owner.Account != auth.From(r.Context()).Account {
		return record.NotUnique("/unique_id")
	}
	return nil
}

func (a *API) assign(c *rest.Call[record.Device], sent DeviceAssign) (record.Record[record.Device], error) {
	var none record.Record[record.Device]
	object, err := rest.ParseObject(rest.RequestBody(c.Request)) // which tells from: null from a body without it
	if err != nil {
		return none, err
	}
	since, given := object["from"]
	from, unsaid := a.Now(), sent.From == nil && !given
	if sent.From != nil {
		from = sent.From.Time
	} else if given && since == nil {
		from = time.Time{}
	}
	id, err := fleet.ParseID(fleet.VehiclePrefix, sent.VehicleID)
	if err == nil {
		var vehicle record.Record[record.Vehicle]
		if vehicle, err = a.vehicles.Get(c.Context(), c.Account, id); err == nil && vehicle.Archived() {
			return none, fleet.Invalid(fleet.FieldError{Pointer: "/vehicle_id", Code: "archived",
				Detail: "the vehicle is archived; assign the device to one that is in use"})
		}
	}
	if err != nil {
		if code := fleet.CodeOf(err); code != "" && code != fleet.CodeNotFound || rest.LostDependency(err) {
			return none, err
		}
		return none, fleet.Invalid(fleet.NoSuch("/vehicle_id", "vehicle", fleet.VehiclePrefix, sent.VehicleID))
	}
	return c.Update(func(rec *record.Record[record.Device]) error {
		if unsaid && len(rec.Body.Assignments) == 0 {
			// It was on no other: what it has sent since it is the account's is this vehicle's.
			return rec.Body.Assign(fleet.VehicleID(id), time.Time{})
		}
		return rec.Body.Assign(fleet.VehicleID(id), from)
	})
}

func (a *API) deviceToken(w http.ResponseWriter, c *rest.Call[record.Device], _ rest.NoBody) error {
	token, hash := auth.MakeDeviceToken()
	rec, err := a.setToken(c.Request, hash)
	if err != nil {
		return err
	}
	answer := DeviceToken{DeviceID: fleet.FormatID(fleet.DevicePrefix, rec.ID), UniqueID: rec.Body.UniqueID}
	if rest.ExchangeOf(c.Context()).Unstored, err = rest.EncodeJSON(answer, false); err != nil {
		return err
	}
	answer.Token = token
	return rest.WriteJSON(w, c.Request, http.StatusCreated, answer)
}

func (a *API) setToken(r *http.Request, hash string) (record.Record[record.Device], error) {
	id, err := rest.PathID(r, "device", fleet.DevicePrefix)
	if err != nil {
		return record.Record[record.Device]{}, err
	}
	return a.devices.Update(r.Context(), rest.Author(r), auth.From(r.Context()).Account, id, 0,
		func(rec *record.Record[record.Device]) error {
			if err := rest.Precondition(r, rec.Revision); err != nil {
				return err
			}
			rec.Body.OsmandTokenSHA256 = hash
			return nil
		})
}

func (a *API) showDevices(ctx context.Context, records []record.Record[record.Device],
	expand []string) ([]rest.Shown, error) {
	now := a.Now()
	views := make([]rest.Shown, len(records))
	vehicles := map[string]*Vehicle{}
	if slices.Contains(expand, "vehicle") && len(records) > 0 {
		var err error
		if vehicles, err = a.vehiclesOf(ctx, records, now); err != nil {
			return nil, err
		}
	}
	devices := make([]Device, len(records))
	for i, rec := range records {
		devices[i] = showDevice(rec, now)
	}
	if len(records) == 0 {
		return views, nil
	}
	if err := a.hearDevices(ctx, records[0].Account, devices); err != nil {
		return nil, err
	}
	for i, d := range devices {
		if d.VehicleID != nil {
			d.Vehicle = vehicles[*d.VehicleID]
		}
		views[i].View = d
		// Assignments may begin and end by themselves, and the vehicle changes on its own.
		if d.VehicleID != nil || !d.LastHeardAt.IsZero() {
			mark, err := json.Marshal([]any{d.VehicleID, d.Vehicle, d.HeardState, d.ReportIntervalS})
			if err != nil {
				return nil, err
			}
			views[i].Live = mark
		}
	}
	return views, nil
}

// vehiclesOf returns the vehicles that devices are on now, by their written ids.
func (a *API) vehiclesOf(ctx context.Context, records []record.Record[record.Device],
	now time.Time) (map[string]*Vehicle, error) {
	var ids []uint64
	for _, rec := range records {
		if id, err := fleet.ParseID(fleet.VehiclePrefix, rec.Body.VehicleNow(now)); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	account := records[0].Account
	stored, err := a.RecordsByID(ctx, &query.Vehicles, account, ids)
	if err != nil {
		return nil, err
	}
	var found []record.Record[record.Vehicle]
	for _, row := range stored {
		rec, err := rest.FromStored[record.Vehicle](account, row)
		if err != nil {
			return nil, err
		}
		found = append(found, rec)
	}
	views, err := a.showVehicles(ctx, found, nil)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Vehicle, len(views))
	for _, v := range views {
		vehicle := v.View.(Vehicle)
		byID[vehicle.ID] = &vehicle
	}
	return byID, nil
}

func showDevice(rec record.Record[record.Device], now time.Time) Device {
	d := Device{
		ID: fleet.FormatID(fleet.DevicePrefix, rec.ID), DeviceFields: rec.Body.DeviceFields, Object: "device",
		Assignments: []Assignment{}, HasOsmandToken: rec.Body.OsmandTokenSHA256 != "", ArchiveReason: rec.Body.ArchiveReason,
		Stamps: rest.StampsOf(rec),
	}
	for _, one := range rec.Body.Assignments {
		d.Assignments = append(d.Assignments, Assignment(one))
	}
	if vehicle := rec.Body.VehicleNow(now); vehicle != "" {
		d.VehicleID = &vehicle
	}
	return d
}
