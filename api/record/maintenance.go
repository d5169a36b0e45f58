package record

import "github.com/motorpool/fleet"

// MeterReading is a reading of a meter of a vehicle. It is never changed; a wrong one is voided.
type MeterReading struct {
	VehicleID  string  `json:"vehicle_id" example:"veh_1234"`
	Meter      string  `json:"kind" enum:"odometer_mi,engine_hours,battery_cycles"`
	Value      float64 `json:"value" minimum:"0" maximum:"10000000"`
	RecordedAt Instant `json:"recorded_at"`
	Source     string  `json:"source" enum:"telematics,manual,pickup,return,work_order,import"`
	SourceID   string  `json:"source_id,omitempty" doc:"The booking, work order or inspection."`
	Voided     bool    `json:"voided"`
	VoidReason string  `json:"void_reason,omitempty"`
	VoidedBy   string  `json:"voided_by,omitempty" doc:"The reading that it contradicts, if it is voided for that. It counts again when that one is voided." example:"mrd_1234"`
	Note       string  `json:"note,omitempty" maxLength:"500"`
}

// MeterReadings describes the kind.
var MeterReadings = Kind[MeterReading]{Name: "meter_reading", Prefix: fleet.MeterReadingPrefix}

// BlockFields are what callers write of a block.
type BlockFields struct {
	From   Instant `json:"from"`
	Until  Instant `json:"until" doc:"The first moment at which the vehicle is for rent again."`
	Reason string  `json:"reason" minLength:"1" maxLength:"200"`
	Kind   string  `json:"kind,omitempty" enum:"manual,maintenance,repair,owner_use,missing,hold,relocation,transport,other" doc:"manual unless given, relocation for a transfer. When one of maintenance or repair begins, the vehicle goes into maintenance until it ends."`

	FromLocationID string `json:"from_location_id,omitempty" doc:"Of a transfer: where the vehicle is fetched; where it will be at from, unless given." example:"loc_1234"`
	ToLocationID   string `json:"to_location_id,omitempty" doc:"Makes the block a transfer: the vehicle is brought there, and is at this location from until on. A class counts it there for bookings that begin then or later." example:"loc_1234"`
}

// Block is a time during which a vehicle is not for rent.
type Block struct {
	VehicleID string `json:"vehicle_id"`
	BlockFields
	SourceID string `json:"source_id,omitempty"` // the record that made it, if a person did not
}

// Maintains says whether the vehicle is in maintenance while the block lasts.
func (b *Block) Maintains() bool { return b.Kind == "maintenance" || b.Kind == "repair" }

// Blocks describes the kind.
var Blocks = Kind[Block]{Name: "block", Prefix: fleet.BlockPrefix}

// ServiceTask is an entry of the catalogue of what may be done to vehicles.
type ServiceTask struct {
	Name        string   `json:"name" minLength:"1" maxLength:"100" example:"Oil change"`
	Category    string   `json:"category,omitempty" maxLength:"50"`
	Description string   `json:"description,omitempty" maxLength:"1000"`
	EveryMi     *int     `json:"every_mi,omitempty" minimum:"1" maximum:"1000000"`
	EveryDays   *int     `json:"every_days,omitempty" minimum:"1" maximum:"36500"`
	EveryMonths *int     `json:"every_months,omitempty" minimum:"1" maximum:"1200"`
	EveryHours  *int     `json:"every_engine_hours,omitempty" minimum:"1" maximum:"100000"`
	LaborHours  *float64 `json:"labor_hours,omitempty" minimum:"0" maximum:"1000"`
	Parts       []string `json:"parts,omitempty" maxItems:"50" nullable:"false"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// ServiceTasks describes the kind.
var ServiceTasks = Kind[ServiceTask]{Name: "service_task", Prefix: fleet.TaskPrefix,
	Claims: func(t *ServiceTask) []Claim {
		return refClaims("service_task", t.ExternalRefs)
	}}

// MaintenanceScheduleFields are what callers write of a maintenance schedule. What falls due first holds.
type MaintenanceScheduleFields struct {
	TaskID         string  `json:"task_id" example:"tsk_1234"`
	VehicleID      string  `json:"vehicle_id,omitempty" doc:"The vehicle; or give a class or a tag."`
	VehicleClassID string  `json:"vehicle_class_id,omitempty"`
	Tag            string  `json:"tag,omitempty" maxLength:"50"`
	EveryMi        *int    `json:"every_mi,omitempty" minimum:"1" maximum:"1000000" doc:"The intervals are those of the task unless one, or fixed_due_on, is given here."`
	EveryDays      *int    `json:"every_days,omitempty" minimum:"1" maximum:"36500"`
	EveryMonths    *int    `json:"every_months,omitempty" minimum:"1" maximum:"1200" doc:"On the same day of the month, or its last."`
	EveryHours     *int    `json:"every_engine_hours,omitempty" minimum:"1" maximum:"100000"`
	DueSoonMi      *int    `json:"due_soon_mi,omitempty" minimum:"0" maximum:"100000"`
	DueSoonDays    *int    `json:"due_soon_days,omitempty" minimum:"0" maximum:"3650"`
	DueSoonHours   *int    `json:"due_soon_hours,omitempty" minimum:"0" maximum:"10000"`
	FixedDueOn     string  `json:"fixed_due_on,omitempty" format:"date" doc:"Due on this day, once, or from this day on with an interval."`
	Repeat         string  `json:"repeat,omitempty" enum:"from_completion,fixed" doc:"from_completion unless given."`
	Anchor         *Anchor `json:"anchor,omitempty" doc:"When it was last done; when the schedule was made, unless given."`
	OffsetsDays    []int   `json:"reminder_offsets_days,omitempty" maxItems:"10" nullable:"false" doc:"So many days before the forecast the reminder is told of again."`
	AutoWorkOrder  bool    `json:"auto_create_work_order,omitempty"`
	BlockOverdue   bool    `json:"block_vehicle_when_overdue,omitempty"`
	Paused         bool    `json:"paused,omitempty"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// Anchor is when something was done last.
type Anchor struct {
	On    string   `json:"on,omitempty" format:"date"`
	Mi    *float64 `json:"mi,omitempty" minimum:"0"`
	Hours *float64 `json:"engine_hours,omitempty" minimum:"0"`
}

// MaintenanceSchedule is a schedule as it is stored.
type MaintenanceSchedule struct{ MaintenanceScheduleFields }

// MaintenanceSchedules describes the kind.
var MaintenanceSchedules = Kind[MaintenanceSchedule]{Name: "maintenance_schedule", Prefix: fleet.SchedulePrefix,
	Claims: func(s *MaintenanceSchedule) []Claim {
		return refClaims("maintenance_schedule", s.ExternalRefs)
	}}

// Reminder is one cycle of a schedule for one vehicle.
type Reminder struct {
	ScheduleID    string   `json:"schedule_id"`
	TaskID        string   `json:"task_id"`
	VehicleID     string   `json:"vehicle_id"`
	Cycle         int      `json:"cycle"`
	DueOn         string   `json:"due_on,omitempty"`
	DueMi         *float64 `json:"due_mi"`
	DueHours      *float64 `json:"due_engine_hours"`
	ForecastDueOn string   `json:"forecast_due_on,omitempty"` // from real daily mileage
	Stage         string   `json:"stage"`                     // upcoming, due_soon, due, overdue, resolved, dismissed
	StageSince    Instant  `json:"stage_since"`
	SnoozedUntil  Instant  `json:"snoozed_until"`
	ResolvedBy    string   `json:"resolved_by_work_order_id,omitempty"`
	Reason        string   `json:"reason,omitempty"` // of the dismissal
	WorkOrderID   string   `json:"work_order_id,omitempty"`
	Told          []string `json:"told,omitempty"` // stages and offsets that were told of, each once

	Anchor *Anchor `json:"anchor"` // where the cycle begins
	// when it was resolved or dismissed, where the next one begins from completion
	Done *Anchor `json:"done,omitempty"`
	// dismissed because the schedule does not ask for it any more: nothing was done
	Untargeted bool     `json:"untargeted"`
	WatchAt    Instant  `json:"watch_at"` // when to look at it again: a time, or a meter's reading
	WatchMi    *float64 `json:"watch_mi"`
	WatchHours *float64 `json:"watch_engine_hours"`
	Basis      []uint64 `json:"basis,omitempty"`    // revisions of the schedule and its task that it was made up by
	BlockID    string   `json:"block_id,omitempty"` // what keeps the vehicle from being rented while it is overdue
}

// Reminders describes the kind.
var Reminders = Kind[Reminder]{Name: "reminder", Prefix: fleet.ReminderPrefix}

// WorkOrderFields are what callers write of a work order.
type WorkOrderFields struct {
	VehicleID      string     `json:"vehicle_id" example:"veh_1234"`
	Type           string     `json:"type,omitempty" enum:"preventive,corrective,recall,inspection,tire,damage" doc:"preventive with reminders, otherwise corrective, unless given."`
	Priority       string     `json:"priority,omitempty" enum:"low,normal,high,urgent" doc:"normal unless given."`
	Title          string     `json:"title,omitempty" maxLength:"200"`
	Description    string     `json:"description,omitempty" maxLength:"5000"`
	Vendor         string     `json:"vendor,omitempty" maxLength:"200"`
	Assignee       string     `json:"assignee,omitempty" maxLength:"100"`
	TaskIDs        []string   `json:"task_ids,omitempty" maxItems:"50" nullable:"false"`
	ReminderIDs    []string   `json:"reminder_ids,omitempty" maxItems:"50" nullable:"false"`
	IssueIDs       []string   `json:"issue_ids,omitempty" maxItems:"50" nullable:"false"`
	ScheduledStart Instant    `json:"scheduled_from,omitzero" doc:"With scheduled_until the time that the vehicle is away: its calendar is blocked as soon as the order is scheduled, which a draft is not yet."`
	ScheduledEnd   Instant    `json:"scheduled_until,omitzero"`
	MileageMi      *int       `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000"`
	Lines          []WorkLine `json:"lines,omitempty" maxItems:"200" nullable:"false"`
	WarrantyClaim  bool       `json:"warranty_claim,omitempty"`
	InvoiceRef     string     `json:"invoice_ref,omitempty" maxLength:"100"`
	PaidOn         string     `json:"paid_on,omitempty" format:"date" doc:"The day on which its cost is paid; the day of completion unless given."`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
}

// WorkLine is one line of a work order's cost.
type WorkLine struct {
	Kind        string     `json:"kind" enum:"labor,part,fee"`
	Description string     `json:"description,omitempty" maxLength:"300"`
	Quantity    Hundredths `json:"quantity,omitzero" minimum:"0" maximum:"10000" doc:"Hours, pieces: 1 unless given. Kept to two decimals." example:"1.5"`
	UnitCost    Money      `json:"unit_cost"`
	Tax         *Money     `json:"tax,omitempty"`
}

// WorkOrder is a work order as it is stored.
type WorkOrder struct {
	WorkOrderFields
	Numbered
	Status          string    `json:"status"` // draft, scheduled, in_progress, on_hold, completed, cancelled
	StatusSince     Instant   `json:"status_since"`
	HoldReason      string    `json:"hold_reason,omitempty"` // awaiting_parts, awaiting_vendor
	StartedAt       Instant   `json:"started_at"`
	CompletedAt     Instant   `json:"completed_at"`
	CancelReason    string    `json:"cancel_reason,omitempty"`
	Total           *Money    `json:"total"`
	DowntimeMinutes int       `json:"downtime_minutes"`
	BlockedFrom     Instant   `json:"blocked_from"` // what it holds of the calendar; zero for nothing
	BlockedUntil    Instant   `json:"blocked_until"`
	Done            *Anchor   `json:"done,omitempty"`      // the local day of the completion, and what the meters said
	BookedFor       BookedFor `json:"booked_for,omitzero"` // of the completion
}

// Complete fills in what callers may leave out.
func (w *WorkOrder) Complete() {
	if w.Type == "" {
		w.Type = "corrective"
		if len(w.ReminderIDs) > 0 {
			w.Type = "preventive"
		}
	}
	if w.Priority == "" {
		w.Priority = "normal"
	}
}

// The states of a work order.
const (
	WorkDraft      = "draft"
	WorkScheduled  = "scheduled"
	WorkInProgress = "in_progress"
	WorkOnHold     = "on_hold"
	WorkCompleted  = "completed"
	WorkCancelled  = "cancelled"
)

// WorkOrders describes the kind.
var WorkOrders = Kind[WorkOrder]{Name: "work_order", Prefix: fleet.WorkOrderPrefix, Letter: "W",
	Claims: func(w *WorkOrder) []Claim {
		return refClaims("work_order", w.ExternalRefs)
	}}

// IssueFields are what callers write of an issue.
type IssueFields struct {
	VehicleID   string   `json:"vehicle_id" example:"veh_1234"`
	ReportedBy  string   `json:"reported_by,omitempty" maxLength:"100"`
	BookingID   string   `json:"booking_id,omitempty"`
	Severity    string   `json:"severity,omitempty" enum:"low,medium,high,safety_critical" doc:"medium unless given."`
	Category    string   `json:"category,omitempty" maxLength:"50"`
	Description string   `json:"description" minLength:"1" maxLength:"5000"`
	Photos      []string `json:"photos,omitempty" maxItems:"50" nullable:"false"`
	FaultCodes  []string `json:"fault_codes,omitempty" maxItems:"50" nullable:"false"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// Issue is an issue as it is stored.
type Issue struct {
	IssueFields
	Status      string  `json:"status"` // open, in_progress, resolved, wont_fix
	StatusSince Instant `json:"status_since"`
	Resolution  string  `json:"resolution,omitempty"`
	WorkOrderID string  `json:"work_order_id,omitempty"`

	InspectionID string `json:"inspection_id,omitempty"` // in which it was found, if it was
	AlertID      string `json:"alert_id,omitempty"`      // for which it was opened, if it was
}

// Issues describes the kind.
var Issues = Kind[Issue]{Name: "issue", Prefix: fleet.IssuePrefix, Claims: func(i *Issue) []Claim {
	return refClaims("issue", i.ExternalRefs)
}}

// InspectionFields are what callers write of an inspection of a vehicle outside a handover.
type InspectionFields struct {
	VehicleID string           `json:"vehicle_id" example:"veh_1234" doc:"It stays with its vehicle."`
	Type      string           `json:"type,omitempty" enum:"periodic,dvir,pickup,return" doc:"periodic unless given; dvir is a driver's vehicle inspection report."`
	Template  string           `json:"template,omitempty" maxLength:"100" doc:"After which list it is made." example:"annual"`
	BookingID string           `json:"booking_id,omitempty"`
	Items     []InspectionItem `json:"items,omitempty" maxItems:"200" nullable:"false"`
	MileageMi *int             `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"Odometer. It is a reading of the vehicle's meter from when the inspection is submitted."`
	FuelPct   *float64         `json:"fuel_pct,omitempty" minimum:"0" maximum:"100"`
	SignedBy  string           `json:"signed_by,omitempty" maxLength:"100" doc:"Who made it. Needed to submit it."`
	Notes     string           `json:"notes,omitempty" maxLength:"2000"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// VehicleInspection is such an inspection as it is stored.
type VehicleInspection struct {
	InspectionFields
	Status      string  `json:"status"` // draft, submitted
	StatusSince Instant `json:"status_since"`
	SubmittedAt Instant `json:"submitted_at"`
	// of the items that failed, in their order; named when it is submitted, opened as what follows
	IssueIDs []string `json:"issue_ids,omitempty"`
}

// Inspections describes the kind.
var Inspections = Kind[VehicleInspection]{Name: "inspection", Prefix: fleet.InspectionPrefix,
	Claims: func(i *VehicleInspection) []Claim {
		return refClaims("inspection", i.ExternalRefs)
	}}
