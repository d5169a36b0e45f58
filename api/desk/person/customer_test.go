package person

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

func TestWhatStandsBetweenACustomerAndARental(t *testing.T) {
	now := time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)
	pickup, back := now.AddDate(0, 0, 5), now.AddDate(0, 0, 8) // returns on the 18th
	licence := func(expires string) *record.Licence {
		return &record.Licence{Number: "X", ExpiresOn: expires}
	}
	barred := func(active bool, until time.Time) *record.DoNotRent {
		return &record.DoNotRent{Active: active, ExpiresAt: record.InstantOf(until)}
	}
	for name, c := range map[string]struct {
		body     record.Customer
		archived bool
		want     string
	}{
		"nobody knows a licence": {record.Customer{}, false, ""},
		"a licence that lasts": {
			record.Customer{CustomerFields: record.CustomerFields{Licence: licence("2026-06-18")}}, false, ""},
		"a licence without an end": {record.Customer{CustomerFields: record.CustomerFields{Licence: licence("")}},
			false, ""},
		"ends before the return": {
			record.Customer{CustomerFields: record.CustomerFields{Licence: licence("2026-06-17")}}, false, "licence_expired"},
		"rejected": {record.Customer{CustomerFields: record.CustomerFields{Licence: licence("")},
			Verification: record.Verification{Status: "rejected"}}, false, "licence_rejected"},
		"rejected, and there is none": {record.Customer{Verification: record.Verification{Status: "rejected"}}, false,
			""},
		"barred":                        {record.Customer{DoNotRent: barred(true, time.Time{})}, false, "do_not_rent"},
		"barred until after the pickup": {record.Customer{DoNotRent: barred(true, pickup.Add(1))}, false, "do_not_rent"},
		"barred now, not at the pickup": {record.Customer{DoNotRent: barred(true, now.Add(time.Hour))}, false,
			"do_not_rent"},
		"no longer barred":   {record.Customer{DoNotRent: barred(true, now)}, false, ""},
		"the bar was lifted": {record.Customer{DoNotRent: barred(false, time.Time{})}, false, ""},
		"blocked": {record.Customer{CustomerFields: record.CustomerFields{RiskLevel: "blocked"}},
			false, "risk_blocked"},
		"watched": {record.Customer{CustomerFields: record.CustomerFields{RiskLevel: "watch"}},
			false, ""},
		"archived":                        {record.Customer{}, true, "customer_archived"},
		"erased":                          {record.Customer{ErasedAt: record.InstantOf(now)}, true, "customer_erased"},
		"being erased":                    {record.Customer{ErasingSince: record.InstantOf(now)}, false, "customer_erased"},
		"merged, by whoever did not look": {record.Customer{MergedInto: "cus_2"}, true, "customer_merged"},
		"barred is told before a licence": {record.Customer{CustomerFields: record.CustomerFields{
			Licence: licence("2020-01-01")}, DoNotRent: barred(true, time.Time{})}, false, "do_not_rent"},
		"rejected is told before the date": {record.Customer{CustomerFields: record.CustomerFields{
			Licence: licence("2020-01-01")}, Verification: record.Verification{Status: "rejected"}}, false, "licence_rejected"},
	} {
		rec := record.Record[record.Customer]{Body: c.body}
		if c.archived {
			rec.ArchivedAt = now
		}
		if code, _ := barrier(&rec, back, now); code != c.want {
			t.Errorf("%s: %q, want %q", name, code, c.want)
		}
	}
}

func TestAnExpiredLicenceIsNotVerified(t *testing.T) {
	c := record.Customer{CustomerFields: record.CustomerFields{Licence: &record.Licence{ExpiresOn: "2026-06-10"}},
		Verification: record.Verification{Status: "verified"}}
	for day, want := range map[string]string{"2026-06-09": "verified", "2026-06-10": "verified", "2026-06-11": "expired"} {
		if got := c.VerificationAt(day).Status; got != want {
			t.Errorf("on %s: %s, want %s", day, got, want)
		}
	}
	c.Verification.Status = "rejected"
	if got := c.VerificationAt("2030-01-01").Status; got != "rejected" {
		t.Errorf("rejected became %s", got)
	}
	if got := (&record.Customer{}).VerificationAt("2030-01-01").Status; got != "unverified" {
		t.Errorf("without a look at it: %s", got)
	}
}
