package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// doImport brings the rows of a job that are not done yet. What this process or another did before it died, and did
// not note, is done again and comes to the same.
func (a *API) doImport(ctx context.Context, l *lease) error {
	input, err := query.JobInput(ctx, a.DB, l.ref())
	if err != nil {
		return err
	}
	if uint64(len(input)) < l.Rec.Body.Total {
		return l.write(ctx, func(b *record.Job) { b.Error = "The file is not stored any more." })
	}
	done, err := query.StepsDone(ctx, a.DB, l.ref())
	if err != nil {
		return err
	}
	_, refused, err := query.JobErrors(ctx, a.DB, l.ref(), 1, 0)
	if err != nil {
		return err
	}
	input = slices.DeleteFunc(input, func(r query.InputRow) bool { return done[uint64(r.Row)] })
	if input, err = a.bringTogether(ctx, l, input, &refused); err != nil {
		return err
	}
	again := l.Rec.Body.Transfer.Attempts > 1 // of the first rows it is not known whether they were brought
	for len(input) > 0 {
		if err := l.Keep(ctx); err != nil {
			return err
		}
		var some []*rest.ImportRow
		some, input = a.Chunk(l, input, rest.MaxBatch)
		if rest.ExchangeOf(ctx).Ticket = nil; again {
			rest.ExchangeOf(ctx).Ticket = &record.Ticket{ID: a.Store.NextID(), Again: true}
		}
		again = false
		n, err := a.BringSome(ctx, l, some, refused)
		if refused += n; err != nil {
			return err
		}
	}
	return l.finish(ctx, l.Rec.Body.Total)
}

// bringTogether brings rows that make records which can be written together, thousands at a time, and returns the
// others, in order.
func (a *API) bringTogether(ctx context.Context, l *lease, input []query.InputRow,
	refused *int) (left []query.InputRow, err error) {
	t := l.Rec.Body.Transfer
	by, most := a.Transfers[t.Records].TogetherBy()
	if by == "" || t.Mode == "upsert" || t.DryRun || t.Attempts >= patientAttempts {
		return input, nil
	}
	values := make(map[uint32]string, len(input))
	var some []query.InputRow
	for _, in := range input {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(in.Body), &object); err != nil || object[by] == nil {
			left = append(left, in)
			continue
		}
		values[in.Row], some = string(object[by]), append(some, in)
	}
	slices.SortStableFunc(some, func(a, b query.InputRow) int { return strings.Compare(values[a.Row], values[b.Row]) })
	for len(some) > 0 {
		var inputs [][]query.InputRow
		inputs, some = nextLots(some, most, values)
		lots := make([][]*rest.ImportRow, len(inputs))
		for i, input := range inputs {
			lots[i], _ = a.Chunk(l, input, len(input)) // all of them, as nothing is looked up by keys here
		}
		if err := l.during(ctx, func(ctx context.Context) {
			var work errgroup.Group
			for _, rows := range lots {
				work.Go(func() error {
					a.Transfers[t.Records].ImportTogether(AsItself(ctx, "/v1/"+t.Records), rows)
					return nil
				})
			}
			_ = work.Wait() // each row has its own error
		}); err != nil {
			return nil, err
		}
		var done []*rest.ImportRow
		for n, rows := range lots {
			for i, row := range rows {
				if errors.Is(row.Err, record.ErrNotYet) {
					left = append(left, inputs[n][i])
				} else {
					done = append(done, row)
				}
			}
		}
		n, err := a.noteRows(ctx, l, done, *refused)
		if *refused += n; err != nil {
			return nil, err
		}
	}
	slices.SortFunc(left, func(a, b query.InputRow) int { return cmp.Compare(a.Row, b.Row) })
	return left, nil
}

// lotsAtOnce is how many lots of rows are brought at once: where one waits for the store, another is decided.
const lotsAtOnce = 2

// nextLots takes rows off, which are in the order of their values: lots of no more than most, that are to be brought at
// once, and so share no value. A lot ends where a value does, unless it would be less than half full.
func nextLots(rows []query.InputRow, most int, values map[uint32]string) (lots [][]query.InputRow,
	left []query.InputRow) {
	ends := func(n int) bool { return n == len(rows) || values[rows[n-1].Row] != values[rows[n].Row] }
	for len(lots) < lotsAtOnce && len(rows) > 0 {
		n := min(most, len(rows))
		for !ends(n) && n > 1 && n > most/2 {
			n--
		}
		whole := ends(n)
		if !whole {
			n = min(most, len(rows))
		}
		if lots, rows = append(lots, rows[:n]), rows[n:]; !whole {
			break
		}
	}
	return lots, rows
}

// RowID names the record that a row of an import makes, so that whoever does the row again names it alike. It is an
// id of the hour in which the import was asked for, as those of records made then: the table of bookings is divided
// by that, and an insert of rows of any time would be hundreds of parts. Where in the hour an import's ids begin is as
// good as random; they follow one another, so that no two of its rows have the same one.
func RowID(job *record.Record[record.Job], row int) uint64 {
	if !job.Body.Transfer.RowsOfItsTime {
		return rest.DerivedRecordID(job.ID, row)
	}
	const within = 1<<44 - 1 // an hour and ten minutes, by the bits of an id that are below
	return fleet.IDOf(job.CreatedAt)&^within | (rest.DerivedRecordID(job.ID, 0)+uint64(row))&within
}

// Chunk takes rows off the input that can be brought together: no two of them are one record.
func (a *API) Chunk(l *lease, input []query.InputRow, most int) ([]*rest.ImportRow, []query.InputRow) {
	t := l.Rec.Body.Transfer
	var some []*rest.ImportRow
	seen := map[string]bool{}
	for i, in := range input {
		row := &rest.ImportRow{Row: in.Row, ID: RowID(&l.Rec, int(in.Row))}
		if in.Fault != "" {
			row.Err = fleet.Invalid(fleet.FieldError{Pointer: "", Code: "invalid", Detail: in.Fault})
		} else {
			row.Object, row.Err = rest.ParseObject([]byte(in.Body))
		}
		if t.Mode == "upsert" {
			row.Keys = rest.UpsertKeys(row.Object)
		}
		if len(some) == most || slices.ContainsFunc(row.Keys, func(key string) bool { return seen[key] }) {
			return some, input[i:]
		}
		for _, key := range row.Keys {
			seen[key] = true
		}
		some = append(some, row)
	}
	return some, nil
}

// BringSome brings some rows and notes what became of them; it returns how many more are listed as refused.
func (a *API) BringSome(ctx context.Context, l *lease, rows []*rest.ImportRow, refused int) (int, error) {
	t := l.Rec.Body.Transfer
	a.Transfers[t.Records].ImportRows(AsItself(ctx, "/v1/"+t.Records), t, rows)
	return a.noteRows(ctx, l, rows, refused)
}

// noteRows notes what became of rows that were brought; it returns how many more are listed as refused.
func (a *API) noteRows(ctx context.Context, l *lease, rows []*rest.ImportRow, refused int) (int, error) {
	t := l.Rec.Body.Transfer
	var steps []uint64
	var failed []query.RowError
	var ours error
	codes := map[uint64]string{}
	for _, row := range rows {
		step := uint64(row.Row)
		if row.Err != nil {
			p, mine := rest.ProblemOfWrite(row.Err)
			if mine {
				ours = row.Err
				if t.Attempts < patientAttempts || ctx.Err() != nil {
					continue // it is tried again
				}
				a.Log.ErrorContext(ctx, "row of an import failed", "error", row.Err, "job", fleet.JobID(l.Rec.ID).String(),
					"row", row.Row)
			}
			codes[step] = p.Code
			if refused+len(failed) < maxErrors {
				f := query.RowError{Row: row.Row, Code: p.Code, Detail: p.Detail}
				if p.Errors != nil {
					text, err := json.Marshal(p.Errors)
					if err != nil {
						return 0, err
					}
					f.Errors = string(text)
				}
				failed = append(failed, f)
			}
		}
		steps = append(steps, step)
	}
	texts := make([]*string, len(failed))
	for i := range failed {
		texts[i] = &failed[i].Detail
	}
	a.NameIDs(ctx, l.Rec.Account, func(scope auth.Scope) bool { return scope != auth.CustomersRead }, texts...)
	if err := a.noteErrors(ctx, l.ref(), failed); err != nil {
		return 0, err
	}
	if err := a.NoteSteps(ctx, l.ref(), steps, codes); err != nil {
		return 0, err
	}
	if len(steps) < len(rows) {
		return len(failed), ours
	}
	return len(failed), nil
}

func (a *API) noteErrors(ctx context.Context, job query.JobRef, failed []query.RowError) error {
	if len(failed) == 0 {
		return nil
	}
	batch, err := a.DB.PrepareBatch(ctx, "INSERT INTO job_errors (account, job, row, at, code, detail, errors)")
	if err != nil {
		return fmt.Errorf("note errors of a job: %w", err)
	}
	now := a.Now()
	for _, f := range failed {
		if err := batch.Append(uint64(job.Account), job.ID, f.Row, now, f.Code, f.Detail, f.Errors); err != nil {
			batch.Abort()
			return fmt.Errorf("note errors of a job: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note errors of a job: %w", err)
	}
	return nil
}
