package report

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query/report"
)

// accountsOf are the accounts of the ledger that patterns name, in the order of the chart: codes, measures of the
// chart, beginnings with a star, and with a minus what is left out.
func accountsOf(patterns []string) []string {
	var all []string
	for _, line := range ledger.Chart {
		in := false
		for _, pattern := range patterns {
			without, out := strings.CutPrefix(pattern, "-")
			if matches(without, line) {
				in = !out
			}
		}
		if in {
			all = append(all, string(line.Account))
		}
	}
	return all
}

func matches(pattern string, line ledger.Line) bool {
	if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(string(line.Account), beginning)
	}
	return pattern == string(line.Account) || pattern == line.Measure || pattern == line.Type
}

// linksOf are the lists of entries that the figures of a row are made of, and why there is none where entries could not
// be asked for. Entries can be asked for by the classes that vehicles have now, and not by those of bookings. d is the
// report as its file has it, shown the same in the units of the answer.
func linksOf(
	d, shown *report.Definition, q *report.Question, row *report.Row, group string,
) (links map[string]string, why string) {
	links = map[string]string{}
	base, why := filtersOf(d, q, row, group)
	if why != "" {
		return links, why
	}
	for i := range d.Figures {
		of, ok := d.Figures[i].Ledger[q.Basis]
		if !ok {
			continue
		}
		accounts := accountsOf(of.Patterns)
		if group == "account" {
			accounts = slices.DeleteFunc(accounts, func(a string) bool { return a != row.Key })
		}
		if len(accounts) == 0 {
			continue
		}
		params := url.Values{}
		for name, values := range base {
			params[name] = values
		}
		if of.Standing {
			params.Del("from")
		}
		params.Set("ledger_account", strings.Join(accounts, ","))
		if len(of.Kinds) > 0 {
			params.Set("kind", strings.Join(of.Kinds, ","))
		}
		if of.Capital != "" {
			params.Set("capital", of.Capital)
		}
		links[shown.Figures[i].Name] = "/v1/ledger/entries?" + params.Encode()
	}
	return links, ""
}

// filtersOf are the filters of the list of entries that a row is made of, or why there are none that say it.
func filtersOf(d *report.Definition, q *report.Question, row *report.Row, group string) (url.Values, string) {
	p := url.Values{"from": {day(row.Span.From)}, "until": {day(row.Span.Until)}, "currency": {q.Currency}}
	f := q.Filters
	linked := maps.Clone(linked)
	if d.Places != "" {
		linked["location"] = "pickup_location_id"
		if delete(linked, "class"); group == "class" || len(f.Classes) > 0 {
			return nil, "Entries of the ledger can be listed by the class that a vehicle has now, and not by that of the " +
				d.Places + "."
		}
	}
	ok := true
	set := func(name string, values ...string) {
		if len(values) == 0 {
			return
		}
		for i, value := range values {
			if ok = ok && !strings.Contains(value, ",") && value != none; value == "" {
				values[i] = none
			}
		}
		p.Set(name, strings.Join(values, ","))
	}
	written := func(prefix string, ids []uint64) (all []string) {
		for _, id := range ids {
			text := ""
			if id != 0 {
				text = fleet.FormatID(prefix, id)
			}
			all = append(all, text)
		}
		return all
	}
	set("vehicle_id", written(fleet.VehiclePrefix, f.Vehicles)...)
	set("vehicle_class_id", written(fleet.ClassPrefix, f.Classes)...)
	set(linked["location"], written(fleet.LocationPrefix, f.Locations)...)
	set("owner_customer_id", written(fleet.CustomerPrefix, f.Owners)...)
	set("customer_id", written(fleet.CustomerPrefix, f.Customers)...)
	set("tag", slices.Clone(f.Tags)...)
	set("make", slices.Clone(f.Makes)...)
	set("model", slices.Clone(f.Models)...)
	set("channel", slices.Clone(f.Channels)...)
	name, known := linked[group]
	if !known && report.GroupNamed(group).Of != "time" {
		return nil, "Entries of the ledger cannot be listed by " + group + "."
	}
	key := keyOf(group, row.Key)
	switch {
	case name == "":
	case name == "tag" && p.Has(name) && !slices.Contains(f.Tags, row.Key):
		return nil, "Entries of the ledger can be listed by either of two tags, and not by both."
	case name == "purpose":
		place, tax := "", key
		if group == "jurisdiction" && strings.HasPrefix(key, fleet.LocationPrefix) {
			place, tax, _ = strings.Cut(key, " ")
		}
		if group == "jurisdiction" {
			set(linked["location"], place)
		}
		if p.Set(name, "tax, "+tax); tax == "" {
			p.Set(name, none)
		} else if tax == "tax" {
			p.Set(name, tax) // of a tax without a name
		}
	default:
		set(name, key)
	}
	if !ok {
		return nil, "A filter of the list of entries cannot say a name that has a comma, or is none."
	}
	return p, ""
}

// linked are the filters of the list of entries that groups are.
var linked = map[string]string{"total": "", "account": "", "vehicle": "vehicle_id", "class": "vehicle_class_id",
	"location": "location_id", "owner": "owner_customer_id", "customer": "customer_id", "booking": "booking_id",
	"tag": "tag", "channel": "channel", "make": "make", "model": "model", "category": "purpose", "jurisdiction": "purpose"}
