package rent

import (
	"fmt"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/due"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// MaintenanceTask is an entry of the catalogue of service tasks as it is answered.
type MaintenanceTask struct {
	ID string `json:"id" doc:"Identity." example:"tsk_1234"`

	record.ServiceTask

	Object string `json:"object" doc:"Always service_task." example:"service_task"`

	rest.Stamps
}

// MaintenanceSchedule is a maintenance schedule as it is answered.
type MaintenanceSchedule struct {
	ID string `json:"id" doc:"Identity." example:"sch_1234"`

	record.MaintenanceScheduleFields

	Object string `json:"object" doc:"Always maintenance_schedule." example:"maintenance_schedule"`
	Status string `json:"status" doc:"active, paused or archived." example:"active"`

	rest.Stamps
}

func (a *API) taskRoutes() {
	s := &rest.Resource[record.ServiceTask]{
		Server: a.Server, Log: a.desk.Tasks, Listing: &query.ServiceTasks,
		Titles: rest.Titles{Path: "/v1/maintenance/tasks", Tag: "Maintenance", Noun: "service task",
			Nouns: "service tasks"},
		Scope:    rest.Scopes{Read: auth.MaintenanceRead, Write: auth.MaintenanceWrite},
		Views:    rest.Views{View: MaintenanceTask{}, Fields: record.ServiceTask{}},
		Writable: func(b *record.ServiceTask) any { return b },
		Show: rest.ShowEach(func(rec record.Record[record.ServiceTask]) any {
			return MaintenanceTask{ID: fleet.FormatID(fleet.TaskPrefix, rec.ID), ServiceTask: rec.Body, Object: "service_task",
				Stamps: rest.StampsOf(rec)}
		}),
	}
	s.Register()
}

func (a *API) scheduleRoutes() {
	s := &rest.Resource[record.MaintenanceSchedule]{
		Server: a.Server, Log: a.desk.Schedules, Listing: &query.Schedules,
		Titles: rest.Titles{
			Path: "/v1/maintenance/schedules", Tag: "Maintenance", Noun: "maintenance schedule",
			Nouns: "maintenance schedules",
		},
		Scope:    rest.Scopes{Read: auth.MaintenanceRead, Write: auth.MaintenanceWrite},
		Views:    rest.Views{View: MaintenanceSchedule{}, Fields: record.MaintenanceScheduleFields{}},
		Writable: func(b *record.MaintenanceSchedule) any { return &b.MaintenanceScheduleFields },
		Show:     rest.ShowEach(showSchedule),
		Prepare: func(r *http.Request, _ uint64, _, b *record.MaintenanceSchedule) error {
			if err := checkSchedule(b); err != nil {
				return err
			}
			return a.scheduleRefers(r, b)
		},
	}
	s.Register()
}

func showSchedule(rec record.Record[record.MaintenanceSchedule]) any {
	v := MaintenanceSchedule{ID: fleet.FormatID(fleet.SchedulePrefix, rec.ID),
		MaintenanceScheduleFields: rec.Body.MaintenanceScheduleFields, Object: "maintenance_schedule",
		Status: "active", Stamps: rest.StampsOf(rec)}
	switch {
	case rec.Archived():
		v.Status = "archived"
	case rec.Body.Paused:
		v.Status = "paused"
	}
	return v
}

// checkSchedule completes a schedule, and refuses one that its schema cannot.
func checkSchedule(b *record.MaintenanceSchedule) error {
	if b.Repeat == "" {
		b.Repeat = due.RepeatFromCompletion
	}
	var faults []fleet.FieldError
	targets := 0
	for _, target := range []string{b.VehicleID, b.VehicleClassID, b.Tag} {
		if target != "" {
			targets++
		}
	}
	if targets != 1 {
		faults = append(faults, fleet.FieldError{Pointer: "/vehicle_id", Code: "one_of",
			Detail: "exactly one of vehicle_id, vehicle_class_id and tag must be given"})
	}
	if a := b.Anchor; a != nil && b.VehicleID == "" && (a.Mi != nil || a.Hours != nil) {
		faults = append(faults, fleet.FieldError{Pointer: "/anchor", Code: "one_vehicle",
			Detail: "only a schedule of one vehicle can say what its meters were"})
	}
	for pointer, text := range map[string]string{"/fixed_due_on": b.FixedDueOn, "/anchor/on": anchorOn(b.Anchor)} {
		if day, err := due.ParseDay(text); text != "" && (err != nil || day <= 0) {
			faults = append(faults,
				fleet.FieldError{Pointer: pointer, Code: "invalid", Detail: "must be a date after 1970-01-01"})
		}
	}
	for i, days := range b.OffsetsDays {
		if days < 0 || days > 3650 {
			faults = append(faults, fleet.FieldError{Pointer: fmt.Sprintf("/reminder_offsets_days/%d", i), Code: "range",
				Detail: "must be from 0 to 3650"})
		}
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

func anchorOn(a *record.Anchor) string {
	if a == nil {
		return ""
	}
	return a.On
}

// scheduleRefers refuses a schedule that names what the account does not have, or that is never due.
func (a *API) scheduleRefers(r *http.Request, b *record.MaintenanceSchedule) error {
	for _, ref := range []struct {
		listing                      *query.Listing
		prefix, id, pointer, ofWhich string
	}{
		{&query.ServiceTasks, fleet.TaskPrefix, b.TaskID, "/task_id", "service task"},
		{&query.Vehicles, fleet.VehiclePrefix, b.VehicleID, "/vehicle_id", "vehicle"},
		{&query.VehicleClasses, fleet.ClassPrefix, b.VehicleClassID, "/vehicle_class_id", "vehicle class"},
	} {
		if ref.id == "" && ref.listing == &query.ServiceTasks {
			return fleet.Invalid(fleet.NoSuch(ref.pointer, ref.ofWhich, ref.prefix, ref.id))
		}
		if err := a.CheckExists(r, ref.listing, ref.prefix, ref.id, ref.pointer, ref.ofWhich); err != nil {
			return err
		}
	}
	id, err := fleet.ParseID(fleet.TaskPrefix, b.TaskID)
	if err != nil {
		return err
	}
	task, err := a.desk.Tasks.Get(r.Context(), auth.From(r.Context()).Account, id)
	if err != nil {
		return err
	}
	if rule := due.RuleOf(&b.MaintenanceScheduleFields, &task.Body); rule.Empty() {
		return fleet.Invalid(fleet.FieldError{Pointer: "/every_mi", Code: "required",
			Detail: "neither the schedule nor its task says when it is due"})
	}
	return nil
}
