package report

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query/report"
)

// Summary is a report in the list of all.
type Summary struct {
	Name    string   `json:"name" example:"revenue"`
	Title   string   `json:"title" example:"Revenue"`
	About   string   `json:"about"`
	Bases   []string `json:"bases" nullable:"false" doc:"What basis may be; the first unless given."`
	Groups  []string `json:"groups" nullable:"false" doc:"What group_by may be; the first unless given."`
	Filters []string `json:"filters" nullable:"false" doc:"The parameters that narrow it."`
	Version string   `json:"definitions_version"`
	URL     string   `json:"url" example:"/v1/reports/revenue"`
}

// Definition is a report with what each of its figures means.
type Definition struct {
	Object string `json:"object" doc:"Always report_definition." example:"report_definition"`
	Summary
	Figures []FigureDefinition `json:"figures" nullable:"false"`
}

// FigureDefinition is what a figure means.
type FigureDefinition struct {
	Column
	Ledger map[string]LedgerPart `json:"ledger" nullable:"false" doc:"By basis, the entries of the ledger that it is the sum of; nothing if it is none."`
}

// LedgerPart are the entries of the ledger that a figure is the sum of.
type LedgerPart struct {
	Accounts []string `json:"ledger_accounts" nullable:"false"`
	Kinds    []string `json:"kinds" nullable:"false" doc:"Only entries that records of these kinds were the cause of; all if empty."`
	Capital  *bool    `json:"capital" nullable:"true" doc:"Only what was paid for vehicles and back to lenders, or, false, all else; null for both."`
	Standing bool     `json:"standing" doc:"All entries until the end of the span, not those of the span alone."`
	Sign     int      `json:"entries_sign" doc:"What the sum of the entries is multiplied by: -1 of revenue and liabilities, which are credits, and of what cash is paid for."`
}

// Routes registers every report.
func (a *API) Routes() {
	a.Absent["/v1/reports/"] = absent
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/reports", ID: "listReports", Tag: "Reports", Scope: auth.ReportsRead,
		Summary: "List the reports", About: "All on one page.", Reply: rest.List[Summary]{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		var data []Summary
		for _, name := range report.Names() {
			data = append(data, summaryOf(report.Named(name)))
		}
		return rest.WriteJSON(w, r, http.StatusOK,
			rest.List[Summary]{Data: data, Pagination: rest.Pagination{Page: 1, PerPage: len(data), Total: len(data)}})
	})
	for _, name := range report.Names() {
		a.reportRoutes(report.Named(name))
	}
}

func absent(name string) string {
	return fmt.Sprintf("There is no report %.60q. There are %s.", name, strings.Join(report.Names(), ", "))
}

func summaryOf(d *report.Definition) Summary {
	s := Summary{Name: d.Name, Title: d.Title, About: d.About, Bases: d.Bases, Groups: d.Groups, Filters: []string{},
		Version: d.Version, URL: "/v1/reports/" + d.Name}
	for _, f := range filters {
		if d.Takes(f.takes) {
			s.Filters = append(s.Filters, f.name)
		}
	}
	return s
}

func (a *API) reportRoutes(d *report.Definition) {
	id := operation(d.Name) + "Report"
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/reports/" + d.Name, ID: "get" + id, Tag: "Reports", Scope: auth.ReportsRead,
		Summary: "Report: " + d.Title, About: aboutOf(d), Params: paramsOf(d), Reply: View{},
		ReplyTypes: export.MediaTypes(export.Reports), Timeout: rest.ExportTime,
	}, func(w http.ResponseWriter, r *http.Request) error {
		format, err := rest.FormatOf(r, export.Reports)
		if err != nil {
			return err
		}
		if _, err := a.LongTurn(w, r); err != nil {
			return err
		}
		call := Call{Name: d.Name, Params: r.URL.Query(), Account: auth.From(r.Context()).Account,
			May: auth.From(r.Context()).Has}
		if format == export.JSON {
			call.Params.Del("format")
			v, err := a.Make(r.Context(), call)
			if err != nil {
				return err
			}
			return rest.WriteJSON(w, r, http.StatusOK, v)
		}
		call.Params.Set("format", string(format))
		v, err := a.Make(r.Context(), call)
		if err != nil {
			return err
		}
		return a.Download(w, r, format, d.Name+"-"+v.From+"-"+v.Until, func(w http.ResponseWriter) error {
			return v.Write(w, format)
		})
	})
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/reports/" + d.Name + "/definition", ID: "get" + id + "Definition", Tag: "Reports",
		Scope: auth.ReportsRead, Summary: "What the figures of a report mean: " + d.Title, Reply: Definition{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		return rest.WriteJSON(w, r, http.StatusOK, definitionOf(d))
	})
}

// operation writes a name as operations are called: cost_per_mile is CostPerMile.
func operation(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// aboutOf describes a report with its figures.
func aboutOf(d *report.Definition) string {
	var b strings.Builder
	b.WriteString(d.About + "\n")
	for i := range d.Figures {
		f := &d.Figures[i]
		fmt.Fprintf(&b, "\n- `%s` (%s)", f.Name, f.Unit)
		if formula := f.Formula(); formula != "" {
			fmt.Fprintf(&b, " = `%s`", formula)
		}
		b.WriteString(": " + f.About)
	}
	return b.String()
}

func paramsOf(d *report.Definition) []rest.Param {
	figures := []string{"key", "-key"}
	for _, name := range figureNames(d) {
		figures = append(figures, name, "-"+name)
	}
	params := []rest.Param{
		{Name: "from", Format: "date", About: "The first day; the first of the month unless given."},
		{Name: "until", Format: "date", About: "The last day; today unless given."},
		{Name: "timezone", About: "The account's, or nothing: days are those of the books. Another one is a 422."},
		{Name: "group_by", Enum: d.Groups, About: "What a row is of; `" + d.Groups[0] + "` unless given."},
		{Name: "basis", Enum: d.Bases, About: "`" + d.Bases[0] + "` unless given."},
		{Name: "compare", Enum: []string{report.PreviousPeriod, report.PreviousYear},
			About: "Also answers with the same of the span before (as many whole months, or as many days), or of the same days a year earlier."},
		{Name: "currency", About: "The account's unless given. An amount in another one is in no sum."},
	}
	for _, f := range filters {
		if d.Takes(f.takes) {
			params = append(params, rest.Param{Name: f.name, NotEmpty: true,
				About: f.about + " `none` stands for none."})
		}
	}
	return append(params,
		rest.Param{Name: "sort", Enum: figures, About: "In the order of keys unless given; what is null comes last."},
		rest.Param{Name: "limit", Type: "integer", Min: 1, Max: mostRows,
			About: fmt.Sprintf("Rows in JSON; %d unless given. Totals are of everything.", usualRows)},
		rest.Param{Name: "format", Enum: export.Names(export.Reports),
			About: "Form of the answer, instead of an Accept header. Every form but `json` has all rows."})
}

func definitionOf(d *report.Definition) Definition {
	full := Definition{Object: "report_definition", Summary: summaryOf(d)}
	for i, column := range columnsOf(d) {
		parts := map[string]LedgerPart{}
		for basis, of := range d.Figures[i].Ledger {
			sign := 1
			if of.Minus {
				sign = -1
			}
			var capital *bool
			if of.Capital != "" {
				capital = new(of.Capital == "true")
			}
			parts[basis] = LedgerPart{Capital: capital,
				Accounts: rest.NonNil(accountsOf(of.Patterns)), Kinds: rest.NonNil(of.Kinds),
				Standing: of.Standing, Sign: sign}
		}
		full.Figures = append(full.Figures, FigureDefinition{Column: column, Ledger: parts})
	}
	return full
}
