//go:build long

package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/query/report"
	"github.com/xuri/excelize/v2"
)

// Every report by every group on every basis runs; what is additive adds up to the totals, of tags to no less; times
// add up to the same totals whatever times they are; the totals are those of a question for nothing else; and the
// entries that a figure links to sum to it exactly.
func TestReportsAddUpAndLinkToTheirEntries(t *testing.T) {
	b := newBusiness(t)
	followed := 0
	for _, one := range b.do("GET", "/v1/reports", "").data() {
		name := one["name"].(string)
		var definition struct {
			Figures []struct {
				Name   string
				Ledger map[string]struct {
					Sign int64 `json:"entries_sign"`
				}
			}
		}
		if err := json.Unmarshal(b.do("GET", "/v1/reports/"+name+"/definition", "").ok(200).body, &definition); err != nil {
			t.Fatal(err)
		}
		for _, basis := range one["bases"].([]any) {
			signs := map[string]int64{}
			for _, f := range definition.Figures {
				signs[f.Name] = f.Ledger[basis.(string)].Sign
			}
			to := "2026-04-20"
			if name == "deposits_held" { // what was done with a deposit is of the day on which it became known
				to = time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
			}
			asked := fmt.Sprintf("%s?from=2026-01-10&to=%s&basis=%s&group_by=", name, to, basis)
			all := b.report(asked + "total").Totals
			for _, group := range one["groups"].([]any) {
				path := fmt.Sprint(asked, group)
				f := b.report(path)
				adds := report.Named(name).Adds(group.(string))
				for _, c := range f.Columns {
					rounded := c.Unit == "mi" || c.Unit == "gal" || c.Unit == "kwh" // by row
					// Where rentals overlap, each is a channel's and a customer's, and the vehicle is on rent once.
					if got := string(f.Totals.Figures[c.Name]); !rounded && c.Formula == "" && got != "null" &&
						got != string(all.Figures[c.Name]) && !(c.Name == "rented_s" && (group == "channel" || group == "customer")) {
						t.Errorf("%s: %s is %s in all, and %s if nothing else is asked for", path, c.Name, got, all.Figures[c.Name])
					}
					if !c.Additive {
						continue
					}
					total := f.Totals.number(t, c.Name)
					if total == nil {
						continue
					}
					sum, known := new(big.Rat), false
					for _, row := range f.Rows {
						if n := row.number(t, c.Name); n != nil {
							sum, known = sum.Add(sum, n), true
						}
					}
					if !known {
						continue // it is of no such thing, as miles outside of rentals are of no channel
					}
					if rounded {
						sum.Sub(sum, total)
						if off, _ := sum.Abs(sum).Float64(); group != "tag" && off > 0.001*float64(len(f.Rows)) {
							t.Errorf("%s: %s is off by %v", path, c.Name, off)
						}
					} else if !adds {
						continue
					} else if sum.Cmp(total) != 0 {
						t.Errorf("%s: the rows of %s sum to %s, the total is %s", path, c.Name, sum.RatString(), total.RatString())
					}
				}
				if len(f.Rows) == 0 {
					t.Errorf("%s has no rows", path)
				}
				for i, row := range append(f.Rows, f.Totals) {
					if i < len(f.Rows) && (i > 1 || basis != "accrual" && i > 0) {
						continue // of many some
					}
					for figure, link := range row.Links {
						followed++
						got := b.follow(link) * signs[figure]
						if want := row.number(t, figure); want == nil || want.Cmp(big.NewRat(got, 1)) != 0 {
							t.Errorf("%s: %s of %q is %s, and the entries of %s come to %d", path, figure, row.Label, row.Figures[figure], link, got)
						}
					}
				}
			}
		}
	}
	if followed < 500 {
		t.Errorf("only %d links", followed)
	}
}

// A workbook has the numbers of the JSON, as numbers, and its totals as formulas; no text is one.
func TestAWorkbookAgreesWithTheAnswer(t *testing.T) {
	b := newBusiness(t)
	for _, path := range []string{"profitability?group_by=class", "cost_per_mile?group_by=month&compare=previous_period",
		"utilization?group_by=month", "revenue_bridge?group_by=vehicle"} {
		path += "&from=2026-01-01&to=2026-04-30"
		answer := b.report(path)
		r := b.do("GET", "/v1/reports/"+path, "", "Accept", export.XLSX.MediaType()).ok(200)
		book, err := excelize.OpenReader(bytes.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		defer book.Close()
		cells, err := book.GetRows("Report", excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "rows", len(cells), 5+len(answer.Rows))
		if cells[0][0] == "" || !strings.Contains(cells[1][0], "1 January 2026 to 30 April 2026, by ") {
			t.Errorf("the title is %q", cells[:2])
		}
		formulas, first := 0, 1
		slices.SortStableFunc(answer.Rows, func(a, b figureRow) int {
			if strings.Contains(path, "group_by=month") {
				return 0
			}
			return cmp.Or(strings.Compare(b.Key, "")-strings.Compare(a.Key, ""),
				strings.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)))
		})
		if strings.Contains(path, "group_by=month") {
			first = 3
		}
		for i, row := range append(answer.Rows, answer.Totals) {
			for j, c := range answer.Columns {
				at, err := excelize.CoordinatesToCellName(first+1+j, 5+i)
				if err != nil {
					t.Fatal(err)
				}
				text, err := book.CalcCellValue("Report", at, excelize.Options{RawCellValue: true})
				if err != nil {
					t.Fatal(err)
				}
				if formula, _ := book.GetCellFormula("Report", at); formula != "" {
					formulas++
				}
				want := row.number(t, c.Name)
				if want == nil {
					wantEqual(t, at, text, "")
					continue
				}
				if c.Unit == "seconds" {
					want.Mul(want, big.NewRat(1, 86400))
				}
				if c.Unit == "money" || c.Unit == "amount" || strings.HasPrefix(c.Unit, "per_") {
					want.Mul(want, big.NewRat(1, 100))
				}
				got, ok := new(big.Rat).SetString(text)
				if !ok {
					t.Fatalf("%s of %s is %q", c.Name, row.Label, text)
				}
				if off, _ := got.Sub(got, want).Abs(got).Float64(); off > 1e-3*float64(len(answer.Rows)) && c.Unit == "mi" ||
					c.Unit != "mi" && off > 1e-4 {
					t.Errorf("%s: %s of %s is %s, want %s", path, c.Name, row.Label, text, want.FloatString(4))
				}
			}
		}
		if formulas < 7 {
			t.Errorf("only %d formulas", formulas)
		}
		for i, row := range cells {
			if len(row) > 0 && row[0] == "=Compact" {
				at := fmt.Sprintf("A%d", i+1)
				if formula, err := book.GetCellFormula("Report", at); err != nil || formula != "" {
					t.Errorf("a name is the formula %s, %v", formula, err)
				}
			}
		}
		panes, err := book.GetPanes("Report")
		if err != nil || !panes.Freeze {
			t.Errorf("the header is not frozen: %v", err)
		}
	}
	table := string(b.do("GET", "/v1/reports/revenue?group_by=class&from=2026-01-01&to=2026-04-30&format=csv", "").ok(200).body)
	if !strings.Contains(table, "\n'=Compact,") {
		t.Errorf("a name is a formula in %s", table)
	}
	for _, format := range []string{"arrow", "parquet"} {
		b.do("GET", "/v1/reports/revenue?group_by=month&format="+format, "").ok(200)
	}
}
