package record

import "github.com/motorpool/fleet"

// SavedReportFields are what callers write of a saved report.
type SavedReportFields struct {
	Name       string            `json:"name" minLength:"1" maxLength:"100" example:"Month for the accountant"`
	Report     string            `json:"report" minLength:"1" maxLength:"100" doc:"Name of the report, as in GET /v1/reports." example:"revenue"`
	Parameters map[string]string `json:"parameters,omitempty" maxProperties:"30" doc:"Those of the report, as in its query string, but for from, until and format: group_by, basis, compare, currency, filters." example:"{\"group_by\":\"vehicle\"}"`
	Span       string            `json:"span,omitempty" enum:"today,yesterday,last_7_days,last_30_days,last_90_days,week_to_date,last_week,month_to_date,last_month,quarter_to_date,last_quarter,year_to_date,last_year,last_12_months,fixed" doc:"Which days it is of, counted from the local day for which it is made; last_month unless given. What is to date ends with that day, last_7_days and the like with the day before it; last_week, last_month, last_quarter, last_year and last_12_months are whole ones, weeks from Monday. fixed takes from and until."`
	From       string            `json:"from,omitempty" format:"date" doc:"The first day, of the span fixed."`
	Until      string            `json:"until,omitempty" format:"date" doc:"The last day, of the span fixed."`
	Format     string            `json:"format,omitempty" enum:"csv,json,xlsx,arrow,parquet" doc:"Of the file; csv unless given."`
	Schedule   *ReportSchedule   `json:"schedule,omitempty" doc:"When it is made by itself; never if absent."`
}

// ReportSchedule says when a report is made by itself.
type ReportSchedule struct {
	Every   string `json:"every" enum:"day,week,month"`
	At      string `json:"at" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Time of day by the clock of the account's zone. One that the clock leaves out when it is put forward is as much later; of one that comes twice the first holds." example:"06:00"`
	Weekday string `json:"weekday,omitempty" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"Of every week; mon unless given."`
	Day     int    `json:"day,omitempty" minimum:"1" maximum:"31" doc:"Of every month; 1 unless given. A month that is shorter has it on its last day."`
}

// SavedReport is a saved report as it is stored: what callers write, and what has become of its schedule.
type SavedReport struct {
	SavedReportFields

	Asker           // on whose behalf it is made: who wrote it last
	NextAt  Instant `json:"next_at,omitzero"`   // when it is made next; zero if it has no schedule, or stopped
	LastAt  Instant `json:"last_at,omitzero"`   // for when it was made last by itself
	LastJob uint64  `json:"last_job,omitempty"` // that made it
	Missed  int     `json:"missed,omitempty"`   // times before LastAt that nobody served and that were left out
	Stopped string  `json:"stopped,omitempty"`  // why it is not made any more
}

// SavedReports describes the kind.
var SavedReports = Kind[SavedReport]{Name: "saved_report", Prefix: fleet.SavedReportPrefix}
