package report

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query/report"
)

// View is what a report came to, as it is answered.
type View struct {
	Object        string         `json:"object" doc:"Always report." example:"report"`
	Name          string         `json:"name" example:"revenue"`
	Title         string         `json:"title" example:"Revenue"`
	From          string         `json:"from" format:"date" doc:"The first day, a local day of the books."`
	Until         string         `json:"until" format:"date" doc:"The last day."`
	Timezone      string         `json:"timezone" doc:"The account's. A day is the local one where something happens." example:"America/Chicago"`
	Basis         string         `json:"basis" enum:"accrual,cash"`
	Currency      string         `json:"currency" doc:"Of every amount. What is in other currencies is in reports of those."`
	GroupBy       string         `json:"group_by" example:"month"`
	Compare       *string        `json:"compare" nullable:"true" doc:"What previous is of: previous_period or previous_year."`
	PreviousFrom  *string        `json:"previous_from" nullable:"true" format:"date" doc:"The first day of what it is compared with."`
	PreviousUntil *string        `json:"previous_until" nullable:"true" format:"date" doc:"The last day of what it is compared with."`
	AsOf          record.Instant `json:"data_as_of" doc:"Until when what it is made of was made; null if nothing was yet."`
	Version       string         `json:"definitions_version" doc:"Another one means that a figure may mean something else." example:"1f2e3d4c"`
	Columns       []Column       `json:"columns" nullable:"false" doc:"The figures, in order."`
	Rows          []Row          `json:"rows" nullable:"false"`
	Totals        Row            `json:"totals" doc:"Of everything, whatever limit says. Not always a sum of the rows: see additive."`
	RowCount      int            `json:"row_count" doc:"Rows that there are without a limit."`
	Unlinked      *string        `json:"links_missing" nullable:"true" doc:"Why figures of rows, or of the totals, that are made of entries of the ledger have no link to them; null if they have." example:"Entries of the ledger cannot be listed by driver."`

	report  *report.Definition
	beside  bool // rows have previous figures
	account record.Account
	only    string // what it was narrowed to, in words
	rows    []Row  // all of them in a file, those within the limit in JSON
}

// Column is a figure of a report.
type Column struct {
	Name     string  `json:"name" example:"utilization"`
	Unit     string  `json:"unit" example:"percent"`
	Additive bool    `json:"additive" doc:"The values of rows that have nothing in common add up."`
	Formula  *string `json:"formula" nullable:"true" doc:"How a ratio is worked out, after summing." example:"rented_s / rentable_s"`
	About    string  `json:"about"`
}

// Figures are values by the names of figures: numbers, null where there is none, or texts. Amounts are in minor units.
type Figures map[string]report.Value

// Schema says what the values of figures are.
func (Figures) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeNumber}, {Type: huma.TypeString}, {Type: "null"}}}}
}

// Row is what the figures are by one key.
type Row struct {
	Key      string            `json:"key" doc:"The first day of a time, the id of a record, or a text; empty for what has none." example:"veh_1234"`
	Label    string            `json:"label" doc:"What people call it." example:"ABC-123 (Tesla Model 3)"`
	From     string            `json:"from" format:"date" doc:"The first day that it is of."`
	Until    string            `json:"until" format:"date"`
	Figures  Figures           `json:"figures"`
	Previous Figures           `json:"previous,omitempty" doc:"With compare: the same figures of what it is compared with."`
	Change   Figures           `json:"change,omitempty" doc:"With compare: figures less previous; null where one of them is."`
	Links    map[string]string `json:"links" nullable:"false" doc:"By figure, the list of entries of the ledger whose amounts add up to it; with its sign turned where entries_sign of its definition is -1."`

	values, previous []report.Value
	raw              string // its key in the store
}

// Make makes a report.
func (a *API) Make(ctx context.Context, call Call) (*View, error) {
	d := report.Named(call.Name)
	if d == nil {
		return nil, fleet.NewError(fleet.CodeNotFound, absent(call.Name))
	}
	w, err := a.ask(ctx, d, call)
	if err != nil {
		return nil, err
	}
	inJSON := call.Params.Get("format") == ""
	if inJSON {
		w.question.First = report.First{Rows: w.limit, Falling: w.falling}
		if w.sort != "key" {
			w.question.First.By = w.sort
		}
	}
	q := w.question
	answer, err := d.Answer(ctx, a.DB, q)
	if errors.Is(err, report.ErrTooManyDays) {
		return nil, fleet.NewError(rest.CodeTooMuch, "The report looks at each vehicle on each day, and these are too many. "+
			"Ask for a shorter span, or for fewer vehicles by a filter.")
	}
	if errors.Is(err, report.ErrTooManyRows) {
		return nil, fleet.NewError(rest.CodeTooMuch,
			"The report has more rows than one may have. Ask for a shorter span, a coarser group_by, or fewer things by a filter.")
	}
	if err != nil {
		return nil, err
	}
	asOf, err := d.AsOf(ctx, a.DB, a.Now())
	if err != nil {
		return nil, err
	}
	v := &View{
		Object: "report", Name: d.Name, Title: d.Title, From: day(q.Span.From), Until: day(q.Span.Until), Timezone: q.Zone,
		Basis: q.Basis, Currency: q.Currency, GroupBy: q.Group, AsOf: record.InstantOf(asOf), Version: d.Version,
		Columns: columnsOf(answer.Report), RowCount: answer.RowCount, report: answer.Report, account: w.account,
		beside: answer.Totals.Previous != nil,
	}
	if !answer.Before.From.IsZero() {
		q.Compare = cmp.Or(q.Compare, report.PreviousPeriod)
		from, until := day(answer.Before.From), day(answer.Before.Until)
		v.Compare, v.PreviousFrom, v.PreviousUntil = &q.Compare, &from, &until
	}
	w.arrange(d, answer.Rows)
	shown := len(answer.Rows)
	if inJSON {
		shown = min(shown, w.limit)
	}
	v.rows = make([]Row, shown)
	for i := range v.rows {
		v.rows[i] = v.show(d, &q, &answer.Rows[i], q.Group)
	}
	v.Totals = v.show(d, &q, &answer.Totals, "total")
	v.Rows = v.rows[:min(len(v.rows), w.limit)]
	a.label(ctx, call, &q, v, v.rows)
	format := export.Format(call.Params.Get("format"))
	forPeople := format == export.CSV || format == export.XLSX
	if w.sort == "" && (q.Group == "account" || forPeople && !v.timed()) {
		byLabel(v.rows)
	}
	if forPeople {
		a.callByName(ctx, call, v)
	}
	return v, nil
}

func day(t time.Time) string { return t.Format(time.DateOnly) }

// arrange puts rows in the order that is wanted; what is not known comes last.
func (w *wanted) arrange(d *report.Definition, rows []report.Row) {
	if w.sort == "" || w.sort == "key" {
		if w.falling {
			slices.Reverse(rows)
		}
		return
	}
	at := slices.IndexFunc(d.Figures, func(f report.Figure) bool { return f.Name == w.sort })
	slices.SortStableFunc(rows, func(x, y report.Row) int {
		a, b := x.Values[at], y.Values[at]
		if !a.Known() || !b.Known() {
			return cmp.Compare(truth(b.Known()), truth(a.Known()))
		}
		order := cmp.Compare(a.String(), b.String())
		if p, q := a.Rat(), b.Rat(); p != nil && q != nil {
			order = p.Cmp(q)
		}
		if w.falling {
			return -order
		}
		return order
	})
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// columnsOf describes the figures of a report.
func columnsOf(d *report.Definition) []Column {
	columns := make([]Column, len(d.Figures))
	for i := range d.Figures {
		f := &d.Figures[i]
		columns[i] = Column{Name: f.Name, Unit: f.Unit, Additive: f.Additive(), About: f.About}
		if formula := f.Formula(); formula != "" {
			columns[i].Formula = &formula
		}
	}
	return columns
}

// show shows a row, but for its label. d is the report as its file has it.
func (v *View) show(d *report.Definition, q *report.Question, row *report.Row, group string) Row {
	links, why := linksOf(d, v.report, q, row, group)
	ofEntries := slices.ContainsFunc(d.Figures, func(f report.Figure) bool { return f.Ledger != nil })
	if why != "" && v.Unlinked == nil && ofEntries {
		v.Unlinked = &why
	}
	r := Row{Key: keyOf(group, row.Key), From: day(row.Span.From), Until: day(row.Span.Until), Figures: Figures{},
		Links: links, values: row.Values, previous: row.Previous, raw: row.Key}
	for i, f := range v.report.Figures {
		r.Figures[f.Name] = row.Values[i]
	}
	if row.Previous != nil {
		r.Previous, r.Change = Figures{}, Figures{}
		for i, f := range v.report.Figures {
			r.Previous[f.Name], r.Change[f.Name] = row.Previous[i], row.Values[i].Less(row.Previous[i])
		}
	}
	return r
}

// keyOf writes a key as it is answered: ids with their prefixes.
func keyOf(group, key string) string {
	g := report.GroupNamed(group)
	if g.Prefix == "" || key == "" || key == "0" {
		if g.Prefix != "" {
			return ""
		}
		return key
	}
	return g.Prefix + key
}
