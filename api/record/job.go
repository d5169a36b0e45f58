package record

import "github.com/motorpool/fleet"

// Job is a long piece of work that somebody asked for, as it is stored. Its steps are done elsewhere and noted in the
// table job_steps; the work is done when its record says so, which is written when as many steps are done.
type Job struct {
	Kind     string    `json:"kind"`               // what is done: JobBackfill, JobImport, JobExport, JobReport
	Subject  string    `json:"subject,omitempty"`  // the record that it is about
	Total    uint64    `json:"total"`              // steps
	Error    string    `json:"error,omitempty"`    // why it was given up; no further step is done
	Transfer *Transfer `json:"transfer,omitempty"` // of an import, export or report

	FinishedAt Instant `json:"finished_at,omitzero"` // of a backfill with steps: when the last of them was done
}

// Transfer is what an import, export or report is to do, for whom, and who does it.
type Transfer struct {
	Records string `json:"records"` // what is brought or fetched, as in the paths: "vehicles"; of a report its name
	Format  string `json:"format"`  // csv or jsonl; of a report one of those of reports
	Mode    string `json:"mode,omitempty"`
	DryRun  bool   `json:"dry_run,omitempty"`
	Query   string `json:"query,omitempty"` // of an export or a report: what is asked, as the query string of its route

	Asker
	RequestID string `json:"request_id,omitempty"`

	// The records that its rows make have ids of its time, as others have. Imports that a version without it began
	// have not.
	RowsOfItsTime bool `json:"rows_of_its_time,omitempty"`

	Holder     string  `json:"holder,omitempty"` // the process that does it, until LeaseUntil
	LeaseUntil Instant `json:"lease_until"`
	Attempts   uint32  `json:"attempts"` // how often somebody began or took it over; the last one's output counts
	StartedAt  Instant `json:"started_at"`
	FinishedAt Instant `json:"finished_at"`
	Finished   bool    `json:"finished"`
}

// Asker is who asked for what is done later, so that it can be asked at any time what they may do: a key, a person,
// or an OAuth client, which acts for the person if it has their grant.
type Asker struct {
	Key    uint64 `json:"key"`
	User   uint64 `json:"user,omitempty"`
	Client uint64 `json:"client,omitempty"`
	Grant  uint64 `json:"grant,omitempty"`
	// Scopes are the most that is done in their name. Nil bounds nothing.
	Scopes []string `json:"scopes,omitempty"`
}

// Kinds of jobs.
const (
	JobBackfill = "geofence_backfill" // a step is a vehicle that is derived again
	JobImport   = "import"            // a step is a row of the file
	JobExport   = "export"            // a step is a record
	JobReport   = "report"            // one step: the report
)

// Jobs describes the kind.
var Jobs = Kind[Job]{Name: "job", Prefix: fleet.JobPrefix}
