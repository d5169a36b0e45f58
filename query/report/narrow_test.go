package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/schemas/schematest"
)

// What is left of a statement for a question says the same as all of it, whatever is asked: each report by a day, by
// what vehicles are and by what facts do not know, on both bases, with filters and without, in turn.
func TestWhatIsLeftOfAStatementSaysTheSame(t *testing.T) {
	turn := 0
	leftSaysTheSame(t, func(d *Definition) []string { return []string{d.Groups[0], "day", "class", "channel"} },
		func(all []Filters) []Filters {
			turn++
			return all[turn%len(all):][:1]
		})
}

// leftSaysTheSame asks each report by those of its groups with those of some filters.
func leftSaysTheSame(t *testing.T, groups func(*Definition) []string, chosen func([]Filters) []Filters) {
	t.Helper()
	db := schematest.Open(t)
	rent(t, db)
	if err := db.Exec(t.Context(), `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no,
			currency, amount, vehicle, customer, channel, kind, source)
		SELECT 3, toDate32('2026-01-01') + number % 40, ['cash', 'revenue.time', 'cost.fuel', 'deposits_held'][1 + number % 4],
			number, 1, 'USD', toInt64(number) - 50, number % 6, number % 11, ['direct', 'turo'][1 + number % 2],
			['payment', 'booking', 'expense'][1 + number % 3], number
		FROM numbers(200)`); err != nil {
		t.Fatal(err)
	}
	makeBooked(t, db)
	day := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	filters := []Filters{{}, {Makes: []string{"Kia"}}, {Channels: []string{"turo"}},
		{Customers: []uint64{2}, Tags: []string{"ev"}}}
	asked, told := 0, 0
	for _, name := range Names() {
		d := Named(name)
		whole := *d
		whole.parts = []part{{text: d.statement}}
		for _, group := range groups(d) {
			if !slices.Contains(d.Groups, group) {
				continue
			}
			for _, basis := range d.Bases {
				spans := []Span{{day, day.AddDate(0, 0, 40)}}
				if strings.Contains(d.statement, "by_months") {
					spans = append(spans, Span{day.AddDate(0, 0, -2), day.AddDate(0, 2, -3)}) // whole months
				}
				some := chosen(filters)
				for i := range len(some) * len(spans) {
					of := some[i/len(spans)]
					q := Question{Account: 3, Span: spans[i%len(spans)], Group: group, Basis: basis,
						Currency: "USD", Zone: "America/Chicago", Today: day, Accounts: []string{"revenue.time", "cost.fuel"},
						Measures: []string{"revenue_time", "cost_energy"}, Filters: of}
					want, err := whole.Answer(t.Context(), db, q)
					if err != nil {
						t.Fatalf("%s by %s with %+v: %v", name, group, of, err)
					}
					got, err := d.Answer(t.Context(), db, q)
					if err != nil {
						t.Fatalf("%s by %s with %+v, of what is left: %v", name, group, of, err)
					}
					if !reflect.DeepEqual(got.Rows, want.Rows) || !reflect.DeepEqual(got.Totals, want.Totals) {
						t.Errorf("%s by %s with %+v: %v, of what is left %v", name, group, of, want.Rows, got.Rows)
					}
					asked++
					for _, row := range want.Rows {
						if slices.ContainsFunc(row.Values, func(v Value) bool { return v.known && v.unscaled != 0 }) {
							told++
						}
					}
				}
			}
		}
	}
	t.Logf("%d questions, %d rows that say something", asked, told)
	if told < asked {
		t.Errorf("%d rows of %d questions say something: too few to tell anything", told, asked)
	}
}

func TestPartsOfStatements(t *testing.T) {
	for text, want := range map[string]string{
		"a/*if cash*/b/*end cash*/c":                               "ac",
		"a/*if accrual*/b/*if cash*/c/*end cash*/d/*end accrual*/": "abd",
		"/*if cash*/a/*if accrual*/b/*end accrual*/c/*end cash*/":  "",
		"a /* b */ c": "a /* b */ c",
	} {
		cut, err := parts(text)
		if got := (&Definition{parts: cut}).text(&Question{Basis: Accrual}); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"/*if rich*/a/*end rich*/", "/*if cash*/a", "a/*end cash*/",
		"/*if cash*//*if accrual*/a/*end cash*//*end accrual*/"} {
		if _, err := parts(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
