package api

import (
	"context"
	"encoding/json"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Job is a long piece of work as it is answered.
type Job struct {
	ID         string         `json:"id" doc:"Identity." example:"job_1234"`
	Object     string         `json:"object" doc:"Always job." example:"job"`
	Kind       string         `json:"kind" doc:"What is done: geofence_backfill. More may be added." example:"geofence_backfill"`
	Subject    string         `json:"subject_id,omitempty" doc:"The record that it is about." example:"geo_1234"`
	Status     string         `json:"status" enum:"queued,running,done,failed" doc:"A job of which some steps failed is failed when all are done."`
	Progress   Progress       `json:"progress"`
	StartedAt  record.Instant `json:"started_at" doc:"When its first step was done; null before."`
	FinishedAt record.Instant `json:"finished_at" doc:"When its last step was done; null before."`
	Result     JobResult      `json:"result"`

	Stamps
}

// Progress is how much of a job is done.
type Progress struct {
	Done  uint64 `json:"done" doc:"Steps that are done; of a backfill, vehicles."`
	Total uint64 `json:"total"`
}

// JobResult is what has come of a job so far.
type JobResult struct {
	Succeeded uint64 `json:"succeeded"`
	Failed    uint64 `json:"failed"`
	Error     string `json:"error,omitempty" doc:"Why it failed, or one of its steps."`
}

func (a *API) jobRoutes() {
	s := &resource[record.Job]{
		api: a, path: "/v1/jobs", tag: "Jobs", noun: "job", nouns: "jobs", log: a.jobs, listing: &query.Jobs,
		read: auth.TelematicsRead, write: auth.TelematicsWrite, view: Job{}, fields: Job{}, show: a.showJobs,
	}
	s.register("create", "replace", "patch", "archive", "history")
}

func (a *API) showJobs(ctx context.Context, records []record.Record[record.Job], _ []string) ([]shown, error) {
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
	views := make([]shown, len(records))
	for i, rec := range records {
		done := steps[rec.ID]
		view := showJob(rec, done)
		if views[i].view = view; done.Done > 0 {
			if views[i].live, err = json.Marshal(done); err != nil {
				return nil, err
			}
		}
	}
	return views, nil
}

// showJob makes the answer for a job of which some steps are done.
func showJob(rec record.Record[record.Job], done query.Steps) Job {
	b := rec.Body
	j := Job{ID: fleet.FormatID(fleet.JobPrefix, rec.ID), Object: "job", Kind: b.Kind, Subject: b.Subject, Status: "queued",
		Progress:  Progress{Done: min(done.Done, b.Total), Total: b.Total},
		StartedAt: record.InstantOf(done.First), Result: JobResult{Succeeded: done.Done - done.Failed, Failed: done.Failed, Error: b.Error},
		Stamps: stampsOf(rec)}
	if j.Result.Error == "" {
		j.Result.Error = done.Error
	}
	switch {
	case b.Error != "":
		j.Status, j.FinishedAt = "failed", j.UpdatedAt
	case done.Done >= b.Total:
		j.Status, j.FinishedAt = "done", record.InstantOf(done.Last)
		if done.Failed > 0 {
			j.Status = "failed"
		}
		if b.Total == 0 {
			j.StartedAt, j.FinishedAt = j.CreatedAt, j.CreatedAt
		}
	case done.Done > 0:
		j.Status = "running"
	}
	return j
}
