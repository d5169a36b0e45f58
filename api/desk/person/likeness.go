package person

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Why a customer may be a person, strongest first.
const (
	SameLicence      = "licence"
	SameEmail        = "email"
	SamePhone        = "phone"
	SamePhoneEnd     = "phone_end"
	SimilarNameBirth = "name_and_date_of_birth"
	SimilarName      = "name"
)

// reasonRank orders the reasons.
var reasonRank = []string{SameLicence, SameEmail, SamePhone, SimilarNameBirth, SimilarName, SamePhoneEnd}

// Match is a customer that may be a person, and why.
type Match struct {
	Customer record.Record[record.Customer] // the one that counts: what it was merged into, if it was
	Reasons  []string                       // of the constants above, strongest first
	// something that belongs to one person is the same, and nothing speaks against it
	Sure    bool
	Missing []string // what was not told and would make it sure, as pointers into the description
}

// verdict is what a customer has in common with a person.
type verdict struct {
	reasons []string
	sure    bool
	missing []string
}

// compared is what two values that ought to be the same tell of two people.
type compared int

const (
	unknown compared = iota // one of them is not there
	same
	differ
)

func compare(a, b string) compared {
	switch {
	case a == "" || b == "":
		return unknown
	case a == b:
		return same
	}
	return differ
}

// regional are the countries whose licences are numbered by their states or provinces.
var regional = []string{"US", "CA", "AU", "MX"}

// regionOf is a region as it is compared: US-TX is TX.
func regionOf(country, region string) string {
	region, country = Folded(region), Folded(country)
	return cmp.Or(strings.TrimPrefix(region, country), region)
}

// judge compares a customer that was found with a person.
func judge(p *query.Person, l *query.Likeness) verdict {
	var v verdict
	missing := func(is bool, pointer string) {
		if is && !slices.Contains(v.missing, pointer) {
			v.missing = append(v.missing, pointer)
		}
	}
	born := compare(p.DateOfBirth, l.DateOfBirth)
	if l.ByLicence {
		v.licence(p, l, born, missing)
	}
	for reason, holds := range map[string]bool{SameEmail: l.ByEmail, SamePhone: l.ByPhone} {
		if holds {
			v.reasons = append(v.reasons, reason)
			v.sure = v.sure || born != differ
		}
	}
	named := (l.ByBirth || l.ByName) && similar(p.Name, l.DisplayName)
	if named && l.ByBirth {
		v.reasons = append(v.reasons, SimilarNameBirth)
	} else if named {
		v.reasons = append(v.reasons, SimilarName)
		missing(p.DateOfBirth == "", "/date_of_birth")
	}
	if l.ByPhoneEnd && born != differ {
		v.reasons = append(v.reasons, SamePhoneEnd)
		missing(true, "/phone")
	}
	if v.sure || v.reasons == nil {
		v.missing = nil
	} else {
		missing(p.LicenceNumber == "", "/licence/number")
	}
	return v
}

// licence compares what there is beside the number of a licence, which is the same. Of country, region and birth date
// one may be written wrongly, so that one that differs leaves a doubt; another country, or two that differ, are
// another licence.
func (v *verdict) licence(p *query.Person, l *query.Likeness, born compared, missing func(bool, string)) {
	country := compare(p.LicenceCountry, l.LicenceCountry)
	region := compare(regionOf(p.LicenceCountry, p.LicenceRegion), regionOf(l.LicenceCountry, l.LicenceRegion))
	saysNothing := country == same && !slices.Contains(regional, p.LicenceCountry)
	if region == unknown && (p.LicenceRegion == l.LicenceRegion || saysNothing) {
		region = same
	}
	if country == differ || region == differ && born == differ {
		return
	}
	v.reasons = append(v.reasons, SameLicence)
	if region != differ && born != differ && (country == same && region == same || born == same) {
		v.sure = true
		return
	}
	missing(p.LicenceCountry == "", "/licence/country")
	missing(p.LicenceRegion == "" && l.LicenceRegion != "", "/licence/region")
	missing(p.DateOfBirth == "" && l.DateOfBirth != "", "/date_of_birth")
}

// personOf is a customer as others are compared with it.
func personOf(name string, c *record.CustomerFields) query.Person {
	p := query.Person{Name: strings.TrimSpace(name), DateOfBirth: c.DateOfBirth, Email: record.Normal(c.Email),
		Phones: record.Dialled(c.Phone), PhoneEnd: record.PhoneEnd(c.Phone)}
	if c.Licence != nil {
		p.LicenceNumber, p.LicenceCountry, p.LicenceRegion = c.Licence.Number, c.Licence.Country, c.Licence.Region
	}
	return p
}

// strangers says whether two customers are known to be different people: one of them says so.
func strangers(self uint64, mine []string, other uint64, its []string) bool {
	return slices.Contains(mine, fleet.FormatID(fleet.CustomerPrefix, other)) ||
		self != 0 && slices.Contains(its, fleet.FormatID(fleet.CustomerPrefix, self))
}

// DuplicateOf names the customer of an account that is probably the one described, "" if there is none: by what they
// have in common, the strongest first. The one with the id self does not count, nor who is known to be somebody else.
func (d *Persons) DuplicateOf(ctx context.Context, account fleet.AccountID, self uint64,
	c *record.CustomerFields) (string, error) {
	person := personOf("", c)
	found, err := d.Reads.CustomersLike(ctx, account, &query.Sought{Person: person, Self: self})
	if err != nil {
		return "", err
	}
	best, rank := "", len(reasonRank)
	for i := range found {
		l := &found[i]
		if strangers(self, c.DistinctFrom, l.ID, l.DistinctFrom) {
			continue
		}
		for _, reason := range judge(&person, l).reasons {
			if at := slices.Index(reasonRank, reason); at < rank {
				best, rank = fleet.FormatID(fleet.CustomerPrefix, l.ID), at
			}
		}
	}
	return best, nil
}

// Matches returns the customers of an account that may be the one described, archived ones too, by their ids. The one
// with the id self, 0 for nobody, does not count, nor who is known to be somebody else.
func (d *Persons) Matches(
	ctx context.Context, account fleet.AccountID, self uint64, name string, c *record.CustomerFields,
) ([]Match, error) {
	return d.matches(ctx, account, self, name, c, func(*query.Likeness) bool { return true })
}

// matches is Matches of those that are wanted.
func (d *Persons) matches(
	ctx context.Context, account fleet.AccountID, self uint64, name string, c *record.CustomerFields,
	wanted func(*query.Likeness) bool,
) ([]Match, error) {
	person := personOf(name, c)
	found, err := d.Reads.CustomersLike(ctx, account, &query.Sought{Person: person, Self: self, Archived: true})
	if err != nil {
		return nil, err
	}
	var all []Match
	for i := range found {
		l := &found[i]
		v := judge(&person, l)
		if v.reasons == nil || !wanted(l) || strangers(self, c.DistinctFrom, l.ID, l.DistinctFrom) {
			continue
		}
		rec, err := d.Customer(ctx, account, l.ID)
		if err != nil {
			return nil, err
		}
		if rec.Body.Gone() || rec.ID == self || strangers(self, c.DistinctFrom, rec.ID, rec.Body.DistinctFrom) {
			continue
		}
		at := slices.IndexFunc(all, func(m Match) bool { return m.Customer.ID == rec.ID })
		if at < 0 {
			all, at = append(all, Match{Customer: rec, Missing: v.missing}), len(all)
		}
		m := &all[at]
		m.Reasons, m.Sure = append(m.Reasons, v.reasons...), m.Sure || v.sure
	}
	for i := range all {
		reasons := all[i].Reasons
		slices.SortFunc(reasons, func(a, b string) int { return slices.Index(reasonRank, a) - slices.Index(reasonRank, b) })
		all[i].Reasons = slices.Compact(reasons)
		if all[i].Sure {
			all[i].Missing = nil
		}
	}
	slices.SortFunc(all, func(a, b Match) int { return cmp.Compare(a.Customer.ID, b.Customer.ID) })
	return all, nil
}

// similar says whether two names could be one person's: the same words in any order, or so nearly that they differ by
// a slip of the pen (one letter in ten, at least one).
func similar(a, b string) bool {
	x, y := nameLetters(a), nameLetters(b)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return fleet.LettersApart(x, y) <= max(1, max(len(x), len(y))/10)
}

// nameLetters are the letters of a name, small, its words in alphabetical order.
func nameLetters(name string) []rune {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.Sort(words)
	return []rune(strings.Join(words, ""))
}

// Folded leaves what tells VINs, plates and names apart: letters and digits, in one case.
func Folded(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
