package rent

import (
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// MeterReading is a reading of a meter of a vehicle as it is answered.
type MeterReading struct {
	ID string `json:"id" doc:"Identity." example:"mrd_1234"`

	record.MeterReading

	Object string `json:"object" doc:"Always meter_reading." example:"meter_reading"`

	rest.Stamps
}

// MeterReadingNew is what callers write of a meter reading. There is no changing it: a wrong one is voided.
type MeterReadingNew struct {
	Meter      string          `json:"kind" enum:"odometer_mi,engine_hours,battery_cycles" doc:"Which meter."`
	Value      float64         `json:"value" minimum:"0" maximum:"10000000" doc:"Miles, hours or cycles." example:"18250"`
	RecordedAt *record.Instant `json:"recorded_at,omitempty" doc:"When it was read; now unless given, and not in the future."`
	Source     string          `json:"source,omitempty" enum:"manual,import" doc:"manual unless given. The others come from bookings, work orders and trackers by themselves."`
	Note       string          `json:"note,omitempty" maxLength:"500"`

	Confirmed
}

// MeterReadingVoid is the body of the action that takes a reading back.
type MeterReadingVoid struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"Why; kept with the reading."`
}

func (a *API) meterReadingRoutes() {
	const path = "/v1/vehicles/{id}/meter_readings"
	s := &rest.Resource[record.MeterReading]{
		Server: a.Server, Log: a.desk.Readings, Listing: &query.MeterReadings,
		Titles: rest.Titles{Path: path, Tag: "Vehicles", Noun: "meter reading", Nouns: "meter readings"},
		Scope:  rest.Scopes{Read: auth.VehiclesRead, Write: auth.VehiclesWrite},
		Views:  rest.Views{View: MeterReading{}, Fields: MeterReadingNew{}, Create: MeterReadingNew{}},
		Show:   rest.ShowEach(showMeterReading),
		Choose: a.withinVehicle,
		Make: func(r *http.Request, object map[string]any) (record.MeterReading, error) {
			var sent MeterReadingNew
			if err := a.DecodeObject(object, &sent); err != nil {
				return record.MeterReading{}, err
			}
			vehicle, err := a.vehicleInPath(r)
			m := record.MeterReading{VehicleID: vehicle, Meter: sent.Meter, Value: sent.Value,
				RecordedAt: record.InstantOf(a.Now()), Source: sent.Source, Note: sent.Note}
			if sent.RecordedAt != nil && !sent.RecordedAt.IsZero() {
				m.RecordedAt = *sent.RecordedAt
			}
			if m.Source == "" {
				m.Source = "manual"
			}
			return m, err
		},
		Prepare: func(_ *http.Request, _ uint64, _, m *record.MeterReading) error {
			// Clocks differ a little.
			if m.RecordedAt.After(a.Now().Add(5 * time.Minute)) {
				return fleet.Invalid(fleet.FieldError{Pointer: "/recorded_at", Code: "invalid", Detail: "lies in the future"})
			}
			if m.RecordedAt.Year() < 1900 {
				return fleet.Invalid(fleet.FieldError{Pointer: "/recorded_at", Code: "invalid", Detail: "must not lie before 1900"})
			}
			return nil
		},
	}
	a.Handle(rest.Route{
		Method: "GET", Path: path, ID: "listMeterReadings", Tag: "Vehicles", Scope: auth.VehiclesRead,
		Summary: "List the meter readings of a vehicle",
		About:   "Those that were made by hand, at pickup and return, or in the workshop. What trackers say is in its telemetry.",
		Params:  slices.Concat(rest.PageParams, rest.Without(s.ListParams(), "vehicle_id"), rest.FieldsParams),
		Reply:   a.ListSchema(MeterReading{}),
	}, s.List)
	a.Handle(rest.Route{
		Method: "POST", Path: path, ID: "createMeterReading", Tag: "Vehicles", Scope: auth.VehiclesWrite,
		Summary: "Note a meter reading of a vehicle",
		About: "Readings are kept for ever. One that is lower than a valid one before it, or higher than one after it, is stored with `voided` and the reason, " +
			"and counts again when that one is voided.",
		Body: MeterReadingNew{}, Status: 201, Reply: MeterReading{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		object, err := rest.ParseObject(rest.RequestBody(r))
		if err != nil {
			return err
		}
		body, err := s.NewBody(r, object)
		if err != nil {
			return err
		}
		var sent MeterReadingNew
		if err := a.DecodeObject(object, &sent); err != nil {
			return err
		}
		rec, err := a.desk.Yard.Note(r.Context(), rest.Author(r), auth.From(r.Context()).Account, a.NewID(r),
			body, sent.Confirm)
		if err != nil {
			return err
		}
		return s.Answer(w, r, http.StatusCreated, rec)
	})
	const one = path + "/{reading}"
	belongs := func(r *http.Request) (func(*record.Record[record.MeterReading]) error, error) {
		vehicle, err := a.vehicleInPath(r)
		return func(m *record.Record[record.MeterReading]) error {
			if m.Body.VehicleID != vehicle {
				return rest.NotFound("meter reading", fleet.FormatID(fleet.MeterReadingPrefix, m.ID))
			}
			return nil
		}, err
	}
	a.Handle(rest.Route{
		Method: "GET", Path: one, ID: "getMeterReading", Tag: "Vehicles", Scope: auth.VehiclesRead,
		Summary: "Get a meter reading of a vehicle",
		Reply:   MeterReading{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		may, err := belongs(r)
		if err != nil {
			return err
		}
		id, err := rest.NamedID(r, "reading", s.Noun, fleet.MeterReadingPrefix)
		if err != nil {
			return err
		}
		rec, err := a.desk.Readings.Get(r.Context(), auth.From(r.Context()).Account, id)
		if err == nil {
			err = may(&rec)
		}
		if err != nil {
			return err
		}
		return s.Answer(w, r, http.StatusOK, rec)
	})
	rest.Act(s, rest.Action[record.MeterReading, MeterReadingVoid]{
		Path: one, CheckOwner: belongs, Verb: "void", Summary: "Take a meter reading back",
		About: "It stays in the list, and counts no more. Voiding it again changes nothing.",
		Do: func(c *rest.Call[record.MeterReading], sent MeterReadingVoid) (record.Record[record.MeterReading], error) {
			return a.desk.Yard.VoidReading(c.Context(), c.By, c.Account, c.ID, sent.Reason, c.CheckRecord)
		},
	})
}

func showMeterReading(rec record.Record[record.MeterReading]) any {
	return MeterReading{ID: fleet.FormatID(fleet.MeterReadingPrefix, rec.ID), MeterReading: rec.Body,
		Object: "meter_reading", Stamps: rest.StampsOf(rec)}
}
