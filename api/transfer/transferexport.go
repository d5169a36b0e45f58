package transfer

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/query"
)

// outputKept is how long what was exported is kept, as job_output has it.
const outputKept = 30 * 24 * time.Hour

// doExport writes the records that a job asks for, from the start.
func (a *API) doExport(ctx context.Context, l *lease) error {
	t := a.Transfers[l.Rec.Body.Transfer.Records]
	r := a.listRequest(ctx, l.Rec.Body.Transfer.Query)
	req, err := t.ListRequest(r)
	if err != nil {
		return err
	}
	req.Limit = rest.ExportRows
	var written uint64
	for first := true; first || req.After != nil; first = false {
		if err := l.Keep(ctx); err != nil {
			return err
		}
		bodies, total, next, err := t.Fetch(r, req, l.Rec.Body.Transfer.Format == csvFormat)
		if err != nil {
			return err
		}
		if first {
			if err := l.write(ctx, func(b *record.Job) { b.Total = uint64(total) }); err != nil {
				return err
			}
		}
		steps, err := a.storeOutput(ctx, l, written, bodies)
		if err != nil {
			return err
		}
		if err := a.NoteSteps(ctx, l.ref(), steps, nil); err != nil {
			return err
		}
		written += uint64(len(bodies))
		req.After = next
	}
	return l.finish(ctx, written)
}

// storeOutput stores records behind those that were written, and returns their steps.
func (a *API) storeOutput(ctx context.Context, l *lease, written uint64, bodies []string) ([]uint64, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	batch, err := a.DB.PrepareBatch(ctx, "INSERT INTO job_output (account, job, attempt, row, at, body)")
	if err != nil {
		return nil, fmt.Errorf("store what is exported: %w", err)
	}
	now := a.Now()
	steps := make([]uint64, len(bodies))
	for i, body := range bodies {
		steps[i] = written + uint64(i) + 1
		if err := batch.Append(uint64(l.Rec.Account), l.Rec.ID, l.Rec.Body.Transfer.Attempts, uint32(steps[i]), now,
			body); err != nil {
			batch.Abort()
			return nil, fmt.Errorf("store what is exported: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return nil, fmt.Errorf("store what is exported: %w", err)
	}
	return steps, nil
}

func (a *API) jobResult(jobs *rest.Resource[record.Job], w http.ResponseWriter, r *http.Request) error {
	rec, err := a.jobOf(r, jobs)
	if err != nil {
		return err
	}
	t, name := rec.Body.Transfer, fleet.FormatID(fleet.JobPrefix, rec.ID)
	if work, ok := a.Works[rec.Body.Kind]; ok && t != nil {
		return a.jobFile(w, r, &rec, &work)
	}
	switch {
	case t == nil || rec.Body.Kind != record.JobExport:
		return fleet.NewError(fleet.CodeNotFound, "The job "+name+" has no result: it is no export.")
	case !t.Finished:
		return fleet.NewError(fleet.CodeConflict, "The job "+name+" is not done. Its record says how far it is.")
	case rec.Body.Total > 0 && a.Now().Sub(t.FinishedAt.Time) > outputKept:
		return fleet.NewError(fleet.CodeNotFound, "The result of the job "+name+" is not stored any more. Export again.")
	case t.Records == "customers" && mayReadPII(t):
		if err := rest.RequireScope(auth.From(r.Context()), auth.CustomersPII); err != nil {
			return err
		}
	}
	columns, err := a.tableOfJob(r, &rec)
	if err != nil {
		return err
	}
	format, write := export.NDJSON, a.writeLines
	switch {
	case columns != nil:
		format, write = export.CSV,
			func(ctx context.Context, db driver.Conn, rec record.Record[record.Job], w *bufio.Writer) error {
				return a.writeTableRows(ctx, db, rec, columns, w)
			}
	case t.Format == csvFormat:
		format, write = export.CSV, a.writeSheet
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	return a.Download(w, r, format, t.Records+"-"+name, func(w http.ResponseWriter) error {
		buffered := bufio.NewWriterSize(w, 64<<10)
		if err := write(r.Context(), db, rec, buffered); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// tableOfJob returns the columns of a result that is a table for people, as whoever asked for it could see them, and
// refuses whoever may not; nil if it is none.
func (a *API) tableOfJob(r *http.Request, rec *record.Record[record.Job]) ([]rest.TableColumn, error) {
	t := rec.Body.Transfer
	if t.Format != csvFormat {
		return nil, nil
	}
	columns, err := a.Transfers[t.Records].TableOf(a.listRequest(a.OnBehalf(r.Context(), rec), t.Query))
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if c.Scope == "" {
			continue
		}
		if err := rest.RequireScope(auth.From(r.Context()), c.Scope); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// writeTableRows writes a result that is a table for people.
func (a *API) writeTableRows(ctx context.Context, db driver.Conn, rec record.Record[record.Job],
	columns []rest.TableColumn, w *bufio.Writer) error {
	sheet := csv.NewWriter(w)
	if err := sheet.Write(rest.TableHeader(columns)); err != nil {
		return err
	}
	if err := query.JobOutput(ctx, db, query.JobRef{Account: rec.Account, ID: rec.ID}, rec.Body.Transfer.Attempts,
		func(body string) error {
			var row []string
			if err := json.Unmarshal([]byte(body), &row); err != nil {
				return fmt.Errorf("decode a row: %w", err)
			}
			return sheet.Write(row)
		}); err != nil {
		return err
	}
	sheet.Flush()
	return sheet.Error()
}

// writeLines writes a result as a JSON object a line.
func (a *API) writeLines(ctx context.Context, db driver.Conn, rec record.Record[record.Job], w *bufio.Writer) error {
	return query.JobOutput(ctx, db, query.JobRef{Account: rec.Account, ID: rec.ID}, rec.Body.Transfer.Attempts,
		func(body string) error {
			w.WriteString(body)
			return w.WriteByte('\n')
		})
}

// writeSheet writes a result as a sheet. It is read twice: first for its columns.
func (a *API) writeSheet(ctx context.Context, db driver.Conn, rec record.Record[record.Job], w *bufio.Writer) error {
	registry := a.Docs.OpenAPI().Components.Schemas
	view, _ := a.Transfers[rec.Body.Transfer.Records].Shape()
	schema := sheet.Resolve(registry, registry.Schema(view, false, ""))
	read := func(row func(cells map[string]string) error) error {
		return query.JobOutput(ctx, db, query.JobRef{Account: rec.Account, ID: rec.ID}, rec.Body.Transfer.Attempts,
			func(body string) error {
				object, err := rest.ParseObject([]byte(body))
				if err != nil {
					return err
				}
				cells := map[string]string{}
				sheet.Flatten(registry, schema, object, "", func(column, cell string) { cells[column] = cell })
				return row(cells)
			})
	}
	seen := map[string]bool{"id": true}
	if err := read(func(cells map[string]string) error {
		for name, cell := range cells {
			if cell != "" {
				seen[name] = true
			}
		}
		return nil
	}); err != nil {
		return err
	}
	header := slices.SortedFunc(maps.Keys(seen), sheet.ColumnOrder(view))
	sheet := csv.NewWriter(w)
	if err := sheet.Write(header); err != nil {
		return err
	}
	if err := read(func(cells map[string]string) error {
		row := make([]string, len(header))
		for i, name := range header {
			row[i] = cells[name]
		}
		return sheet.Write(row)
	}); err != nil {
		return err
	}
	sheet.Flush()
	return sheet.Error()
}
