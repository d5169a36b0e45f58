package report

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/report"
)

// Call is a report that somebody wants: its name, and what is asked of it by the names of the parameters of its route.
type Call struct {
	Name    string
	Params  url.Values
	Account fleet.AccountID
	May     func(auth.Scope) bool // what the caller may hear, for names
}

// filter is a parameter that narrows a report, with that of its statement.
type filter struct {
	name, takes, prefix string
	about               string
}

// filters are those that reports may have.
var filters = []filter{
	{"vehicle_id", "vehicles", fleet.VehiclePrefix, "Only of these vehicles, separated by commas."},
	{"vehicle_class_id", "classes", fleet.ClassPrefix, "Only of these classes."},
	{"location_id", "locations", fleet.LocationPrefix, "Only of these locations."},
	{"owner_customer_id", "owners", fleet.CustomerPrefix, "Only of vehicles that these customers own now."},
	{"tag", "tags", "", "Only of vehicles that have one of these tags now."},
	{"make", "makes", "", "Only of vehicles of these makes."},
	{"model", "models", "", "Only of vehicles of these models, with their makes: `Tesla Model 3`."},
	{"channel", "channels", "", "Only of rentals that came by these channels."},
	{"customer_id", "customers", fleet.CustomerPrefix, "Only of these customers."},
}

// The rows of an answer in JSON.
const usualRows, mostRows = 1000, 10000

// longest is how many days a report may be of.
const longest = 36600

// view is how an answer is shown.
type wanted struct {
	question report.Question
	sort     string // a figure, "key", or nothing
	falling  bool
	limit    int
	account  record.Account
}

// ask reads what a call wants.
func (a *API) ask(ctx context.Context, d *report.Definition, call Call) (*wanted, error) {
	rec, err := a.accounts.Get(ctx, call.Account, uint64(call.Account))
	if err != nil {
		return nil, err
	}
	account := rec.Body
	zone, err := query.ZoneNamed(account.Timezone, time.UTC)
	if err != nil {
		zone = time.UTC
	}
	today := ledger.DayOf(a.Now(), zone)
	p := call.Params
	w := &wanted{account: account, limit: usualRows}
	w.question = report.Question{
		Account: call.Account, Zone: zone.String(), Today: today.Time(), Metric: p.Get("units") == "metric",
		Group: p.Get("group_by"), Basis: p.Get("basis"), Compare: p.Get("compare"), Currency: account.Currency,
	}
	q := &w.question
	for _, line := range ledger.Chart {
		q.Accounts, q.Measures = append(q.Accounts, string(line.Account)), append(q.Measures, line.Measure)
	}
	if c := p.Get("currency"); c != "" {
		q.Currency = c
	}
	for _, choice := range []struct {
		name  string
		value *string
		among []string
		usual string
	}{
		{"group_by", &q.Group, d.Groups, d.Groups[0]}, {"basis", &q.Basis, d.Bases, d.Bases[0]},
		{"compare", &q.Compare, []string{report.PreviousPeriod, report.PreviousYear}, ""},
	} {
		if *choice.value == "" {
			*choice.value = choice.usual
		} else if !slices.Contains(choice.among, *choice.value) {
			return nil, rest.InvalidParam(choice.name, fmt.Sprintf("must be one of %s in this report",
				strings.Join(choice.among, ", ")))
		}
	}
	if asked := p.Get("timezone"); asked != "" && asked != account.Timezone {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "timezone", Code: "unsupported", Detail: fmt.Sprintf(
			"cannot be %.60q: days are those of the books, which are local where each thing happens, and %s for the account",
			asked, zone)})
	}
	if q.Span, err = spanOf(p, today); err != nil {
		return nil, err
	}
	if err := w.order(d, p); err != nil {
		return nil, err
	}
	return w, narrow(d, &q.Filters, p)
}

// spanOf is the span that is asked for, this month until today unless it is said.
func spanOf(p url.Values, today ledger.Day) (report.Span, error) {
	from, until := today.Month(0).Time(), today.Time()
	untilName := "until"
	if p.Get(untilName) == "" && p.Get("to") != "" {
		untilName = "to"
	}
	for name, into := range map[string]*time.Time{"from": &from, untilName: &until} {
		text := p.Get(name)
		if text == "" {
			continue
		}
		day, err := ledger.ParseDay(text)
		if err != nil || !day.Known() {
			return report.Span{}, rest.InvalidParam(name, "must be a day from 1970-01-02 to 2199-12-31, like 2026-01-31")
		}
		*into = day.Time()
	}
	if p.Get("from") == "" && until.Before(from) {
		from = ledger.DayOf(until, time.UTC).Month(0).Time()
	}
	s := report.Span{From: from, Until: until}
	if until.Before(from) {
		return s, rest.InvalidParam("until", "must not be before from")
	}
	if s.Days() > longest {
		return s, rest.InvalidParam("until", fmt.Sprintf("must be within %d days of from", longest))
	}
	return s, nil
}

// order reads how the rows are to be put in order, and how many are wanted.
func (w *wanted) order(d *report.Definition, p url.Values) error {
	if text := p.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostRows {
			return rest.InvalidParam("limit", fmt.Sprintf("must be from 1 to %d", mostRows))
		}
		w.limit = n
	}
	if w.sort = p.Get("sort"); w.sort == "" {
		return nil
	}
	w.sort, w.falling = strings.CutPrefix(w.sort, "-")
	if w.sort != "key" && d.Figure(w.sort) == nil {
		return rest.InvalidParam("sort", "must be key or a figure of the report, with - in front for the largest first: "+
			strings.Join(figureNames(d), ", "))
	}
	return nil
}

func figureNames(d *report.Definition) []string {
	names := make([]string, len(d.Figures))
	for i := range d.Figures {
		names[i] = d.Figures[i].Name
	}
	return names
}

// none is what stands for vehicles without a class, money of no vehicle, and the like.
const none = "none"

// narrow reads the filters.
func narrow(d *report.Definition, into *report.Filters, p url.Values) error {
	lists := map[string]*[]uint64{"vehicles": &into.Vehicles, "classes": &into.Classes, "locations": &into.Locations,
		"owners": &into.Owners, "customers": &into.Customers}
	words := map[string]*[]string{"channels": &into.Channels, "tags": &into.Tags, "makes": &into.Makes,
		"models": &into.Models}
	for _, f := range filters {
		text := p.Get(f.name)
		if text == "" {
			continue
		}
		if !d.Takes(f.takes) {
			return rest.InvalidParam(f.name, "does not narrow this report")
		}
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			if f.prefix == "" {
				if part == none {
					part = ""
				}
				*words[f.takes] = append(*words[f.takes], part)
				continue
			}
			var id uint64
			if part != none {
				var err error
				if id, err = fleet.ParseID(f.prefix, part); err != nil {
					return rest.InvalidParam(f.name, fmt.Sprintf("takes ids like %s1234, or none, and %.40q is neither", f.prefix, part))
				}
			}
			*lists[f.takes] = append(*lists[f.takes], id)
		}
		if len(strings.Split(text, ",")) > 1000 {
			return rest.InvalidParam(f.name, "has more than 1000 parts")
		}
	}
	return nil
}
