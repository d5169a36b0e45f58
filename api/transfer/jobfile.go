package transfer

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Jobs of the kinds that rooms add (rest.JobWork) write one file, which is stored in pieces under the number of the
// attempt, as what is exported is.

// pieceSize is how many bytes of a file a row of job_output has.
const pieceSize = 256 << 10

// workTime is how long the work of one attempt may take: less than its lease, which nobody renews while a report is
// worked out.
const workTime = LeaseTime - 10*time.Second

// doWork does a job of a kind that a room added, from the start.
func (a *API) doWork(ctx context.Context, l *lease, work *rest.JobWork) error {
	within, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	file := &jobFile{api: a, ctx: within, l: l, keep: uint16(work.Kept / (24 * time.Hour))}
	err := work.Do(within, &l.Rec, file)
	if err == nil {
		err = file.store()
	}
	if err != nil {
		p, ours := rest.ProblemOf(err)
		if ours || ctx.Err() != nil {
			return err
		}
		a.NameIDs(ctx, l.Rec.Account, rest.MayHear(ctx), &p.Detail)
		return l.write(ctx, func(b *record.Job) { b.Error = p.Detail })
	}
	if err := a.NoteSteps(ctx, l.ref(), []uint64{1}, nil); err != nil {
		return err
	}
	return l.finish(ctx, 1)
}

// jobFile stores what is written to it.
type jobFile struct {
	api    *API
	ctx    context.Context // of the attempt, whose length it has
	l      *lease
	keep   uint16 // days
	pieces uint32
	waits  []byte
}

// Write takes some of the file. It stores it a piece at a time.
func (f *jobFile) Write(some []byte) (int, error) {
	f.waits = append(f.waits, some...)
	for len(f.waits) >= pieceSize {
		whole := f.waits
		f.waits = whole[:pieceSize]
		if err := f.store(); err != nil {
			return 0, err
		}
		f.waits = append(f.waits, whole[pieceSize:]...)
	}
	return len(some), nil
}

// store stores what waits as a piece.
func (f *jobFile) store() error {
	if len(f.waits) == 0 {
		return nil
	}
	if err := f.l.Keep(f.ctx); err != nil {
		return err
	}
	batch, err := f.api.DB.PrepareBatch(f.ctx,
		"INSERT INTO job_output (account, job, attempt, row, at, keep_days, body)")
	if err != nil {
		return fmt.Errorf("store a file: %w", err)
	}
	f.pieces++
	rec := &f.l.Rec
	if err := batch.Append(uint64(rec.Account), rec.ID, rec.Body.Transfer.Attempts, f.pieces, f.api.Now(), f.keep,
		string(f.waits)); err != nil {
		batch.Abort()
		return fmt.Errorf("store a file: %w", err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("store a file: %w", err)
	}
	f.waits = f.waits[:0]
	return nil
}

// jobFile answers with the file of a job of a kind that a room added.
func (a *API) jobFile(w http.ResponseWriter, r *http.Request, rec *record.Record[record.Job],
	work *rest.JobWork) error {
	t, name := rec.Body.Transfer, fleet.FormatID(fleet.JobPrefix, rec.ID)
	switch {
	case rec.Body.Error != "":
		return fleet.NewError(fleet.CodeNotFound, "The job "+name+" has no result, because it failed: "+rec.Body.Error)
	case !t.Finished:
		return fleet.NewError(fleet.CodeConflict, "The job "+name+" is not done. Its record says how far it is.")
	case a.Now().Sub(t.FinishedAt.Time) > work.Kept:
		return fleet.NewError(fleet.CodeNotFound, fmt.Sprintf(
			"The result of the job %s is not stored any more: it is kept for %d days. Ask for it again.", name,
			int(work.Kept/(24*time.Hour))))
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	return a.Download(w, r, export.Format(t.Format), t.Records+"-"+name, func(w http.ResponseWriter) error {
		return query.JobOutput(r.Context(), db, query.JobRef{Account: rec.Account, ID: rec.ID}, t.Attempts,
			func(piece string) error {
				_, err := w.Write([]byte(piece))
				return err
			})
	})
}
