package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
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

	Stamps
}

func (a *API) inspectionRoutes() {
	s := &resource[record.VehicleInspection]{
		api: a, path: "/v1/maintenance/inspections", tag: "Maintenance", noun: "inspection", nouns: "inspections", log: a.desk.Inspections, listing: &query.Inspections,
		read: auth.MaintenanceRead, write: auth.MaintenanceWrite, view: VehicleInspection{}, fields: record.InspectionFields{}, states: rental.InspectionStates,
		writable: func(b *record.VehicleInspection) any { return &b.InspectionFields },
		make: func(_ *http.Request, object map[string]any) (record.VehicleInspection, error) {
			b := record.VehicleInspection{Status: rental.InspectionDraft, StatusSince: record.InstantOf(a.Now())}
			return b, a.decodeObject(object, &b.InspectionFields)
		},
		settle: settleInspection,
		refers: func(r *http.Request, b *record.VehicleInspection) error {
			if err := a.ofVehicle(r, b.VehicleID); err != nil {
				return err
			}
			return a.existsOne(r, &query.Bookings, fleet.BookingPrefix, b.BookingID, "/booking_id", "booking")
		},
		show: func(_ context.Context, records []record.Record[record.VehicleInspection], _ []string) ([]shown, error) {
			return each(records, func(rec record.Record[record.VehicleInspection]) any {
				b := rec.Body
				return VehicleInspection{ID: fleet.FormatID(fleet.InspectionPrefix, rec.ID), InspectionFields: b.InspectionFields, Object: "inspection",
					Status: b.Status, StatusSince: b.StatusSince, SubmittedAt: b.SubmittedAt, IssueIDs: list(b.IssueIDs), Stamps: stampsOf(rec)}
			}), nil
		},
	}
	s.register()
	a.handle(route{
		Method: "POST", Path: "/v1/maintenance/inspections/{id}/submit", ID: "submitInspection", Tag: "Maintenance", Scope: auth.MaintenanceWrite,
		Summary: "Submit an inspection", About: "It must be signed and have an item. Each item that failed opens an issue of the vehicle, and `mileage_mi` becomes a meter reading. One of type return in which nothing failed ends the turnaround of the vehicle. From then on " +
			"only notes, external_refs and metadata can be changed. A state that does not allow it is a 409 with `current_state` and `allowed_transitions`.",
		Params: []param{ifMatchParam}, Reply: VehicleInspection{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		return s.act(w, r, a.desk.Yard.SubmitInspection)
	})
}

// settleInspection completes an inspection that is about to be written, and refuses another vehicle and changes of one that is submitted.
func settleInspection(_ *http.Request, id uint64, before, after *record.VehicleInspection) error {
	if after.Type == "" {
		after.Type = "periodic"
	}
	switch {
	case before == nil:
		return nil
	case before.Status == rental.InspectionSubmitted:
		return submittedStays(id, before.InspectionFields, after.InspectionFields)
	case before.VehicleID != after.VehicleID:
		return validation(fleet.FieldError{Pointer: "/vehicle_id", Code: "fixed", Detail: "an inspection stays with its vehicle"})
	}
	return nil
}

// submittedStays refuses to change what was submitted.
func submittedStays(id uint64, before, after record.InspectionFields) error {
	before.Notes, before.ExternalRefs, before.Metadata = after.Notes, after.ExternalRefs, after.Metadata
	was, err := members(before) // as they are written: what is empty is absent
	if err != nil {
		return err
	}
	is, err := members(after)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(was, is) {
		return fleet.NewError(fleet.CodeConflict, "The inspection "+fleet.FormatID(fleet.InspectionPrefix, id)+
			" is submitted; only notes, external_refs and metadata can still be changed.")
	}
	return nil
}
