package api

import (
	"fmt"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/due"
	"github.com/motorpool/fleet/query"
)

// MaintenanceTask is an entry of the catalogue of service tasks as it is answered.
type MaintenanceTask struct {
	ID string `json:"id" doc:"Identity." example:"tsk_1234"`

	record.ServiceTask

	Object string `json:"object" doc:"Always service_task." example:"service_task"`

	Stamps
}

// MaintenanceSchedule is a maintenance schedule as it is answered.
type MaintenanceSchedule struct {
	ID string `json:"id" doc:"Identity." example:"sch_1234"`

	record.ScheduleFields

	Object string `json:"object" doc:"Always maintenance_schedule." example:"maintenance_schedule"`
	Status string `json:"status" doc:"active, paused or archived." example:"active"`

	Stamps
}

func (a *API) taskRoutes() {
	s := &resource[record.ServiceTask]{
		api: a, log: a.desk.Tasks, listing: &query.ServiceTasks,
		titles:   titles{path: "/v1/maintenance/tasks", tag: "Maintenance", noun: "service task", nouns: "service tasks"},
		scope:    scopes{read: auth.MaintenanceRead, write: auth.MaintenanceWrite},
		views:    views{view: MaintenanceTask{}, fields: record.ServiceTask{}},
		writable: func(b *record.ServiceTask) any { return b },
		show: each(func(rec record.Record[record.ServiceTask]) any {
			return MaintenanceTask{ID: fleet.FormatID(fleet.TaskPrefix, rec.ID), ServiceTask: rec.Body, Object: "service_task", Stamps: stampsOf(rec)}
		}),
	}
	s.register()
}

func (a *API) scheduleRoutes() {
	s := &resource[record.MaintenanceSchedule]{
		api: a, log: a.desk.Schedules, listing: &query.Schedules,
		titles: titles{
			path: "/v1/maintenance/schedules", tag: "Maintenance", noun: "maintenance schedule",
			nouns: "maintenance schedules",
		},
		scope:    scopes{read: auth.MaintenanceRead, write: auth.MaintenanceWrite},
		views:    views{view: MaintenanceSchedule{}, fields: record.ScheduleFields{}},
		writable: func(b *record.MaintenanceSchedule) any { return &b.ScheduleFields },
		show:     each(showSchedule),
		prepare: func(r *http.Request, _ uint64, _, b *record.MaintenanceSchedule) error {
			if err := checkSchedule(b); err != nil {
				return err
			}
			return a.scheduleRefers(r, b)
		},
	}
	s.register()
}

func showSchedule(rec record.Record[record.MaintenanceSchedule]) any {
	v := MaintenanceSchedule{ID: fleet.FormatID(fleet.SchedulePrefix, rec.ID), ScheduleFields: rec.Body.ScheduleFields, Object: "maintenance_schedule",
		Status: "active", Stamps: stampsOf(rec)}
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
		faults = append(faults, fleet.FieldError{Pointer: "/vehicle_id", Code: "one_of", Detail: "exactly one of vehicle_id, vehicle_class_id and tag must be given"})
	}
	if a := b.Anchor; a != nil && b.VehicleID == "" && (a.Mi != nil || a.Hours != nil) {
		faults = append(faults, fleet.FieldError{Pointer: "/anchor", Code: "one_vehicle", Detail: "only a schedule of one vehicle can say what its meters were"})
	}
	for pointer, text := range map[string]string{"/fixed_due_on": b.FixedDueOn, "/anchor/on": anchorOn(b.Anchor)} {
		if day, err := due.ParseDay(text); text != "" && (err != nil || day <= 0) {
			faults = append(faults, fleet.FieldError{Pointer: pointer, Code: "invalid", Detail: "must be a date after 1970-01-01"})
		}
	}
	for i, days := range b.OffsetsDays {
		if days < 0 || days > 3650 {
			faults = append(faults, fleet.FieldError{Pointer: fmt.Sprintf("/reminder_offsets_days/%d", i), Code: "range", Detail: "must be from 0 to 3650"})
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
		if err := a.existsOne(r, ref.listing, ref.prefix, ref.id, ref.pointer, ref.ofWhich); err != nil {
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
	if rule := due.RuleOf(&b.ScheduleFields, &task.Body); rule.Empty() {
		return fleet.Invalid(fleet.FieldError{Pointer: "/every_mi", Code: "required", Detail: "neither the schedule nor its task says when it is due"})
	}
	return nil
}
