package person

import (
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet/query"
)

// Two records have the same licence number, or the same email: whether they are of one person the rest tells.
func TestTwoRecordsOfOnePerson(t *testing.T) {
	licence := query.Likeness{DisplayName: "Ada Lovelace", LicenceCountry: "US", LicenceRegion: "TX",
		DateOfBirth: "1985-12-10", ByLicence: true}
	email := query.Likeness{DisplayName: "Ada Lovelace", DateOfBirth: "1985-12-10", ByEmail: true}
	german := query.Likeness{LicenceCountry: "DE", ByLicence: true}
	named := query.Likeness{DisplayName: "Ada Lovelace", ByName: true}
	for _, c := range []struct {
		name string
		who  query.Person
		is   query.Likeness
		want string
	}{
		{"all of it", query.Person{LicenceNumber: "D1", LicenceCountry: "US", LicenceRegion: "TX", DateOfBirth: "1985-12-10"},
			licence, "sure licence"},
		{"no birth date", query.Person{LicenceNumber: "D1", LicenceCountry: "US", LicenceRegion: "us-tx"}, licence,
			"sure licence"},
		{"no region, the birth date", query.Person{LicenceNumber: "D1", LicenceCountry: "US", DateOfBirth: "1985-12-10"},
			licence, "sure licence"},
		{"no region", query.Person{LicenceNumber: "D1", LicenceCountry: "US"}, licence,
			"unsure licence, tell /licence/region /date_of_birth"},
		{"the number", query.Person{LicenceNumber: "D1"}, licence,
			"unsure licence, tell /licence/country /licence/region /date_of_birth"},
		{"the region in full", query.Person{LicenceNumber: "D1", LicenceCountry: "US", LicenceRegion: "Texas"}, licence,
			"unsure licence, tell /date_of_birth"},
		{"a slip in the birth date", query.Person{LicenceNumber: "D1", LicenceCountry: "US", LicenceRegion: "TX",
			DateOfBirth: "1985-12-11"}, licence, "unsure licence"},
		{"another state and birth date", query.Person{LicenceNumber: "D1", LicenceCountry: "US", LicenceRegion: "CA",
			DateOfBirth: "1985-12-11"}, licence, "nobody"},
		{"another country", query.Person{LicenceNumber: "D1", LicenceCountry: "CA", LicenceRegion: "ON",
			DateOfBirth: "1985-12-10"}, licence, "nobody"},
		{"a country without regions", query.Person{LicenceNumber: "D1", LicenceCountry: "DE", LicenceRegion: "Berlin"},
			german, "sure licence"},
		{"the email", query.Person{Email: "a@b.c"}, email, "sure email"},
		{"the email of a relative", query.Person{Email: "a@b.c", DateOfBirth: "2001-01-01"}, email,
			"unsure email, tell /licence/number"},
		{"the name", query.Person{Name: "lovelace, ada"}, named, "unsure name, tell /date_of_birth /licence/number"},
		{"another name", query.Person{Name: "Ada Byron"}, named, "nobody"},
	} {
		v := judge(&c.who, &c.is)
		got := "nobody"
		if slices.Sort(v.reasons); v.reasons != nil {
			got = map[bool]string{true: "sure ", false: "unsure "}[v.sure] + strings.Join(v.reasons, " ")
		}
		if v.missing != nil {
			got += ", tell " + strings.Join(v.missing, " ")
		}
		if got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

// Two are different people if one of them says so.
func TestDifferentPeopleAreToldApartByEither(t *testing.T) {
	for _, c := range []struct {
		mine, its []string
		want      bool
	}{{nil, nil, false}, {[]string{"cus_2"}, nil, true}, {nil, []string{"cus_1"}, true},
		{[]string{"cus_3"}, []string{"cus_3"}, false}} {
		if got := strangers(1, c.mine, 2, c.its); got != c.want {
			t.Errorf("cus_1 of %v, cus_2 of %v: %v", c.mine, c.its, got)
		}
	}
}
