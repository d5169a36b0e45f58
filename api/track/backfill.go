package track

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// ChangePublisher puts changes on their topic and returns when all of them are acknowledged.
type ChangePublisher interface {
	PublishChanges(ctx context.Context, changes []fleet.Change) error
}

// GeofenceBackfill is the body of the action that makes visits for the past.
type GeofenceBackfill struct {
	From *record.Instant `json:"from,omitempty" doc:"Since when the geofence is to have been there as it is now; since the oldest stored position unless given."`
}

func (a *API) backfillRoutes(s *rest.Resource[record.Geofence]) {
	a.Chores = append(a.Chores, a.EndBackfills)
	rest.Act(s, rest.Action[record.Geofence, GeofenceBackfill]{
		Verb: "backfill", Summary: "Make visits of the past from stored positions", Optional: true,
		About: "Lets the geofence as it is now hold from `from` on (its `applies_from`), whatever it was then, and " +
			"derives every vehicle that has positions since then again: visits, and the alerts that hang on them, " +
			"appear as `late` and wake nobody. The answer is a job; `GET /v1/jobs/{id}` shows its progress.",
		Status: http.StatusAccepted, Reply: rest.Job{}, Answer: a.backfill,
	})
}

func (a *API) backfill(w http.ResponseWriter, c *rest.Call[record.Geofence], sent GeofenceBackfill) error {
	r, id, account := c.Request, c.ID, c.Account
	fence, err := a.geofences.Get(r.Context(), account, id)
	if err != nil {
		return err
	}
	if fence.Archived() {
		return fleet.NewError(fleet.CodeConflict, "The geofence is archived; there is nothing to make visits of.")
	}
	if err := c.CheckRecord(&fence); err != nil {
		return err
	}
	var from record.Instant
	if sent.From != nil {
		from = *sent.From
	}
	if from.After(a.Now()) {
		return fleet.Invalid(fleet.FieldError{Pointer: "/from", Code: "invalid", Detail: "must not lie ahead"})
	}
	if a.Changes == nil {
		return fleet.NewError(fleet.CodeUnavailable,
			"This server cannot ask for anything to be derived again: it has no connection to Kafka.")
	}
	spans, err := a.backfillSpans(r.Context(), account, fleet.FenceID(id), fence.Body.Scope, fleet.MillisOf(from.Time))
	if err != nil {
		return err
	}
	if from.IsZero() {
		from = record.InstantOf(a.Now())
		for _, s := range spans {
			if oldest := s.From.Time(); oldest.Before(from.Time) {
				from = record.InstantOf(oldest)
			}
		}
	}
	// A repetition of this request, by its Idempotency-Key, finds the job and asks once more, which is harmless.
	job, _, err := a.jobs.Create(r.Context(), rest.Author(r), account, a.NewID(r),
		record.Job{Kind: record.JobBackfill, Subject: fleet.FormatID(fleet.FencePrefix, id), Total: uint64(len(spans))})
	if err != nil {
		return err
	}
	if job.Body.Error != "" {
		if job, err = a.jobs.Update(r.Context(), rest.Author(r), account, job.ID, 0,
			func(rec *record.Record[record.Job]) error {
				rec.Body.Error, rec.Body.Total = "", uint64(len(spans))
				return nil
			}); err != nil {
			return err
		}
	}
	// The geofence is written before anybody is told, so that whoever derives finds it as it shall have been.
	if err := a.backfillFrom(r, fence, from, job.ID); err != nil {
		return a.giveUp(r, job, err)
	}
	changes := make([]fleet.Change, len(spans))
	for i, s := range spans {
		changes[i] = fleet.Change{Account: account, Vehicle: s.Vehicle, From: s.From, To: s.To, Job: fleet.JobID(job.ID)}
	}
	if len(changes) > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), rest.PublishTime)
		defer cancel()
		if err := a.Changes.PublishChanges(ctx, changes); err != nil {
			a.Log.ErrorContext(r.Context(), "backfill not published", "error", err, "job", fleet.JobID(job.ID).String())
			return a.giveUp(r, job, fleet.NewError(fleet.CodeUnavailable, "Kafka does not answer. Ask again later."))
		}
	}
	views, err := a.ShowJobs(r.Context(), []record.Record[record.Job]{job}, nil)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", rest.ETagOf(job.Revision, views[0].Live))
	base, _, _ := strings.Cut(r.URL.Path, "/v1/geofences/")
	w.Header().Set("Location", base+"/v1/jobs/"+fleet.FormatID(fleet.JobPrefix, job.ID))
	return rest.WriteJSON(w, r, http.StatusAccepted, a.WithAllMembers(views[0].View))
}

// backfillFrom lets the newest revision of a geofence hold from an instant on.
func (a *API) backfillFrom(r *http.Request, fence record.Record[record.Geofence], from record.Instant,
	job uint64) error {
	_, err := a.geofences.Update(r.Context(), rest.Author(r), fence.Account, fence.ID, 0,
		func(rec *record.Record[record.Geofence]) error {
			if err := rest.Precondition(r, rec.Revision); err != nil &&
				rec.Body.Backfill != fleet.FormatID(fleet.JobPrefix, job) {
				return err
			}
			rec.Body.AppliesFrom, rec.Body.Backfill = &from, fleet.FormatID(fleet.JobPrefix, job)
			return nil
		})
	return err
}

// EndBackfills notes that backfills are done of which every vehicle is. Who does the vehicles is another process, which
// writes no records.
func (a *API) EndBackfills(ctx context.Context) error {
	ended, err := query.BackfillsEnded(ctx, a.DB)
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range ended {
		_, err := a.jobs.Update(ctx, record.System, e.Account, e.ID, 0, func(rec *record.Record[record.Job]) error {
			if rec.Body.Error == "" && rec.Body.FinishedAt.IsZero() {
				rec.Body.FinishedAt = record.InstantOf(e.At)
			}
			return nil
		})
		failed = append(failed, err)
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("note the end of backfills: %w", err)
	}
	return nil
}

// giveUp notes that a job will not be done, and returns why.
func (a *API) giveUp(r *http.Request, job record.Record[record.Job], why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), a.Config.WriteTime)
	defer cancel()
	if _, err := a.jobs.Update(ctx, rest.Author(r), job.Account, job.ID, 0, func(rec *record.Record[record.Job]) error {
		rec.Body.Error = "It could not be started."
		return nil
	}); err != nil {
		a.Log.ErrorContext(r.Context(), "job not given up", "error", err, "job", fleet.JobID(job.ID).String())
	}
	return why
}

// backfillSpans returns what has to be derived again for a geofence to hold from an instant on: vehicles in its scope
// that have fixes since, and those that it has visits of.
func (a *API) backfillSpans(ctx context.Context, account fleet.AccountID, fence fleet.FenceID, scope *record.Scope,
	from fleet.Millis) ([]query.VehicleSpan, error) {
	seen, err := query.VehiclesSince(ctx, a.DB, account, from)
	if err != nil {
		return nil, err
	}
	visitors, err := query.VisitorsSince(ctx, a.DB, account, fence, from)
	if err != nil {
		return nil, err
	}
	tags := map[fleet.VehicleID][]string{}
	meant := fleet.Scope{}
	if scope != nil {
		meant.Tags = scope.Tags
		for _, text := range scope.VehicleIDs {
			id, err := fleet.ParseID(fleet.VehiclePrefix, text)
			if err != nil {
				return nil, err
			}
			meant.Vehicles = append(meant.Vehicles, fleet.VehicleID(id))
		}
		if tags, err = query.VehicleTags(ctx, a.DB, account); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(seen, func(s query.VehicleSpan) bool {
		return !meant.Holds(s.Vehicle, tags[s.Vehicle]) &&
			!slices.ContainsFunc(visitors, func(v query.VehicleSpan) bool { return v.Vehicle == s.Vehicle })
	}), nil
}
