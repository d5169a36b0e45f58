package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/query/report"
)

// Tables for people, CSV and workbooks, have their heads in words and their rows in the order in which people look for
// them. Whoever reads a report with a program takes JSON, Arrow or Parquet.

// shortened are words of names of figures that are no words.
var shortened = map[string]string{"adr": "ADR", "roi": "ROI", "gps": "GPS", "m1": "month 1"}

// measured are the ends of the names of figures that say a unit, longest first, and how a head says it.
var measured = []struct{ suffix, words string }{
	{"_mi_per_kwh", " (mi per kWh)"}, {"_km_per_kwh", " (km per kWh)"}, {"_mi_per_gal", " (mi per gal)"},
	{"_km_per_l", " (km per l)"}, {"_per_mi", " per mi"}, {"_per_km", " per km"}, {"_per_day", " per day"},
	{"_per_hour", " per hour"}, {"_kmh", " (km/h)"}, {"_mph", " (mph)"}, {"_kwh", " (kWh)"}, {"_gal", " (gal)"},
	{"_km", " (km)"}, {"_mi", " (mi)"}, {"_l", " (l)"},
}

// heading is what stands above a figure: "Rented (hours)" for rented_s, "Utilization (%)", "Cost per mi".
func heading(f *report.Figure) string {
	name, unit := f.Name, ""
	switch f.Unit {
	case "seconds":
		name, unit = strings.TrimSuffix(name, "_s"), " (hours)"
	case "percent":
		unit = " (%)"
	case "text":
		name = strings.TrimSuffix(name, "_id")
	default:
		for _, m := range measured {
			if before, ok := strings.CutSuffix(name, m.suffix); ok {
				name, unit = before, m.words
				break
			}
		}
	}
	return inWords(name) + unit
}

// inWords writes a name as a heading.
func inWords(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if long, ok := shortened[word]; ok {
			words[i] = long
		}
	}
	text := strings.Join(words, " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// headings are those of all figures, and of what they are compared with.
func (v *View) headings() (all []string) {
	for i := range v.report.Figures {
		all = append(all, heading(&v.report.Figures[i]))
	}
	if v.beside {
		for _, head := range slices.Clone(all) {
			all = append(all, head+", before")
		}
	}
	return all
}

// groupWords is what stands above the labels of rows.
func (v *View) groupWords() string {
	switch v.GroupBy {
	case "total":
		return ""
	case "calendar":
		return "Vehicle and day"
	}
	return inWords(v.GroupBy)
}

// timed says whether rows are of times, each of other days.
func (v *View) timed() bool { return report.GroupNamed(v.GroupBy).Of == "time" }

// byLabel puts rows in the order of what people call them; what is none of a group comes last.
func byLabel(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		if none := truth(a.Key == "") - truth(b.Key == ""); none != 0 {
			return none
		}
		return strings.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label))
	})
}

// about says what was asked, in a line.
func (v *View) about() string {
	date := func(text string) string {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return text
		}
		return at.Format("2 January 2006")
	}
	parts := []string{date(v.From) + " to " + date(v.Until)}
	if v.account.Name != "" {
		parts = append([]string{v.account.Name}, parts...)
	}
	if words := v.groupWords(); words != "" {
		parts = append(parts, "by "+strings.ToLower(words))
	}
	parts = append(parts, v.Basis+" basis", "in "+v.Currency)
	if v.Compare != nil {
		parts = append(parts, fmt.Sprintf("beside %s to %s", date(*v.PreviousFrom), date(*v.PreviousUntil)))
	}
	if v.only != "" {
		parts = append(parts, "only "+v.only)
	}
	return strings.Join(parts, ", ")
}
