package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query/report"
)

// named is of how many rows the names are looked up at a time.
const named = 1000

// label says what people call what rows are of.
func (a *API) label(ctx context.Context, call Call, q *report.Question, v *View, rows []Row) {
	v.Totals.Label = "Total"
	group := report.GroupNamed(q.Group)
	for some := range chunks(rows, named) {
		texts := make([]*string, len(some))
		for i := range some {
			texts[i] = &some[i].Label
			some[i].Label = labelOf(q.Group, group, v, &some[i])
		}
		if group.Prefix != "" || q.Group == "calendar" || q.Group == "jurisdiction" {
			a.NameIDs(ctx, call.Account, call.May, texts...)
		}
	}
}

// callByName says in words what else a table for people has by ids: what it was narrowed to, and texts of rows.
func (a *API) callByName(ctx context.Context, call Call, v *View) {
	var only []string
	for _, f := range filters {
		if text := call.Params.Get(f.name); text != "" {
			name := strings.ReplaceAll(strings.TrimSuffix(f.name, "_id"), "_", " ")
			only = append(only, name+" "+strings.ReplaceAll(text, ",", ", "))
		}
	}
	v.only = strings.Join(only, "; ")
	a.NameIDs(ctx, call.Account, call.May, &v.only)
	for i := range v.report.Figures {
		if !v.report.Figures[i].Text() {
			continue
		}
		for some := range chunks(v.rows, named) {
			words, texts := make([]string, len(some)), make([]*string, len(some))
			for j := range some {
				words[j], texts[j] = some[j].values[i].String(), &words[j]
			}
			a.NameIDs(ctx, call.Account, call.May, texts...)
			for j := range some {
				if some[j].values[i].Known() {
					some[j].values[i] = report.Word(words[j])
				}
			}
		}
	}
}

// chunks divides rows into parts of at most n.
func chunks(rows []Row, n int) func(yield func([]Row) bool) {
	return func(yield func([]Row) bool) {
		for len(rows) > 0 {
			m := min(n, len(rows))
			if !yield(rows[:m]) {
				return
			}
			rows = rows[m:]
		}
	}
}

// nothing is what rows are called that are of no such thing.
var nothing = map[string]string{"vehicle": "No vehicle", "make": "No vehicle", "model": "No vehicle",
	"class": "No class", "location": "No location", "customer": "No customer", "owner": "Own fleet",
	"tag": "No tag", "channel": "No channel", "booking": "No booking", "driver": "Nobody",
	"category": "No category", "jurisdiction": "No tax"}

// labelOf is what a row is called before ids are given their names.
func labelOf(group string, of report.Group, v *View, row *Row) string {
	if row.Key == "" && nothing[group] != "" {
		return nothing[group]
	}
	switch group {
	case "total":
		return "Total"
	case "account":
		return accountLabel(v, row.Key)
	case "channel":
		return channelWords(row.Key)
	}
	if of.Of != "time" {
		return row.Key
	}
	first, _ := time.Parse(time.DateOnly, row.Key)
	switch group {
	case "week":
		y, w := first.ISOWeek()
		return fmt.Sprintf("%d week %d", y, w)
	case "month":
		return first.Format("January 2006")
	case "quarter":
		return fmt.Sprintf("%d Q%d", first.Year(), (first.Month()+2)/3)
	case "year":
		return first.Format("2006")
	}
	return row.Key
}

// channelWords is what people call a channel.
func channelWords(channel string) string {
	if channel == "ota" || channel == "api" {
		return strings.ToUpper(channel)
	}
	return inWords(channel)
}

// accountLabel is the number and the name of an account of the ledger, as the account has them.
func accountLabel(v *View, code string) string {
	line, ok := ledger.LineOf(ledger.Account(code))
	if !ok {
		return "Result so far"
	}
	number, name := line.Number, line.Name
	if own, ok := v.account.LedgerChart[code]; ok {
		if own.Number != "" {
			number = own.Number
		}
		if own.Name != "" {
			name = own.Name
		}
	}
	return number + " " + name
}
