package rent

import (
	"net/http"
	"reflect"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// VehicleInspection is an inspection of a vehicle outside a handover as it is answered.
type VehicleInspection struct {
	ID string `json:"id" doc:"Identity." example:"ins_1234"`

	record.InspectionFields

	Object      string         `json:"object" doc:"Always inspection." example:"inspection"`
	Status      string         `json:"status" doc:"draft or submitted." example:"draft"`
	StatusSince record.Instant `json:"status_since"`
	SubmittedAt record.Instant `json:"submitted_at" doc:"Null before."`
	IssueIDs    []string       `json:"issue_ids" nullable:"false" doc:"The issues that it opened, one for each item that failed, in their order."`

	rest.Stamps
}

func (a *API) inspectionRoutes() {
	s := &rest.Resource[record.VehicleInspection]{
		Server: a.Server, Log: a.desk.Inspections, Listing: &query.Inspections,
		Titles: rest.Titles{
			Path: "/v1/maintenance/inspections", Tag: "Maintenance", Noun: "inspection", Nouns: "inspections",
		},
		Scope:    rest.Scopes{Read: auth.MaintenanceRead, Write: auth.MaintenanceWrite},
		Views:    rest.Views{View: VehicleInspection{}, Fields: record.InspectionFields{}, States: rental.InspectionStates},
		Writable: func(b *record.VehicleInspection) any { return &b.InspectionFields },
		Make: func(_ *http.Request, object map[string]any) (record.VehicleInspection, error) {
			b := record.VehicleInspection{Status: rental.InspectionDraft, StatusSince: record.InstantOf(a.Now())}
			return b, a.DecodeObject(object, &b.InspectionFields)
		},
		Prepare: func(r *http.Request, id uint64, before, after *record.VehicleInspection) error {
			if err := prepareInspection(id, before, after); err != nil {
				return err
			}
			if err := a.ofVehicle(r, after.VehicleID); err != nil {
				return err
			}
			return a.CheckBooking(r, after.BookingID, "/booking_id")
		},
		Show: rest.ShowEach(func(rec record.Record[record.VehicleInspection]) any {
			b := rec.Body
			return VehicleInspection{ID: fleet.FormatID(fleet.InspectionPrefix, rec.ID), InspectionFields: b.InspectionFields,
				Object: "inspection",
				Status: b.Status, StatusSince: b.StatusSince, SubmittedAt: b.SubmittedAt, IssueIDs: rest.NonNil(b.IssueIDs),
				Stamps: rest.StampsOf(rec)}
		}),
	}
	s.Register()
	rest.Act(s, rest.Action[record.VehicleInspection, rest.NoBody]{
		Verb: "submit", Summary: "Submit an inspection", Refuses: rest.OtherState,
		About: "It must be signed and have an item. Each item that failed opens an issue of the vehicle, and " +
			"`mileage_mi` becomes a meter reading. One of type return in which nothing failed ends the turnaround of " +
			"the vehicle. From then on only notes, external_refs and metadata can be changed.",
		Do: func(c *rest.Call[record.VehicleInspection], _ rest.NoBody) (record.Record[record.VehicleInspection], error) {
			return c.Update(a.desk.Yard.SubmitInspection)
		},
	})
}

// prepareInspection completes an inspection that is about to be written, and refuses another vehicle and changes of one
// that is submitted.
func prepareInspection(id uint64, before, after *record.VehicleInspection) error {
	if after.Type == "" {
		after.Type = "periodic"
	}
	switch {
	case before == nil:
		return nil
	case before.Status == rental.InspectionSubmitted:
		return submittedStays(id, before.InspectionFields, after.InspectionFields)
	case before.VehicleID != after.VehicleID:
		return fleet.Invalid(fleet.FieldError{Pointer: "/vehicle_id", Code: "fixed",
			Detail: "an inspection stays with its vehicle"})
	}
	return nil
}

// submittedStays refuses to change what was submitted.
func submittedStays(id uint64, before, after record.InspectionFields) error {
	before.Notes, before.ExternalRefs, before.Metadata = after.Notes, after.ExternalRefs, after.Metadata
	was, err := rest.Members(before) // as they are written: what is empty is absent
	if err != nil {
		return err
	}
	is, err := rest.Members(after)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(was, is) {
		return fleet.NewError(fleet.CodeConflict, "The inspection "+fleet.FormatID(fleet.InspectionPrefix, id)+
			" is submitted; only notes, external_refs and metadata can still be changed.")
	}
	return nil
}
