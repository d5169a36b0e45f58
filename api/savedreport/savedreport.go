// Package savedreport serves saved reports: which report is wanted, of which days counted from today, in which form,
// and when it is made by itself. Each making is a job, whose file is kept for 90 days and announced by report.ready.
//
// A saved report has one time for each day, week or month, by the clock of the account's zone. Which time is next
// stands in its record. When it has come, a process makes the job, under an id that is a function of the saved report
// and the time, and then moves the record on to the next time by compare-and-set. So of several processes, and of one
// that died in between and its successor, all mean one job. After an outage only the last time that passed is made up
// for, and the record says how many were left out.
//
// It is made on behalf of whoever wrote the saved report last, a key, a person or an OAuth client, with what they may
// do when it is made: if that is nothing any more, or not to read reports, nothing is made until somebody who may
// writes the record again. What is kept names customers by their numbers, so that nothing of a person has to be found
// in it after an erasure.
package savedreport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// kept is how long the file of a report is kept.
const kept = 90 * 24 * time.Hour

// read is the scope that it takes to read reports, and so to have them made.
const read = auth.ReportsRead

// API holds saved reports.
type API struct {
	*rest.Server

	saved    *record.Log[record.SavedReport]
	jobs     *record.Log[record.Job]
	accounts *record.Log[record.Account]
}

// New makes saved reports on a server. It registers nothing.
func New(s *rest.Server) *API {
	return &API{Server: s, saved: record.NewLog(s.Store, record.SavedReports), jobs: record.NewLog(s.Store, record.Jobs),
		accounts: record.NewLog(s.Store, record.Accounts)}
}

// SavedReport is a saved report as it is answered.
type SavedReport struct {
	ID string `json:"id" doc:"Identity." example:"srp_1234"`

	record.SavedReportFields

	Object    string         `json:"object" doc:"Always saved_report." example:"saved_report"`
	KeyID     *string        `json:"api_key_id" nullable:"true" doc:"The key that wrote it last: it is made on its behalf. Null if somebody else did." example:"key_1234"`
	UserID    *string        `json:"user_id" nullable:"true" doc:"The person who wrote it last, or for whom an OAuth client did: it is made on their behalf. Null if nobody did." example:"usr_1234"`
	ClientID  *string        `json:"oauth_client_id" nullable:"true" doc:"The OAuth client that wrote it last: it is made with what the client may do then, for the person if user_id names one. Null if none did." example:"ocl_1234"`
	NextRunAt record.Instant `json:"next_run_at" doc:"When it is made by itself next; null without a schedule, or if it has stopped. Another time zone of the account holds from the time after it."`
	LastRunAt record.Instant `json:"last_run_at" doc:"The time of its schedule for which it was made last; null before the first."`
	LastJobID *string        `json:"last_job_id" nullable:"true" doc:"The job that made it then. Lists of jobs by subject_id have all." example:"job_1234"`
	Missed    int            `json:"missed_runs" doc:"Times of its schedule before last_run_at that passed while no server ran. They are not made up for."`
	Stopped   *string        `json:"stopped_because" nullable:"true" doc:"Why it is not made by itself any more. It goes on when somebody who may read reports changes it."`

	rest.Stamps
}

// Routes registers saved reports, and how their jobs are done. Reports must be registered before.
func (a *API) Routes() {
	if a.Reporter == nil {
		return
	}
	a.Works[record.JobReport] = rest.JobWork{Read: read, Kept: kept, Formats: a.Reporter.Formats, Do: a.do}
	a.Chores = append(a.Chores, a.MakeDue)
	s := &rest.Resource[record.SavedReport]{
		Server: a.Server, Log: a.saved, Listing: &query.SavedReports,
		Titles: rest.Titles{Path: "/v1/saved_reports", Tag: "Reports", Noun: "saved report", Nouns: "saved reports",
			About: "It is made on behalf of whoever writes it, with what they may do when it is made, and takes the scope `" + string(read) + "` as well. Files name customers by their numbers."},
		Scope:    rest.Scopes{Read: read, Write: auth.FinanceWrite},
		Views:    rest.Views{View: SavedReport{}, Fields: record.SavedReportFields{}},
		Writable: func(b *record.SavedReport) any { return &b.SavedReportFields },
		Show: rest.ShowEach(func(rec record.Record[record.SavedReport]) any {
			return show(&rec)
		}),
		Prepare: a.prepare,
	}
	s.Register()
	rest.Act(s, rest.Action[record.SavedReport, rest.NoBody]{
		Verb: "run", Summary: "Make a saved report now", Scope: read, Status: http.StatusAccepted, Reply: rest.Job{},
		About:  "For today, on behalf of whoever asks. The answer is a job; when it is done, `GET /v1/jobs/{id}/result` gives the file, for 90 days, and the event `report.ready` is told.",
		Answer: a.run, AnyRevision: true,
	})
}

func show(rec *record.Record[record.SavedReport]) SavedReport {
	b := &rec.Body
	view := SavedReport{ID: fleet.FormatID(fleet.SavedReportPrefix, rec.ID), SavedReportFields: b.SavedReportFields,
		Object: "saved_report", NextRunAt: b.NextAt, LastRunAt: b.LastAt,
		Missed: b.Missed, Stopped: rest.TextOrNull(b.Stopped), Stamps: rest.StampsOf(*rec)}
	if b.Key != 0 {
		view.KeyID = rest.TextOrNull(fleet.KeyID(b.Key).String())
	}
	if b.User != 0 {
		view.UserID = rest.TextOrNull(fleet.UserID(b.User).String())
	}
	if b.Client != 0 {
		view.ClientID = rest.TextOrNull(fleet.ClientID(b.Client).String())
	}
	if b.LastJob != 0 {
		id := fleet.FormatID(fleet.JobPrefix, b.LastJob)
		view.LastJobID = &id
	}
	return view
}

// prepare completes what is about to be written, refuses what no report could be made of, and says when it is made
// next.
func (a *API) prepare(r *http.Request, _ uint64, before, b *record.SavedReport) error {
	p := auth.From(r.Context())
	if err := rest.RequireScope(p, read); err != nil {
		return err
	}
	complete(&b.SavedReportFields)
	if err := a.check(r.Context(), &b.SavedReportFields); err != nil {
		return err
	}
	b.Asker = rest.AskerOf(p)
	if p.Client == 0 {
		b.Scopes = nil // what a key or a person may do is what they may do then; an access token was given some of it
	}
	if before != nil && before.Stopped == "" && same(before.Schedule, b.Schedule) {
		return nil // a time that has come is not passed over
	}
	b.Stopped, b.NextAt = "", record.Instant{}
	if b.Schedule != nil {
		zone, err := a.zone(r.Context(), p.Account)
		if err != nil {
			return err
		}
		b.NextAt = record.InstantOf(Next(b.Schedule, a.Now(), zone))
	}
	return nil
}

func same(a, b *record.ReportSchedule) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// complete says what holds unless it is given.
func complete(f *record.SavedReportFields) {
	if f.Span == "" {
		f.Span = "last_month"
	}
	if f.Format == "" {
		f.Format = "csv"
	}
	if s := f.Schedule; s != nil {
		if s.Every == "week" && s.Weekday == "" {
			s.Weekday = "mon"
		}
		if s.Every == "month" && s.Day == 0 {
			s.Day = 1
		}
	}
}

// ownMembers are parameters of reports that a saved report says by members of its own.
var ownMembers = map[string]string{"from": "span", "until": "span", "to": "span", "format": "format"}

// check refuses what no report could be made of.
func (a *API) check(ctx context.Context, f *record.SavedReportFields) error {
	var faults []fleet.FieldError
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	if fixed := f.Span == "fixed"; fixed && (f.From == "" || f.Until == "" || f.Until < f.From) {
		fault("/until", "invalid", "must be given with from, and not be before it, if span is fixed")
	} else if !fixed && (f.From != "" || f.Until != "") {
		fault("/span", "invalid", "must be fixed if from or until is given")
	}
	if s := f.Schedule; s != nil && (s.Every != "week" && s.Weekday != "" || s.Every != "month" && s.Day != 0) {
		fault("/schedule", "invalid", "takes weekday only with every week, and day only with every month")
	}
	if !slices.ContainsFunc(a.Reporter.Formats, func(have export.Format) bool { return string(have) == f.Format }) {
		fault("/format", "invalid", "is not a format of reports")
	}
	for name := range f.Parameters {
		if own, ok := ownMembers[name]; ok {
			fault("/parameters/"+name, "invalid", "is said by "+own)
		}
	}
	if faults != nil {
		return rest.ValidationError(faults)
	}
	return a.checkParameters(ctx, f)
}

// checkParameters holds the parameters against the route of the report.
func (a *API) checkParameters(ctx context.Context, f *record.SavedReportFields) error {
	i := slices.IndexFunc(a.Server.Routes, func(rt *rest.Route) bool {
		return rt.Method == http.MethodGet && rt.Path == a.Reporter.Path+f.Report
	})
	if i < 0 {
		detail := fmt.Sprintf("there is no report %.60q; GET %s lists them", f.Report,
			strings.TrimSuffix(a.Reporter.Path, "/"))
		return fleet.Invalid(fleet.FieldError{Pointer: "/report", Code: "not_found", Detail: detail})
	}
	asked := &http.Request{Method: http.MethodGet, Header: http.Header{},
		URL: &url.URL{Path: a.Reporter.Path + f.Report, RawQuery: parameters(f).Encode()}}
	err := rest.CheckQuery(asked.WithContext(ctx), a.Server.Routes[i])
	refused, ok := errors.AsType[*fleet.Error](err)
	if !ok || len(refused.Fields) == 0 {
		return err
	}
	for i := range refused.Fields {
		refused.Fields[i].Pointer = "/parameters/" + refused.Fields[i].Pointer
	}
	return fleet.Invalid(refused.Fields...)
}

// parameters are those of the report that a saved report asks for.
func parameters(f *record.SavedReportFields) url.Values {
	v := url.Values{}
	for name, value := range f.Parameters {
		v.Set(name, value)
	}
	return v
}

// zone is that of an account.
func (a *API) zone(ctx context.Context, account fleet.AccountID) (*time.Location, error) {
	rec, err := a.accounts.Get(ctx, account, uint64(account))
	if err != nil {
		return nil, err
	}
	zone, err := query.ZoneNamed(rec.Body.Timezone, time.UTC)
	if err != nil {
		zone = time.UTC
	}
	return zone, nil
}
