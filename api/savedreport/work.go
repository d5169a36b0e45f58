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
	t := &record.Transfer{Records: f.Report, Format: f.Format, Query: asked.Encode(), Key: uint64(p.Key),
		User: uint64(p.User), RequestID: requestID}
	for _, s := range p.Scopes {
		t.Scopes = append(t.Scopes, string(s))
	}
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

// MakeDue makes a job of each saved report whose time has come. Any number of processes may do it at once.
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
	zone, err := a.zone(ctx, ref.Account)
	if err != nil {
		return err
	}
	seen := b.NextAt
	at, missed := Last(b.Schedule, seen.Time, now, zone)
	p, err := a.principal(ctx, ref.Account, fleet.KeyID(b.Key), fleet.UserID(b.User))
	if _, refused := errors.AsType[*fleet.Error](err); refused {
		return a.moveOn(ctx, ref, seen, func(b *record.SavedReport) {
			b.NextAt, b.Stopped = record.Instant{}, err.Error()
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

// do makes the report of a job, with what the key that it is made for may do now.
func (a *API) do(ctx context.Context, job *record.Record[record.Job], file io.Writer) error {
	t := job.Body.Transfer
	p, err := a.principal(ctx, job.Account, fleet.KeyID(t.Key), fleet.UserID(t.User))
	if err != nil {
		return err
	}
	asked, err := url.ParseQuery(t.Query)
	if err != nil {
		return fmt.Errorf("read the parameters of a report: %w", err)
	}
	return a.Reporter.Write(ctx, p, t.Records, asked, export.Format(t.Format), file)
}

// mostRotations bounds how often the replacement of a key is replaced.
const mostRotations = 20

// principal is a person of an account, or a key or the one that replaced it, with what they may do now. One that may
// not read reports is refused with a *fleet.Error.
func (a *API) principal(ctx context.Context, account fleet.AccountID, id fleet.KeyID,
	user fleet.UserID) (*auth.Principal, error) {
	if user != 0 {
		role, ok, err := a.RoleOf(ctx, account, user)
		if err != nil {
			return nil, err
		}
		p := &auth.Principal{Account: account, User: user, Scopes: role.Scopes()}
		if !ok || !p.Has(read) {
			return nil, fleet.NewError(fleet.CodeForbidden, "The user "+user.String()+" that the report is made for may not "+
				"read reports any more. Have somebody who may change the saved report.")
		}
		return p, nil
	}
	for range mostRotations {
		rec, err := a.keys.Get(ctx, account, uint64(id))
		if err != nil {
			return nil, err
		}
		b, now := &rec.Body, a.Now()
		if next, err := fleet.ParseID(fleet.KeyPrefix, b.RotatedTo); err == nil {
			id = fleet.KeyID(next)
			continue
		}
		what := ""
		p := &auth.Principal{Account: account, Key: id}
		for _, s := range b.Scopes {
			p.Scopes = append(p.Scopes, auth.Scope(s))
		}
		switch {
		case rec.Archived():
			what = "is archived"
		case !b.RevokedAt.IsZero() && !b.RevokedAt.After(now):
			what = "is revoked"
		case !b.ExpiresAt.IsZero() && !b.ExpiresAt.After(now):
			what = "has expired"
		case !p.Has(read):
			what = "lacks the scope " + string(read)
		default:
			return p, nil
		}
		return nil, fleet.NewError(fleet.CodeForbidden, fmt.Sprintf(
			"The API key %q (%s) that the report is made for %s. Change the saved report with a key that may read reports.",
			b.Name, id, what))
	}
	return nil, fleet.NewError(fleet.CodeForbidden, "The API key that the report is made for was replaced too often.")
}
