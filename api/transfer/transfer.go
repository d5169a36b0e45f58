package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/query"
)

// Bounds of imports.
const (
	MaxRows     = 100_000
	maxErrors   = 1_000 // that are listed of a job
	importLimit = 24 << 20
)

// Forms of the files that are imported and exported.
const (
	csvFormat   = "csv"
	jsonlFormat = "jsonl"
)

// RowIssue is why a row of an import was refused.
type RowIssue struct {
	Row    uint32            `json:"row" doc:"Of a CSV the row as a spreadsheet shows it: 1 is the row that names the columns. Of JSON Lines the line, from 1."`
	Code   string            `json:"code" doc:"As of a problem." example:"validation_failed"`
	Detail string            `json:"detail"`
	Errors []rest.FieldIssue `json:"errors,omitempty" nullable:"false"`
}

// ownKind is what the filter "kind" of a list is called where kind= says which list is meant.
const ownKind = "record_kind"

// exportParams are the filters of all lists.
func (a *API) exportParams() []rest.Param {
	all := map[string]rest.Param{}
	for _, name := range slices.Sorted(maps.Keys(a.Transfers)) {
		for _, p := range a.Transfers[name].ListParams() {
			if p.Name == "kind" {
				p.Name = ownKind
			}
			if had, ok := all[p.Name]; ok && (had.Type != p.Type || had.Format != p.Format) {
				p.Type, p.Format = "", ""
			} else if ok {
				p = had
			}
			if p.Name == "sort" {
				p.About = "As of the list."
			}
			all[p.Name] = p
		}
	}
	params := make([]rest.Param, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		params = append(params, all[name])
	}
	return params
}

func (a *API) transferRoutes(jobs *rest.Resource[record.Job]) {
	kinds := slices.Sorted(maps.Keys(a.Transfers))
	var reads, writes []auth.Scope
	for _, name := range kinds {
		read, write := a.Transfers[name].Scopes()
		reads, writes = append(reads, read), append(writes, write)
	}
	slices.Sort(reads)
	slices.Sort(writes)
	reads, writes = slices.Compact(reads), slices.Compact(writes)
	formats := rest.Param{Name: "format", Required: true, Enum: []string{csvFormat, jsonlFormat},
		About: "Form of the file: `csv`, or `jsonl` with a JSON object on each line."}
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/imports", ID: "createImport", Tag: "Jobs", AnyOf: writes,
		Summary: "Import records from a file",
		About: fmt.Sprintf("The body is the file: at most %d MiB and %d rows. The columns of a CSV are the members of what creates a record, nested with dots (`address.city`, "+
			"`external_refs.0.system`); an empty cell is an absent member, and members that callers do not write are ignored. Each row is judged by itself, as a single request would be, but that a booking "+
			"whose pickup lies in the past is `backdated` unless its row says `false`, and is made in the background: the answer is a job, `GET /v1/jobs/{id}` shows its progress and `GET /v1/jobs/{id}/errors` the rows that were refused. "+
			"Needs the scope to write what is imported.", importLimit>>20, MaxRows),
		Params: []rest.Param{{Name: "kind", Required: true, Enum: kinds, About: "What the rows are."}, formats,
			{Name: "mode", Enum: []string{"create", "upsert"},
				About: "`create`, unless given, makes a record of each row. `upsert` changes the record that has the row's `id`, one of its `external_refs`, its " +
					"`external_reservation_id` or its `vin`, as PATCH does, and makes one if there is none."},
			{Name: "dry_run", Type: "boolean",
				About: "`true` judges the form of the rows and writes nothing. What depends on other records shows only when a record is written: that a unique value or a vehicle is taken, that what is named exists, prices and opening hours."}},
		Body: &huma.Schema{Type: "string", Description: "The file."}, BodyTypes: []string{"text/csv", "application/x-ndjson"},
		BodyLimit: importLimit,
		Status:    http.StatusAccepted, Reply: rest.Job{}, Timeout: max(a.Config.WriteTime, a.Config.ReadTime),
	}, func(w http.ResponseWriter, r *http.Request) error { return a.postImport(jobs, w, r) })
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/exports", ID: "createExport", Tag: "Jobs", AnyOf: reads,
		Summary: "Export records to a file",
		About: "The parameters of the list say which records, without pages; a list's own filter `kind` is called `" +
			ownKind + "` here. The answer is a job; when it is done, " +
			"`GET /v1/jobs/{id}/result` gives the file, for 30 days. It can be imported again, but for the CSV of bookings, which is the table for people of " +
			"`GET /v1/bookings?format=csv`. Needs the scope to read what is exported.",
		Params: append([]rest.Param{{Name: "kind", Required: true, Enum: kinds, About: "What is exported."}, formats,
			{Name: "fields", About: "The columns of the CSV of `kind=bookings`, as of `GET /v1/bookings?format=csv`."}},
			a.exportParams()...),
		Status: http.StatusAccepted, Reply: rest.Job{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.postExport(jobs, w, r) })
	a.Handle(rest.Route{
		Method: "GET", Path: jobs.Path + "/{id}/errors", ID: "listJobErrors", Tag: "Jobs", AnyOf: writes,
		Summary: "List the rows of an import that were refused",
		About:   fmt.Sprintf("In order, and at most %d of them. Needs the scope to write what is imported.", maxErrors),
		Params:  rest.PageParams, Reply: a.ListSchema(RowIssue{}),
	}, func(w http.ResponseWriter, r *http.Request) error { return a.jobErrors(jobs, w, r) })
	files := []string{"text/csv", "application/x-ndjson"}
	for _, work := range a.Works {
		reads = append(reads, work.Read)
		files = append(files, export.MediaTypes(work.Formats)...)
	}
	slices.Sort(reads)
	slices.Sort(files)
	a.Handle(rest.Route{
		Method: "GET", Path: jobs.Path + "/{id}/result", ID: "getJobResult", Tag: "Jobs", AnyOf: slices.Compact(reads),
		Summary: "Download what was exported, or a report",
		About:   "409 while the job is not done. Needs the scope to read what was exported, and `customers.pii:read` for customers that were exported with it; of a report that to read reports. What was exported is kept for 30 days, a report for 90.",
		Reply:   &huma.Schema{Type: "string"}, ReplyTypes: slices.Compact(files), Conflicts: true,
		Timeout: rest.ExportTime,
	}, func(w http.ResponseWriter, r *http.Request) error { return a.jobResult(jobs, w, r) })
}

// jobOf reads the import or export that the path names, for somebody who may see what it is about.
func (a *API) jobOf(r *http.Request, jobs *rest.Resource[record.Job]) (record.Record[record.Job], error) {
	rec, err := jobs.Load(r)
	if err != nil {
		return rec, err
	}
	return rec, rest.RequireScope(auth.From(r.Context()), a.scopeOf(&rec.Body))
}

// scopeOf is the scope that it takes to have a job done, and to see it.
func (a *API) scopeOf(b *record.Job) auth.Scope {
	if work, ok := a.Works[b.Kind]; ok {
		return work.Read
	}
	if b.Transfer == nil || a.Transfers[b.Transfer.Records] == nil {
		return auth.TelematicsRead
	}
	read, write := a.Transfers[b.Transfer.Records].Scopes()
	if b.Kind == record.JobImport {
		return write
	}
	return read
}

// start writes the record of a job, and answers with it.
func (a *API) start(jobs *rest.Resource[record.Job], w http.ResponseWriter, r *http.Request, id uint64,
	body record.Job) error {
	p := auth.From(r.Context())
	body.Transfer.Asker, body.Transfer.RequestID = rest.AskerOf(p), rest.RequestID(r.Context())
	rec, _, err := a.jobs.Create(r.Context(), rest.Author(r), p.Account, id, body)
	if err != nil {
		return err
	}
	a.transfer.wake()
	views, err := a.ShowJobs(r.Context(), []record.Record[record.Job]{rec}, nil)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", rest.ETagOf(rec.Revision, views[0].Live))
	base, _, _ := strings.Cut(r.URL.Path, "/v1/")
	w.Header().Set("Location", base+jobs.Path+"/"+fleet.FormatID(fleet.JobPrefix, rec.ID))
	return rest.WriteJSON(w, r, http.StatusAccepted, a.WithAllMembers(views[0].View))
}

func (a *API) postImport(jobs *rest.Resource[record.Job], w http.ResponseWriter, r *http.Request) error {
	name, format := rest.TextParam(r, "kind", ""), rest.TextParam(r, "format", "")
	t := a.Transfers[name]
	if _, write := t.Scopes(); !auth.From(r.Context()).Has(write) {
		return rest.RequireScope(auth.From(r.Context()), write)
	}
	mode := rest.TextParam(r, "mode", "create")
	if mode == "upsert" && !t.Changeable() {
		return rest.InvalidParam("mode", "cannot be upsert: "+name+" cannot be changed")
	}
	if sent := strings.HasPrefix(r.Header.Get("Content-Type"), "text/csv"); sent != (format == csvFormat) {
		return rest.InvalidParam("format", "is not what Content-Type says")
	}
	rows, err := a.inputRows(t, format, rest.RequestBody(r))
	if err != nil {
		return err
	}
	if err := a.SpendItems(w, auth.From(r.Context()).Account, len(rows)); err != nil {
		return err
	}
	// The rows are stored before the job, so that its id must not be another's at all: the number of the command makes it
	// so. A first attempt that had none took the id as it is.
	job := query.JobRef{Account: auth.From(r.Context()).Account, ID: a.NewID(r)}
	if command := rest.ExchangeOf(r.Context()).Command; command != 0 {
		job.ID = rest.DerivedRecordID(job.ID, int(command))
	}
	if err := a.storeInput(r.Context(), job, rows); err != nil {
		return err
	}
	return a.start(jobs, w, r, job.ID, record.Job{Kind: record.JobImport, Total: uint64(len(rows)),
		Transfer: &record.Transfer{Records: name, Format: format, Mode: mode, RowsOfItsTime: true,
			DryRun: rest.TextParam(r, "dry_run", "") == "true"}})
}

// inputRows reads the rows of a file.
func (a *API) inputRows(t rest.Transferable, format string, text []byte) ([]query.InputRow, error) {
	var next func() (query.InputRow, error)
	if format == csvFormat {
		registry := a.Docs.OpenAPI().Components.Schemas
		view, create := t.Shape()
		shown := registry.Schema(view, false, "").Properties
		schema := sheet.Resolve(registry, registry.Schema(create, false, ""))
		sheet, err := sheet.NewReader(registry, schema, text, func(member string) string {
			if schema.Properties[member] != nil || shown[member] != nil {
				return ""
			}
			return "is a column, and no member of these records" +
				rest.DidYouMean(member, slices.Sorted(maps.Keys(schema.Properties)))
		})
		if err != nil {
			return nil, err
		}
		next = sheet.Next
	} else {
		next = lineReader(text)
	}
	var rows []query.InputRow
	for {
		row, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(rows) == MaxRows {
			return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "too_many",
				Detail: fmt.Sprintf("the file has more than %d rows", MaxRows)})
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "required", Detail: "the file has no rows"})
	}
	return rows, nil
}

// storeInput stores the rows of a file, once.
func (a *API) storeInput(ctx context.Context, job query.JobRef, rows []query.InputRow) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(
		clickhouse.Settings{"insert_deduplication_token": fmt.Sprintf("job_input:%d:%d", job.Account, job.ID)}))
	batch, err := a.DB.PrepareBatch(ctx, "INSERT INTO job_input (account, job, row, at, body, fault)")
	if err != nil {
		return fmt.Errorf("store the rows of a job: %w", err)
	}
	now := a.Now()
	for _, row := range rows {
		if err := batch.Append(uint64(job.Account), job.ID, row.Row, now, row.Body, row.Fault); err != nil {
			batch.Abort()
			return fmt.Errorf("store the rows of a job: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("store the rows of a job: %w", err)
	}
	return nil
}

func (a *API) postExport(jobs *rest.Resource[record.Job], w http.ResponseWriter, r *http.Request) error {
	name, format := rest.TextParam(r, "kind", ""), rest.TextParam(r, "format", "")
	t := a.Transfers[name]
	if read, _ := t.Scopes(); !auth.From(r.Context()).Has(read) {
		return rest.RequireScope(auth.From(r.Context()), read)
	}
	own := r.URL.Query()
	own.Del("kind")
	own.Del("format")
	if kind := own.Get(ownKind); kind != "" {
		own.Set("kind", kind)
		own.Del(ownKind)
	}
	asked := a.listRequest(r.Context(), own.Encode())
	params := t.ListParams()
	if columns, err := t.TableOf(asked); err != nil {
		return err
	} else if columns != nil && format == csvFormat {
		params = append(params, rest.Param{Name: "fields"})
	}
	if err := rest.CheckQuery(asked, &rest.Route{Params: params}); err != nil {
		return err
	}
	if _, err := t.ListRequest(asked); err != nil {
		return err
	}
	return a.start(jobs, w, r, a.NewID(r), record.Job{Kind: record.JobExport,
		Transfer: &record.Transfer{Records: name, Format: format, Query: own.Encode()}})
}

// listRequest is a request for a list by a query string, by whoever the context names.
func (a *API) listRequest(ctx context.Context, query string) *http.Request {
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/v1/exports", RawQuery: query}, Header: http.Header{}}
	return r.WithContext(ctx)
}

func (a *API) jobErrors(jobs *rest.Resource[record.Job], w http.ResponseWriter, r *http.Request) error {
	rec, err := a.jobOf(r, jobs)
	if err != nil {
		return err
	}
	p, err := rest.PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	if p.After != nil {
		return rest.InvalidParam("cursor", "is not a next_cursor of this list")
	}
	found, total, err := query.JobErrors(r.Context(), a.DB, query.JobRef{Account: rec.Account, ID: rec.ID},
		p.PerPage, p.Offset())
	if err != nil {
		return err
	}
	data := make([]RowIssue, len(found))
	for i, f := range found {
		data[i] = RowIssue{Row: f.Row, Code: f.Code, Detail: f.Detail}
		if f.Errors != "" {
			if err := json.Unmarshal([]byte(f.Errors), &data[i].Errors); err != nil {
				// An erasure took words out of it.
				data[i].Errors = nil
			}
		}
	}
	return rest.WriteList(w, r, r.URL.Path, p, data, total, nil)
}
