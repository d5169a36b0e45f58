package savedreport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// jobOf is the job that makes a saved report for a local day.
func jobOf(id uint64, f *record.SavedReportFields, p *auth.Principal, requestID string, day time.Time) record.Job {
	asked := parameters(f)
	from, until := Span(f, day)
	asked.Set("from", from)
	asked.Set("until", until)
	t := &record.Transfer{Records: f.Report, Format: f.Format, Query: asked.Encode(), Asker: rest.AskerOf(p),
		RequestID: requestID}
	return record.Job{Kind: record.JobReport, Subject: fleet.FormatID(fleet.SavedReportPrefix, id), Total: 1, Transfer: t}
}

// run makes a saved report now, on behalf of who asks.
func (a *API) run(w http.ResponseWriter, c *rest.Call[record.SavedReport], _ rest.NoBody) error {
	r := c.Request
	rec, err := a.saved.Get(r.Context(), c.Account, c.ID)
	if err != nil {
		return err
	}
	if rec.Archived() {
		return fleet.NewError(fleet.CodeConflict, "The saved report is archived; save it anew.")
	}
	zone, err := a.zone(r.Context(), c.Account)
	if err != nil {
		return err
	}
	body := jobOf(c.ID, &rec.Body.SavedReportFields, auth.From(r.Context()), rest.RequestID(r.Context()),
		a.Now().In(zone))
	job, _, err := a.jobs.Create(r.Context(), c.By, c.Account, a.NewID(r), body)
	if err != nil {
		return err
	}
	a.WakeJobs()
	views, err := a.ShowJobs(r.Context(), []record.Record[record.Job]{job}, nil)
	if err != nil {
		return err
	}
	base, _, _ := strings.Cut(r.URL.Path, "/v1/")
	w.Header().Set("ETag", rest.ETagOf(job.Revision, views[0].Live))
	w.Header().Set("Location", base+"/v1/jobs/"+fleet.FormatID(fleet.JobPrefix, job.ID))
	return rest.WriteJSON(w, r, http.StatusAccepted, a.WithAllMembers(views[0].View))
}

// MakeDue makes a job of each saved report whose time has come, once the facts of its account are made that an upgrade
// has made again. Any number of processes may do it at once.
func (a *API) MakeDue(ctx context.Context) error {
	due, err := query.SavedReportsDue(ctx, a.DB, a.Now())
	if err != nil {
		return err
	}
	var failed error
	for _, ref := range due {
		if err := a.makeDue(ctx, ref); err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
			failed = errors.Join(failed, fmt.Errorf("make the report %s: %w",
				fleet.FormatID(fleet.SavedReportPrefix, ref.ID), err))
		}
	}
	return failed
}

// makeDue makes the job of the last time of a schedule that has passed, and moves the record on. The job comes first
// and has one id, whoever makes it: who dies in between has made what the next one finds.
func (a *API) makeDue(ctx context.Context, ref query.SavedReportRef) error {
	rec, err := a.saved.Get(ctx, ref.Account, ref.ID)
	if err != nil {
		return err
	}
	b, now := &rec.Body, a.Now()
	if rec.Archived() || b.Schedule == nil || b.NextAt.IsZero() || b.NextAt.After(now) {
		return nil // the table of current records is behind, or somebody was faster
	}
	if err := query.FactsAreMade(ctx, a.DB, ref.Account); err != nil {
		return err // the next look makes it for the same time of its schedule
	}
	zone, err := a.zone(ctx, ref.Account)
	if err != nil {
		return err
	}
	seen := b.NextAt
	at, missed := Last(b.Schedule, seen.Time, now, zone)
	p, err := a.MayNow(ctx, ref.Account, &b.Asker, read)
	if refused, ours := rest.ProblemOf(err); err != nil && !ours {
		return a.moveOn(ctx, ref, seen, func(b *record.SavedReport) {
			b.NextAt, b.Stopped = record.Instant{}, refused.Detail+" Have somebody who may read reports change the saved report."
		})
	}
	if err != nil {
		return err
	}
	id := rest.DerivedRecordID(ref.ID, int(at.Unix()))
	body := jobOf(ref.ID, &b.SavedReportFields, p, "", at.In(zone))
	if _, _, err := a.jobs.Ensure(ctx, record.System, ref.Account, id, body); err != nil {
		return err
	}
	a.WakeJobs()
	return a.moveOn(ctx, ref, seen, func(b *record.SavedReport) {
		b.LastAt, b.LastJob, b.Missed = record.InstantOf(at), id, missed
		b.NextAt = record.InstantOf(Next(b.Schedule, at, zone))
	})
}

// moveOn changes a saved report whose next time is still the one that was seen.
func (a *API) moveOn(ctx context.Context, ref query.SavedReportRef, seen record.Instant,
	change func(*record.SavedReport)) error {
	_, err := a.saved.Update(ctx, record.System, ref.Account, ref.ID, 0,
		func(rec *record.Record[record.SavedReport]) error {
			if rec.Body.NextAt.Equal(seen.Time) && rec.Body.Schedule != nil {
				change(&rec.Body)
			}
			return nil
		})
	return err
}

// do makes the report of a job, with what whoever it is made for may do now.
func (a *API) do(ctx context.Context, job *record.Record[record.Job], file io.Writer) error {
	t := job.Body.Transfer
	asked, err := url.ParseQuery(t.Query)
	if err != nil {
		return fmt.Errorf("read the parameters of a report: %w", err)
	}
	return a.Reporter.Write(ctx, auth.From(ctx), t.Records, asked, export.Format(t.Format), file)
}
