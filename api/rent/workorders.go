package rent

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk/workshop"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/due"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// WorkOrder is a work order as it is answered.
type WorkOrder struct {
	ID string `json:"id" doc:"Identity." example:"wo_1234"`

	record.WorkOrderFields

	Object          string         `json:"object" doc:"Always work_order." example:"work_order"`
	Number          string         `json:"number" doc:"What people call it by; given once in the account, and rising." example:"W-1017"`
	Status          string         `json:"status" doc:"draft, scheduled, in_progress, on_hold, completed or cancelled." example:"scheduled"`
	StatusSince     record.Instant `json:"status_since"`
	HoldReason      string         `json:"hold_reason,omitempty" doc:"awaiting_parts, awaiting_vendor or other, while it is on hold."`
	StartedAt       record.Instant `json:"started_at"`
	CompletedAt     record.Instant `json:"completed_at"`
	CancelReason    string         `json:"cancel_reason,omitempty"`
	Total           *record.Money  `json:"total,omitempty" doc:"Of the lines, each quantity times its unit cost, half a minor unit up, and their taxes. Absent without lines."`
	DowntimeMinutes int            `json:"downtime_minutes" doc:"From start to completion; 0 before."`
	BlockedFrom     record.Instant `json:"blocked_from" doc:"From when it holds the vehicle's calendar; null if it does not."`
	BlockedUntil    record.Instant `json:"blocked_until"`

	rest.Stamps
}

// WorkSchedule is the body of the action that schedules a work order.
type WorkSchedule struct {
	Start record.Instant `json:"scheduled_from,omitzero" doc:"What the work order says unless given."`
	End   record.Instant `json:"scheduled_until,omitzero"`
}

// WorkHold is the body of the action that puts a work order on hold.
type WorkHold struct {
	Reason string `json:"reason" enum:"awaiting_parts,awaiting_vendor,other"`
}

// WorkCompletion is the body of the action that completes a work order.
type WorkCompletion struct {
	MileageMi  *int   `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"What was read off the vehicle; its odometer unless given."`
	InvoiceRef string `json:"invoice_ref,omitempty" maxLength:"100"`

	Confirmed
}

// WorkCancel is the body of the action that cancels a work order.
type WorkCancel struct {
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

func (a *API) workOrderRoutes() {
	s := &rest.Resource[record.WorkOrder]{
		Server: a.Server, Log: a.desk.Work, Listing: &query.WorkOrders,
		Titles: rest.Titles{
			Path: "/v1/maintenance/work_orders", Tag: "Maintenance", Noun: "work order", Nouns: "work orders",
		},
		Scope:    rest.Scopes{Read: auth.MaintenanceRead, Write: auth.MaintenanceWrite},
		Views:    rest.Views{View: WorkOrder{}, Fields: record.WorkOrderFields{}, States: rental.WorkStates},
		Writable: func(b *record.WorkOrder) any { return &b.WorkOrderFields },
		Write: func(r *http.Request, w rest.Writing[record.WorkOrder]) (record.Record[record.WorkOrder], error) {
			if w.Body == nil {
				return w.To(r, a.desk.Work)
			}
			return a.desk.Workshop.OpenWork(r.Context(), rest.Author(r), auth.From(r.Context()).Account, w.ID,
				w.Body.WorkOrderFields)
		},
		Prepare: a.prepareWorkOrder,
		Show:    rest.ShowEach(showWorkOrder),
		MayArchive: rest.ArchiveIf(func(_ *http.Request, rec *record.Record[record.WorkOrder]) error {
			switch rec.Body.Status {
			case record.WorkDraft, record.WorkCompleted, record.WorkCancelled:
				return nil
			}
			return fleet.NewError(fleet.CodeConflict,
				"A work order that is "+rec.Body.Status+" cannot be archived; cancel or complete it first.")
		}),
	}
	s.Register()
	a.workOrderActions(s)
}

func (a *API) workOrderActions(s *rest.Resource[record.WorkOrder]) {
	type rec = record.Record[record.WorkOrder]
	type asked = rest.Call[record.WorkOrder]
	move := func(c *asked, does rental.WorkAction, m workshop.WorkMove) (rec, error) {
		m.Action = does
		return a.desk.Workshop.MoveWork(c.Context(), c.By, c.Account, c.ID, m, c.CheckRecord)
	}
	rest.Act(s, rest.Action[record.WorkOrder, WorkSchedule]{
		Verb: "schedule", Summary: "Schedule a work order, or move it to another time", Optional: true,
		Refuses: rest.OtherState,
		About: "Takes the vehicle's calendar from `scheduled_from` until `scheduled_until`; a 409 names what is in " +
			"the way.",
		Do: func(c *asked, sent WorkSchedule) (rec, error) {
			return move(c, rental.ScheduleWork, workshop.WorkMove{Start: sent.Start, End: sent.End})
		},
	})
	rest.Act(s, rest.Action[record.WorkOrder, rest.NoBody]{
		Verb: "start", Summary: "Start a work order", Refuses: rest.OtherState,
		About: "From then on it holds the vehicle until it is completed or cancelled. A 409 if the vehicle is " +
			"rented, or somebody else has it now.",
		Do: func(c *asked, _ rest.NoBody) (rec, error) { return move(c, rental.StartWork, workshop.WorkMove{}) },
	})
	rest.Act(s, rest.Action[record.WorkOrder, WorkHold]{
		Verb: "hold", Summary: "Put a work order on hold", About: "It goes on holding the vehicle.",
		Refuses: rest.OtherState,
		Do: func(c *asked, sent WorkHold) (rec, error) {
			return move(c, rental.HoldWork, workshop.WorkMove{Reason: sent.Reason})
		},
	})
	rest.Act(s, rest.Action[record.WorkOrder, rest.NoBody]{
		Verb: "resume", Summary: "Resume a work order that is on hold", Refuses: rest.OtherState,
		Do: func(c *asked, _ rest.NoBody) (rec, error) { return move(c, rental.ResumeWork, workshop.WorkMove{}) },
	})
	rest.Act(s, rest.Action[record.WorkOrder, WorkCompletion]{
		Verb: "complete", Summary: "Complete a work order", Optional: true, Refuses: rest.OtherState,
		About: "Gives the vehicle back, works out the total and the downtime, and resolves its reminders and issues: " +
			"the next cycle of each schedule begins.",
		Do: func(c *asked, sent WorkCompletion) (rec, error) {
			return move(c, rental.CompleteWork,
				workshop.WorkMove{MileageMi: sent.MileageMi, InvoiceRef: sent.InvoiceRef, Confirm: sent.Confirm})
		},
	})
	rest.Act(s, rest.Action[record.WorkOrder, WorkCancel]{
		Verb: "cancel", Summary: "Cancel a work order", Optional: true, Refuses: rest.OtherState,
		About: "Gives the vehicle back; its reminders and issues are open again.",
		Do: func(c *asked, sent WorkCancel) (rec, error) {
			return move(c, rental.CancelWork, workshop.WorkMove{Reason: sent.Reason})
		},
	})
}

func showWorkOrder(rec record.Record[record.WorkOrder]) any {
	b := rec.Body
	return WorkOrder{
		ID: fleet.FormatID(fleet.WorkOrderPrefix, rec.ID), WorkOrderFields: b.WorkOrderFields, Object: "work_order",
		Number: b.Number, Status: b.Status,
		StatusSince: b.StatusSince, HoldReason: b.HoldReason, StartedAt: b.StartedAt, CompletedAt: b.CompletedAt,
		CancelReason: b.CancelReason, Total: b.Total,
		DowntimeMinutes: b.DowntimeMinutes, BlockedFrom: b.BlockedFrom, BlockedUntil: b.BlockedUntil,
		Stamps: rest.StampsOf(rec),
	}
}

// prepareWorkOrder completes a work order that is about to be written, and refuses what cannot be: a vehicle or
// times that an action has fixed, costs that are posted already, reminders and issues of another vehicle or
// another work order.
func (a *API) prepareWorkOrder(r *http.Request, id uint64, before, after *record.WorkOrder) error {
	after.Complete()
	if before != nil {
		if err := fixedWork(id, before, after); err != nil {
			return err
		}
	}
	if err := a.ofVehicle(r, after.VehicleID); err != nil {
		return err
	}
	for i, task := range after.TaskIDs {
		pointer := fmt.Sprintf("/task_ids/%d", i)
		if task == "" {
			return fleet.Invalid(fleet.NoSuch(pointer, "service task", fleet.TaskPrefix, task))
		}
		if err := a.CheckExists(r, &query.ServiceTasks, fleet.TaskPrefix, task, pointer, "service task"); err != nil {
			return err
		}
	}
	var known record.WorkOrder
	if before != nil {
		known = *before
	}
	self := fleet.FormatID(fleet.WorkOrderPrefix, id)
	reminders, err := checkLinks(r, a, &query.Reminders, fleet.ReminderPrefix, "reminder", after.ReminderIDs,
		known.ReminderIDs, func(b *record.Reminder) string {
			return whyNotLinked(b.VehicleID, after.VehicleID, due.Open(b.Stage), b.WorkOrderID, self)
		})
	if err != nil {
		return err
	}
	for _, rem := range reminders {
		if !slices.Contains(after.TaskIDs, rem.TaskID) {
			after.TaskIDs = append(after.TaskIDs, rem.TaskID)
		}
	}
	if _, err := checkLinks(r, a, &query.Issues, fleet.IssuePrefix, "issue", after.IssueIDs, known.IssueIDs,
		func(b *record.Issue) string {
			return whyNotLinked(b.VehicleID, after.VehicleID, b.Status == rental.IssueOpen ||
				b.Status == rental.IssueInProgress, b.WorkOrderID, self)
		}); err != nil {
		return err
	}
	after.Total, err = rental.WorkTotal(after.Lines)
	return err
}

// fixedWork refuses to change what is fixed in the state of a work order.
func fixedWork(id uint64, before, after *record.WorkOrder) error {
	over := before.Status == record.WorkCompleted || before.Status == record.WorkCancelled
	same := *before
	if over {
		same.InvoiceRef, same.Description, same.ExternalRefs, same.Metadata, same.CustomFields =
			after.InvoiceRef, after.Description, after.ExternalRefs, after.Metadata, after.CustomFields
		same.WarrantyClaim = after.WarrantyClaim
		if !reflect.DeepEqual(same.WorkOrderFields, after.WorkOrderFields) {
			return fleet.NewError(fleet.CodeConflict,
				"The work order "+fleet.FormatID(fleet.WorkOrderPrefix, id)+" is "+before.Status+
					"; only invoice_ref, description, warranty_claim, external_refs, metadata and custom_fields can still be changed.")
		}
		return nil
	}
	if before.Status == record.WorkDraft {
		return nil
	}
	for _, member := range []struct {
		pointer, how string
		changed      bool
	}{
		{"/vehicle_id", "a work order that is " + before.Status + " keeps its vehicle", before.VehicleID != after.VehicleID},
		{"/scheduled_from", "is moved by the action schedule", !before.ScheduledStart.Equal(after.ScheduledStart.Time)},
		{"/scheduled_until", "is moved by the action schedule", !before.ScheduledEnd.Equal(after.ScheduledEnd.Time)},
	} {
		if member.changed {
			return fleet.Invalid(fleet.FieldError{Pointer: member.pointer, Code: "fixed", Detail: member.how})
		}
	}
	return nil
}

// whyNotLinked says why a reminder or an issue cannot be done in a work order; "" if it can.
func whyNotLinked(vehicle, want string, open bool, holder, self string) string {
	switch {
	case vehicle != want:
		return "is of the vehicle " + vehicle
	case !open:
		return "is not open any more"
	case holder != "" && holder != self:
		return "is to be done in " + holder + " already"
	}
	return ""
}

// checkLinks reads the records that a list in a body names, and refuses those that are not there or, if they are new in
// it, that why refuses.
func checkLinks[T any](r *http.Request, a *API, listing *query.Listing, prefix, noun string, names, known []string,
	why func(*T) string) ([]T, error) {
	var ids []uint64
	for _, name := range names {
		id, _ := fleet.ParseID(prefix, name) // what is no id is not found
		ids = append(ids, id)
	}
	account := auth.From(r.Context()).Account
	found, err := query.RecordsByID(r.Context(), a.DB, listing, account, ids)
	if err != nil {
		return nil, err
	}
	var faults []fleet.FieldError
	var bodies []T
	for i, id := range ids {
		pointer := fmt.Sprintf("/%s_ids/%d", noun, i)
		stored, ok := found[id]
		if !ok {
			faults = append(faults, fleet.NoSuch(pointer, noun, prefix, names[i]))
			continue
		}
		rec, err := rest.FromStored[T](account, stored)
		if err != nil {
			return nil, err
		}
		if reason := why(&rec.Body); reason != "" && !slices.Contains(known, names[i]) {
			faults = append(faults,
				fleet.FieldError{Pointer: pointer, Code: "not_possible", Detail: "the " + noun + " " + reason})
		}
		bodies = append(bodies, rec.Body)
	}
	if faults != nil {
		return nil, fleet.Invalid(faults...)
	}
	return bodies, nil
}
