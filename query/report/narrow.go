package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// Planning a statement takes the server as long as reading for it may, and it plans what no question can need too: a
// subquery under a condition that is false for this one. Such a part of a statement stands between
// "/*if <condition>*/" and "/*end <condition>*/", and is left out where the condition does not hold. What is left says
// the same as the whole for that question.
var conditions = []condition{
	{name: "chosen", holds: (*Question).chosen},
	// of vehicle_keys.sql
	{name: "by_traits", holds: func(q *Question) bool {
		return slices.Contains([]string{"make", "model", "class", "location", "owner", "tag"}, q.Group)
	}},
	// and of those that it alone says, where bookings have classes and places of their own
	{name: "by_keys", holds: func(q *Question) bool {
		return slices.Contains([]string{"make", "model", "owner", "tag"}, q.Group)
	}},
	{name: "by_tags", holds: func(q *Question) bool { return q.Group == "tag" }},
	{name: "by_vehicles", holds: func(q *Question) bool {
		return !slices.Contains([]string{"booking", "channel", "customer"}, q.Group)
	}},
	// whose days are added up by months
	{name: "by_months", holds: (*Question).byMonths},
	{name: "by_days", holds: func(q *Question) bool { return !q.byMonths() }},
	{name: "by_longer", holds: func(q *Question) bool { return q.Group != "day" && q.Group != "week" }},
	{name: "of_entries", holds: (*Question).ofEntries},
	{name: "of_facts", holds: func(q *Question) bool { return !q.ofEntries() }},
	{name: "of_fleet", holds: (*Question).ofFleet},
	{name: "of_vehicles", holds: func(q *Question) bool { return !q.ofFleet() }},
	{name: "of_ledger_days", holds: (*Question).ofLedgerDays},
	{name: "of_single_entries", holds: func(q *Question) bool { return !q.ofLedgerDays() }},
	{name: "of_both", holds: func(*Question) bool { return false }}, // what joins two of which one is left
	{name: "cash", holds: func(q *Question) bool { return q.Basis == Cash }},
	{name: "accrual", holds: func(q *Question) bool { return q.Basis != Cash }},
}

// condition says whether a question needs the parts of a statement that have its name.
type condition struct {
	name  string
	holds func(*Question) bool
}

// ofEntries says whether sums are made of the entries of the ledger: see finance_facts.sql.
func (q *Question) ofEntries() bool {
	by := cmp.Or(q.by, q.Group)
	return q.Basis == Cash || by == "channel" || by == "customer" || len(q.Filters.Channels)+len(q.Filters.Customers) > 0
}

// chosen says whether vehicles are meant that have something in common.
func (q *Question) chosen() bool {
	f := &q.Filters
	return len(f.Classes)+len(f.Locations)+len(f.Owners)+len(f.Tags)+len(f.Makes)+len(f.Models) > 0
}

// ofFleet says whether sums of all vehicles are enough.
func (q *Question) ofFleet() bool {
	return (q.Group == "total" || groups[q.Group].Of == "time") && len(q.Filters.Vehicles) == 0 && !q.chosen()
}

// ofLedgerDays says whether sums of the books by day are enough, which know neither vehicles nor customers.
func (q *Question) ofLedgerDays() bool {
	return (slices.Contains([]string{"total", "account", "channel"}, q.Group) || groups[q.Group].Of == "time") &&
		len(q.Filters.Vehicles)+len(q.Filters.Customers) == 0 && !q.chosen()
}

// byMonths says whether sums of whole months are enough.
func (q *Question) byMonths() bool {
	return q.Group != "day" && q.Group != "week" && q.Span.wholeMonths()
}

// mark is where a part begins or ends.
var mark = regexp.MustCompile(`/\*(if|end) (\w+)\*/`)

// part is text that is always there, or if a condition holds.
type part struct {
	text string
	of   []condition // all of them have to hold
}

// parts cuts a statement at its marks.
func parts(text string) ([]part, error) {
	var cut []part
	var open []condition
	for {
		at := mark.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		cut = append(cut, part{text: text[:at[0]], of: slices.Clone(open)})
		end, name := text[at[2]:at[3]] == "end", text[at[4]:at[5]]
		text = text[at[1]:]
		i := slices.IndexFunc(conditions, func(c condition) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no condition is called %s", name)
		}
		if !end {
			open = append(open, conditions[i])
			continue
		}
		if len(open) == 0 || open[len(open)-1].name != name {
			return nil, fmt.Errorf("an end of %s is not that of what began last", name)
		}
		open = open[:len(open)-1]
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("there is no end of %s", open[len(open)-1].name)
	}
	return append(cut, part{text: text}), nil
}

// text is the statement for a question.
func (d *Definition) text(q *Question) string {
	var text []byte
	for _, p := range d.parts {
		if !slices.ContainsFunc(p.of, func(c condition) bool { return !c.holds(q) }) {
			text = append(text, p.text...)
		}
	}
	return string(text)
}
