package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// How imports and exports are worked on.
const (
	transfersAtOnce = 4                // jobs that one process works on
	transfersEvery  = 5 * time.Second  // the store is asked for jobs that others left
	LeaseTime       = time.Minute      // a job whose process died is taken over after it
	leaseRenewal    = 20 * time.Second // age at which a lease is renewed
	leaseRest       = 10 * time.Second // before a job is tried again that met a failure of ours
	patientAttempts = 5                // from then on a row that meets a failure of ours is refused
	maxAttempts     = 20               // then the job is given up
	askedEvery      = 4 * time.Second  // while it works: what may be done for whoever asked for the job
)

// ErrTaken says that another process works on a job, or that it is finished.
var ErrTaken = errors.New("another process has this job")

// transferDesk is what one process works on.
type transferDesk struct {
	self  string        // names this process in leases
	awake chan struct{} // there may be something to do
}

func newTransferDesk() transferDesk {
	return transferDesk{awake: make(chan struct{}, 1), self: fmt.Sprint(record.RandomID())}
}

// wake has the process look for jobs at once.
func (d *transferDesk) wake() {
	select {
	case d.awake <- struct{}{}:
	default:
	}
}

// Run works on imports and exports until ctx ends: those that this process was asked for at once, and those that
// others left when it finds them. Between them it does the chores of other jobs.
func (a *API) Run(ctx context.Context) error {
	ticker := time.NewTicker(transfersEvery)
	defer ticker.Stop()
	var work errgroup.Group
	work.SetLimit(transfersAtOnce)
	var busy sync.Map // jobs that this process works on
	for {
		open, err := query.OpenTransfers(ctx, a.DB, a.Now())
		if err != nil && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "imports and exports are not found and looked for again", "error", err)
		}
		for _, job := range open {
			if _, had := busy.LoadOrStore(job, true); had {
				continue
			}
			if !work.TryGo(func() error {
				defer a.transfer.wake()
				defer busy.Delete(job)
				a.WorkOn(ctx, job)
				return nil
			}) {
				busy.Delete(job)
				break
			}
		}
		for _, chore := range a.Chores {
			if err := chore(ctx); err != nil && ctx.Err() == nil {
				a.Log.WarnContext(ctx, "a chore of jobs is not done and is tried again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return work.Wait()
		case <-ticker.C:
		case <-a.transfer.awake:
		}
	}
}

// WorkOn does a job, or as much of it as this process can.
func (a *API) WorkOn(ctx context.Context, job query.JobRef) {
	l, err := a.Lease(ctx, job)
	if err != nil {
		if !errors.Is(err, ErrTaken) && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "a job could not be begun and is tried again", "job",
				fleet.JobID(job.ID).String(), "error", err)
		}
		return
	}
	err = l.renew(ctx)
	ctx = a.OnBehalf(ctx, &l.Rec)
	if work, ok := a.Works[l.Rec.Body.Kind]; err != nil {
		// It is tried again, unless it may not be done any more.
	} else if ok {
		err = a.doWork(ctx, l, &work)
	} else if l.Rec.Body.Kind == record.JobImport {
		err = a.doImport(ctx, l)
	} else {
		err = a.doExport(ctx, l)
	}
	if err == nil || errors.Is(err, ErrTaken) {
		return
	}
	a.Log.WarnContext(ctx, "a job met a failure and is tried again", "job", fleet.JobID(job.ID).String(), "attempt",
		l.Rec.Body.Transfer.Attempts, "error", err)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Config.WriteTime)
	defer cancel()
	rest := leaseRest
	if ctx.Err() != nil {
		rest = 0 // this process ends; another may go on at once
	}
	if err := l.write(last, func(b *record.Job) {
		b.Transfer.LeaseUntil = record.InstantOf(a.Now().Add(rest))
	}); err != nil && !errors.Is(err, ErrTaken) {
		a.Log.WarnContext(last, "a lease was not given back and must lapse", "job",
			fleet.JobID(job.ID).String(), "error", err)
	}
}

// lease is the right of this process to work on a job.
type lease struct {
	api     *API
	Rec     record.Record[record.Job]
	at      time.Time // when it was taken or renewed
	askedAt time.Time // when it was last asked what may be done for whoever wants the job
}

func (l *lease) ref() query.JobRef { return query.JobRef{Account: l.Rec.Account, ID: l.Rec.ID} }

// Lease takes a job that nobody works on.
func (a *API) Lease(ctx context.Context, job query.JobRef) (*lease, error) {
	l := &lease{api: a, at: a.Now()}
	var err error
	l.Rec, err = a.jobs.Update(ctx, record.System, job.Account, job.ID, 0, func(rec *record.Record[record.Job]) error {
		t := rec.Body.Transfer
		if t == nil || t.Finished || rec.Body.Error != "" || t.LeaseUntil.After(l.at) {
			return ErrTaken
		}
		if t.Attempts >= maxAttempts {
			rec.Body.Error = fmt.Sprintf("It was tried %d times and could not be done.", maxAttempts)
			return nil
		}
		if t.Attempts++; t.Attempts == 1 {
			t.StartedAt = record.InstantOf(l.at)
		}
		t.Holder, t.LeaseUntil = a.transfer.self, record.InstantOf(l.at.Add(LeaseTime))
		return nil
	})
	if err == nil && l.Rec.Body.Error != "" {
		err = ErrTaken
	}
	return l, err
}

// write changes the job's record, if it is still ours.
func (l *lease) write(ctx context.Context, change func(*record.Job)) error {
	rec, err := l.api.jobs.Update(ctx, record.System, l.Rec.Account, l.Rec.ID, 0,
		func(rec *record.Record[record.Job]) error {
			t := rec.Body.Transfer
			if t.Finished || t.Holder != l.Rec.Body.Transfer.Holder || t.Attempts != l.Rec.Body.Transfer.Attempts {
				return ErrTaken
			}
			change(&rec.Body)
			return nil
		})
	if err == nil {
		l.Rec = rec
	}
	return err
}

// errLess says that whoever asked for a job may do less than when it was begun. It is begun again, with that.
var errLess = errors.New("whoever asked for it may do less than when it was begun")

// renew asks what may be done for whoever wants the job, and has it do no more: its record says what. A job for nobody,
// or for somebody who may not have it done any more, fails, and is not this process's then.
func (l *lease) renew(ctx context.Context) error {
	asked := l.api.Now()
	now, err := l.api.MayNow(ctx, l.Rec.Account, &l.Rec.Body.Transfer.Asker, l.api.scopeOf(&l.Rec.Body))
	if err != nil {
		refused, ours := rest.ProblemOf(err)
		if ours || ctx.Err() != nil {
			return err
		}
		if err := l.write(ctx, func(b *record.Job) {
			b.Error = refused.Detail + " Have somebody who may ask for it anew."
		}); err != nil {
			return err
		}
		return ErrTaken
	}
	l.askedAt = asked
	if scopes := rest.AskerOf(now).Scopes; !slices.Equal(scopes, l.Rec.Body.Transfer.Scopes) {
		return l.write(ctx, func(b *record.Job) { b.Transfer.Scopes = scopes })
	}
	return nil
}

// Keep renews the lease when it is time, and ends the work when it is not wanted any more by somebody who may.
func (l *lease) Keep(ctx context.Context) error {
	now := l.api.Now()
	if now.Sub(l.askedAt) >= askedEvery {
		might := l.Rec.Body.Transfer.Scopes
		if err := l.renew(ctx); err != nil {
			return err
		}
		if !slices.Equal(might, l.Rec.Body.Transfer.Scopes) {
			return errLess
		}
	}
	if now.Sub(l.at) < leaseRenewal {
		return ctx.Err()
	}
	if err := l.write(ctx, func(b *record.Job) {
		b.Transfer.LeaseUntil = record.InstantOf(now.Add(LeaseTime))
	}); err != nil {
		return err
	}
	l.at = now
	return nil
}

// during does something that takes long, and keeps the lease meanwhile. What is done is told to end if that cannot be.
func (l *lease) during(ctx context.Context, do func(context.Context)) error {
	if err := l.Keep(ctx); err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(within)
	}()
	ticker := time.NewTicker(askedEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		if err := l.Keep(ctx); err != nil {
			cancel()
			<-done
			return err
		}
	}
}

// finish notes that the job is done.
func (l *lease) finish(ctx context.Context, total uint64) error {
	return l.write(ctx, func(b *record.Job) {
		b.Total, b.Transfer.Finished, b.Transfer.FinishedAt = total, true, record.InstantOf(l.api.Now())
		b.Transfer.LeaseUntil = record.Instant{}
	})
}

// OnBehalf is the context of a request of whoever asked for a job, with the scopes that its record says.
func (a *API) OnBehalf(ctx context.Context, rec *record.Record[record.Job]) context.Context {
	t := rec.Body.Transfer
	p := rest.AskedBy(rec.Account, &t.Asker)
	x := &rest.Exchange{ID: t.RequestID, Command: uint32(rest.DerivedRecordID(rec.ID, 0)) | 1, Principal: p}
	return auth.With(context.WithValue(ctx, rest.ExchangeKey{}, x), p)
}

// NoteSteps notes that steps of a job are done; errs are the codes of those that failed, by step.
func (a *API) NoteSteps(ctx context.Context, job query.JobRef, steps []uint64, errs map[uint64]string) error {
	if len(steps) == 0 {
		return nil
	}
	batch, err := a.DB.PrepareBatch(ctx, "INSERT INTO job_steps (account, job, step, at, error)")
	if err != nil {
		return fmt.Errorf("note steps of a job: %w", err)
	}
	now := a.Now()
	for _, step := range steps {
		if err := batch.Append(uint64(job.Account), job.ID, step, now, errs[step]); err != nil {
			batch.Abort()
			return fmt.Errorf("note steps of a job: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note steps of a job: %w", err)
	}
	return nil
}

// lineReader gives the lines of a text that are not blank, as rows: JSON as json.Marshal writes it, so that an erasure
// finds there what it seeks. Of a line that is no JSON only the fault is kept.
func lineReader(text []byte) func() (query.InputRow, error) {
	rest := string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	var row query.InputRow
	return func() (query.InputRow, error) {
		for rest != "" {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			row = query.InputRow{Row: row.Row + 1, Body: strings.TrimSpace(line)}
			if row.Body == "" {
				continue
			}
			if !utf8.ValidString(row.Body) {
				row.Body, row.Fault = "", "is not UTF-8"
				return row, nil
			}
			var err error
			if row.Body, err = canonical(row.Body); err != nil {
				row.Fault = "is not one JSON value: " + err.Error()
			}
			return row, nil
		}
		return row, io.EOF
	}
}

// canonical is a JSON value in the one way that json.Marshal writes it. Numbers stay as they are written.
func canonical(text string) (string, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("something follows it")
	}
	out, err := json.Marshal(v)
	return string(out), err
}

// AsItself is a request that the context's principal makes of a resource.
func AsItself(ctx context.Context, path string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, path, nil)
	if err != nil {
		panic(err) // paths are ours
	}
	return r
}

// mayReadPII says whether whoever asked for an export might read licence numbers.
func mayReadPII(t *record.Transfer) bool {
	return auth.Holds(t.Scopes, auth.CustomersPII)
}
