package report

import (
	"math/big"
	"strings"
	"testing"
	"time"
)

const sound = `-- report: Sample
-- about: What it is about,
--   in two lines.
-- bases: accrual cash
-- groups: total month
-- figure revenue money [ledger minus revenue_time, contra.*] [cash cash of payment]: What was earned: all of it.
-- figure rented_s seconds: Time on rent.
-- figure driven_mi mi: Miles.
-- ratio share percent = revenue * 3 / (rented_s * 2): A share.
-- ratio earned_per_mi per_mi = revenue / driven_mi: For a mile.
-- ratio fleet ratio = rented_s / (span_days * 86400): Vehicles.
-- Prose for engineers.
SELECT {account:UInt64}, {from:Date32}, {to:Date32}, {group:String}`

func TestACommentIsADefinition(t *testing.T) {
	d, err := Parse("sample", sound)
	if err != nil {
		t.Fatal(err)
	}
	if d.Title != "Sample" || d.About != "What it is about, in two lines." || len(d.Figures) != 6 {
		t.Errorf("%+v", d)
	}
	revenue := d.Figure("revenue")
	if of := revenue.Ledger[Accrual]; !of.Minus || strings.Join(of.Patterns, " ") != "revenue_time contra.*" {
		t.Errorf("%+v", of)
	}
	if of := revenue.Ledger[Cash]; of.Minus || strings.Join(of.Kinds, " ") != "payment" {
		t.Errorf("%+v", of)
	}
	if formula := d.Figure("share").Formula(); formula != "revenue * 3 / (rented_s * 2)" {
		t.Error(formula)
	}
	of, err := Parse("sample", strings.NewReplacer("-- Prose", "-- places: quote\n-- Prose", "SELECT",
		"SELECT {locations:Array(UInt64)},").Replace(sound))
	if err != nil || of.Places != "quote" ||
		!strings.HasSuffix(of.About, " Class and location are those of the quote, the location that of its pickup.") {
		t.Errorf("%+v, %v", of, err)
	}
	other, err := Parse("sample", strings.Replace(sound, "all of it", "nearly all of it", 1))
	if err != nil || other.Version == d.Version {
		t.Errorf("another definition has the version %s, %v", other.Version, err)
	}
	same, err := Parse("sample", strings.Replace(sound, "Prose", "More prose", 1))
	if err != nil || same.Version != d.Version {
		t.Errorf("the same definition has another version, %v", err)
	}
}

func TestAMalformedDefinitionIsRefused(t *testing.T) {
	for what, change := range map[string][2]string{
		"no such group":         {"total month", "total fortnight"},
		"no such unit":          {"rented_s seconds", "rented_s eons"},
		"no title":              {"-- report: Sample\n", ""},
		"a figure twice":        {"-- figure rented_s", "-- figure revenue"},
		"of no figure":          {"revenue * 3 /", "income * 3 /"},
		"of a ratio":            {"revenue / driven_mi", "share / driven_mi"},
		"two lines of fraction": {"revenue / driven_mi", "revenue / driven_mi / rented_s"},
		"no parentheses":        {"(rented_s * 2)", "rented_s * 2"},
		"a name without unit":   {"figure driven_mi mi", "figure driven mi"},
		"no meaning":            {": Miles.", ""},
		"a basis of nobody":     {"[cash cash", "[later cash"},
		"apart from nothing":    {"-- Prose", "-- apart: channel\n-- Prose"},
		"no parameter":          {"{account:UInt64}, ", ""},
	} {
		if _, err := Parse("sample", strings.Replace(sound, change[0], change[1], 1)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestRatiosAreExactAndRoundedOnce(t *testing.T) {
	d, err := Parse("sample", sound)
	if err != nil {
		t.Fatal(err)
	}
	span := spanOf(t, "2026-01-01", "2026-01-02")
	raw := make([]Value, len(d.Figures))
	raw[0], raw[1], raw[2] = Whole(9007199254740), Whole(3), Number(2500, 3)
	for i, want := range map[int]string{3: "450359962737000.00", 4: "3602879701896.00", 5: "0.0000"} {
		if got := d.values(raw, span, false)[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s, want %s", d.Figures[i].Name, got, want)
		}
	}
	// a mile is 1.609344 km; what is for a mile is rounded once, after that
	if v := d.values(raw, span, true); v[2].String() != "4.023" || v[4].String() != "2238725655854.81" {
		t.Errorf("%s, %s", v[2], v[4])
	}
	raw[1] = Whole(0)
	if v := d.values(raw, span, false); v[3].Known() || v[5].String() != "0.0000" {
		t.Errorf("of nothing: %s, %s", v[3], v[5])
	}
	for text, want := range map[string]string{"5/1000": "0.01", "-5/1000": "-0.01", "4999/1000000": "0.00",
		"1/3": "0.33"} {
		r, _ := new(big.Rat).SetString(text)
		if got := Rounded(r, 2).String(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func spanOf(t *testing.T, from, until string) Span {
	t.Helper()
	a, err1 := time.Parse(time.DateOnly, from)
	b, err2 := time.Parse(time.DateOnly, until)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return Span{a, b}
}

func TestSpansBefore(t *testing.T) {
	for _, c := range [][5]string{
		{PreviousPeriod, "2026-03-01", "2026-03-31", "2026-02-01", "2026-02-28"},
		{PreviousPeriod, "2026-01-01", "2026-03-31", "2025-10-01", "2025-12-31"},
		{PreviousPeriod, "2026-03-02", "2026-03-31", "2026-01-31", "2026-03-01"},
		{PreviousPeriod, "2026-03-05", "2026-03-05", "2026-03-04", "2026-03-04"},
		{PreviousYear, "2025-02-01", "2025-02-28", "2024-02-01", "2024-02-29"},
		{PreviousYear, "2025-02-28", "2025-02-28", "2024-02-28", "2024-02-28"},
		{PreviousYear, "2024-02-29", "2024-03-05", "2023-02-28", "2023-03-05"},
		{PreviousYear, "2026-01-10", "2026-04-20", "2025-01-10", "2025-04-20"},
	} {
		got, want := spanOf(t, c[1], c[2]).Before(c[0]), spanOf(t, c[3], c[4])
		if got != want {
			t.Errorf("%s of %s to %s is %v", c[0], c[1], c[2], got)
		}
	}
	for group, want := range map[string]int{"day": 121, "week": 18, "month": 5, "quarter": 2, "year": 1} {
		parts := spanOf(t, "2026-01-31", "2026-05-31").Split(group)
		days := 0
		for _, p := range parts {
			days += p.Days()
		}
		if len(parts) != want || days != 121 {
			t.Errorf("%d %ss of %d days", len(parts), group, days)
		}
	}
}

// A report can be narrowed only by what its statement compares with something: not by what it asks to be away.
func TestAFilterThatIsOnlyAskedForNarrowsNothing(t *testing.T) {
	for name, want := range map[string]string{"profit_and_loss": "vehicles", "maintenance_costs": "vehicles",
		"damage_recovery": "channels customers vehicles"} {
		var got []string
		for _, filter := range []string{"channels", "customers", "vehicles"} {
			if Named(name).Takes(filter) {
				got = append(got, filter)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s can be narrowed by %v", name, got)
		}
	}
	d := Named("profit_and_loss")
	if d.Takes("tags") || d.Takes("classes") || strings.Contains(d.About, "Class and location") {
		t.Errorf("profit and loss is of vehicles that have something in common: %s", d.About)
	}
}
