//go:build long

package api

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
)

// Every report by every group on every basis runs; what is additive adds up to the totals, of tags to no less; times
// add up to the same totals whatever times they are; and the entries that a figure links to sum to it exactly.
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
			for _, group := range one["groups"].([]any) {
				path := fmt.Sprintf("%s?from=2026-01-10&to=2026-04-20&basis=%s&group_by=%s", name, basis, group)
				f := b.report(path)
				for _, c := range f.Columns {
					total := f.Totals.number(t, c.Name)
					if !c.Additive || total == nil {
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
					if c.Unit == "mi" || c.Unit == "gal" || c.Unit == "kwh" { // rounded by row
						sum.Sub(sum, total)
						if off, _ := sum.Abs(sum).Float64(); group != "tag" && off > 0.001*float64(len(f.Rows)) {
							t.Errorf("%s: %s is off by %v", path, c.Name, off)
						}
					} else if group == "tag" {
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
