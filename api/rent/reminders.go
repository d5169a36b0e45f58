package rent

import (
	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Reminder is a cycle of a maintenance schedule for a vehicle as it is answered.
type Reminder struct {
	ID            string         `json:"id" doc:"Identity." example:"rem_1234"`
	Object        string         `json:"object" doc:"Always reminder." example:"reminder"`
	ScheduleID    string         `json:"schedule_id" example:"sch_1234"`
	TaskID        string         `json:"task_id" example:"tsk_1234"`
	VehicleID     string         `json:"vehicle_id" example:"veh_1234"`
	Cycle         int            `json:"cycle" doc:"Counts from 1; each time the task is done, or dismissed, begins the next." example:"3"`
	Stage         string         `json:"stage" enum:"upcoming,due_soon,due,overdue,resolved,dismissed" doc:"What comes first of the day and the meters decides." example:"due_soon"`
	StageSince    record.Instant `json:"stage_since"`
	DueOn         string         `json:"due_on,omitempty" format:"date" doc:"Local date on which it is due; overdue from the next day on."`
	DueMi         *float64       `json:"due_mi" doc:"Odometer at which it is due; overdue a tenth of the interval beyond. Null if miles do not matter, or the odometer is unknown." example:"17000"`
	DueHours      *float64       `json:"due_engine_hours"`
	ForecastDueOn string         `json:"forecast_due_on,omitempty" format:"date" doc:"When it will be due if the vehicle goes on as in the last weeks; once it is due, when it was."`
	Anchor        *record.Anchor `json:"anchor,omitempty" doc:"Where the cycle began."`
	Done          *record.Anchor `json:"done,omitempty" doc:"When it was resolved or dismissed."`
	SnoozedUntil  record.Instant `json:"snoozed_until" doc:"Until then nothing is told of it."`
	WorkOrderID   string         `json:"work_order_id,omitempty" doc:"The work order in which it is to be done." example:"wo_1234"`
	ResolvedBy    string         `json:"resolved_by_work_order_id,omitempty" example:"wo_1234"`
	BlockID       string         `json:"block_id,omitempty" doc:"What keeps the vehicle from being rented while it is overdue." example:"blk_1234"`
	Reason        string         `json:"reason,omitempty" doc:"Why it was dismissed."`
	Told          []string       `json:"told" nullable:"false" doc:"What was told of it, each once: stages, and offset:<days> before the forecast."`

	rest.Stamps
}

// ReminderSnooze is the body of the action that snoozes a reminder.
type ReminderSnooze struct {
	Until record.Instant `json:"until,omitzero" doc:"In the future; without it a snooze ends."`
}

// ReminderDismissal is the body of the action that dismisses a reminder.
type ReminderDismissal struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"Why nothing is done."`
}

func (a *API) reminderRoutes() {
	s := &rest.Resource[record.Reminder]{
		Server: a.Server, Log: a.desk.Reminders, Listing: &query.Reminders,
		Titles: rest.Titles{Path: "/v1/maintenance/reminders", Tag: "Maintenance", Noun: "reminder", Nouns: "reminders"},
		Scope:  rest.Scopes{Read: auth.MaintenanceRead, Write: auth.MaintenanceWrite},
		Views:  rest.Views{View: Reminder{}, Fields: Reminder{}},
		Show:   rest.ShowEach(showReminder),
	}
	s.Register("create", "replace", "patch", "archive")
	type rec = record.Record[record.Reminder]
	type asked = rest.Call[record.Reminder]
	const over = "A reminder that is resolved or dismissed"
	rest.Act(s, rest.Action[record.Reminder, ReminderSnooze]{
		Verb: "snooze", Summary: "Keep quiet about a reminder for a while", Refuses: over,
		About: "Its stage goes on; what falls into the snooze is told of afterwards.",
		Do: func(c *asked, sent ReminderSnooze) (rec, error) {
			return c.Update(func(rec *rec) error { return a.desk.Workshop.SnoozeReminder(rec, sent.Until) })
		},
	})
	rest.Act(s, rest.Action[record.Reminder, ReminderDismissal]{
		Verb: "dismiss", Summary: "Give up a cycle", Refuses: over,
		About: "The next cycle counts as if it had been done now.",
		Do: func(c *asked, sent ReminderDismissal) (rec, error) {
			return c.Update(func(rec *rec) error { return a.desk.Workshop.DismissReminder(c.Context(), rec, sent.Reason) })
		},
	})
}

func showReminder(rec record.Record[record.Reminder]) any {
	b := rec.Body
	return Reminder{
		ID: fleet.FormatID(fleet.ReminderPrefix, rec.ID), Object: "reminder", ScheduleID: b.ScheduleID, TaskID: b.TaskID,
		VehicleID: b.VehicleID, Cycle: b.Cycle,
		Stage: b.Stage, StageSince: b.StageSince, DueOn: b.DueOn, DueMi: b.DueMi, DueHours: b.DueHours,
		ForecastDueOn: b.ForecastDueOn, Anchor: b.Anchor, Done: b.Done,
		SnoozedUntil: b.SnoozedUntil, WorkOrderID: b.WorkOrderID, ResolvedBy: b.ResolvedBy, BlockID: b.BlockID,
		Reason: b.Reason, Told: rest.NonNil(b.Told), Stamps: rest.StampsOf(rec),
	}
}
