package rest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Job is a long piece of work as it is answered.
type Job struct {
	ID         string         `json:"id" doc:"Identity." example:"job_1234"`
	Object     string         `json:"object" doc:"Always job." example:"job"`
	Kind       string         `json:"kind" doc:"What is done: geofence_backfill, import, export or report. More may be added." example:"geofence_backfill"`
	Subject    string         `json:"subject_id,omitempty" doc:"The record that it is about." example:"geo_1234"`
	Records    string         `json:"records,omitempty" doc:"What is imported or exported, as kind= says; of a report its name." example:"vehicles"`
	Format     string         `json:"format,omitempty" doc:"Of the file: csv or jsonl; of a report one of those of reports."`
	Mode       string         `json:"mode,omitempty" doc:"Of an import: create or upsert."`
	DryRun     bool           `json:"dry_run,omitempty" doc:"The import looks at the rows and writes nothing."`
	Status     string         `json:"status" enum:"queued,running,done,failed" doc:"An import is done when every row was judged: result counts the rows that were refused, and /errors lists them. What is failed was given up, or, of a backfill, has vehicles that could not be done."`
	Progress   Progress       `json:"progress"`
	StartedAt  record.Instant `json:"started_at" doc:"When its first step was done; null before."`
	FinishedAt record.Instant `json:"finished_at" doc:"When its last step was done; null before."`
	Result     JobResult      `json:"result"`

	Stamps
}

// Progress is how much of a job is done.
type Progress struct {
	Done  uint64 `json:"done" doc:"Steps that are done; of a backfill, vehicles; of an import, rows; of an export, records; of a report, the report."`
	Total uint64 `json:"total"`
}

// JobResult is what has come of a job so far.
type JobResult struct {
	Succeeded uint64 `json:"succeeded"`
	Failed    uint64 `json:"failed" doc:"Of an import, rows that were refused."`
	Error     string `json:"error,omitempty" doc:"Why it failed, or one of its steps."`
}

// JobScopes are the scopes of which whoever looks at a job needs one, with those of what can be imported and exported.
func (a *Server) JobScopes() []auth.Scope {
	scopes := map[auth.Scope]bool{auth.TelematicsRead: true}
	for _, t := range a.Transfers {
		read, write := t.Scopes()
		scopes[read], scopes[write] = true, true
	}
	for _, work := range a.Works {
		scopes[work.Read] = true
	}
	return slices.Sorted(maps.Keys(scopes))
}

// ShowJobs makes the views of jobs, in order, with how far each has come.
func (a *Server) ShowJobs(ctx context.Context, records []record.Record[record.Job], _ []string) ([]Shown, error) {
	if len(records) == 0 {
		return nil, nil
	}
	ids := make([]uint64, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	steps, err := query.StepsOf(ctx, a.DB, records[0].Account, ids)
	if err != nil {
		return nil, err
	}
	views := make([]Shown, len(records))
	for i, rec := range records {
		done := steps[rec.ID]
		view := showJob(rec, done)
		if views[i].View = view; done.Done > 0 {
			if views[i].Live, err = json.Marshal(done); err != nil {
				return nil, err
			}
		}
	}
	return views, nil
}

// showJob makes the answer for a job of which some steps are done.
func showJob(rec record.Record[record.Job], done query.Steps) Job {
	b := rec.Body
	j := Job{ID: fleet.FormatID(fleet.JobPrefix, rec.ID), Object: "job", Kind: b.Kind, Subject: b.Subject,
		Status:    "queued",
		Progress:  Progress{Done: min(done.Done, b.Total), Total: b.Total},
		StartedAt: record.InstantOf(done.First),
		Result:    JobResult{Succeeded: done.Done - done.Failed, Failed: done.Failed, Error: b.Error},
		Stamps:    StampsOf(rec)}
	if j.Result.Error == "" {
		j.Result.Error = done.Error
	}
	if t := b.Transfer; t != nil {
		j.Records, j.Format, j.Mode, j.DryRun, j.StartedAt = t.Records, t.Format, t.Mode, t.DryRun, t.StartedAt
	}
	switch t := b.Transfer; {
	case t != nil && b.Error == "" && t.Finished:
		j.Status, j.FinishedAt = "done", t.FinishedAt
	case t != nil && b.Error == "":
		if t.Attempts > 0 {
			j.Status = "running"
		}
	case b.Error != "":
		j.Status, j.FinishedAt = "failed", j.UpdatedAt
	case b.Total == 0:
		j.Status, j.StartedAt, j.FinishedAt = "done", j.CreatedAt, j.CreatedAt
	case !b.FinishedAt.IsZero():
		if j.Status, j.FinishedAt = "done", b.FinishedAt; done.Failed > 0 {
			j.Status = "failed"
		}
	case done.Done > 0:
		j.Status = "running"
	}
	return j
}
