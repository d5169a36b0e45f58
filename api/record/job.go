package record

import "github.com/motorpool/fleet"

// Job is a long piece of work that somebody asked for, as it is stored. Its steps are done elsewhere and noted in the
// table job_steps; the work is done when as many steps are.
type Job struct {
	Kind    string `json:"kind"`              // what is done: JobBackfill
	Subject string `json:"subject,omitempty"` // the record that it is about
	Total   uint64 `json:"total"`             // steps
	Error   string `json:"error,omitempty"`   // why it was given up; no further step is done
}

// Kinds of jobs.
const JobBackfill = "geofence_backfill" // a step is a vehicle that is derived again

// Jobs describes the kind.
var Jobs = Kind[Job]{Name: "job", Prefix: fleet.JobPrefix}
