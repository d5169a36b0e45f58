package desk

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Why a customer may be a person.
const (
	SameLicence      = "licence" // same number, region and birth date
	SameEmail        = "email"
	SamePhone        = "phone"
	SimilarNameBirth = "name_and_date_of_birth"
)

// Match is a customer that may be a person, and why.
type Match struct {
	Customer record.Record[record.Customer] // the one that counts: what it was merged into, if it was
	Reasons  []string                       // of the constants above, strongest first
}

// DuplicateOf names the customer of an account that is probably the one described, "" if there is none: with the same licence, region
// and birth date, else the same email address, else the same phone number. The one with the id self does not count.
func (d *Desk) DuplicateOf(ctx context.Context, account fleet.AccountID, self uint64, c *record.CustomerFields) (string, error) {
	found, err := query.CustomersLike(ctx, d.DB, account, self, personOf(c), false)
	if err != nil {
		return "", err
	}
	for _, like := range []func(*query.Likeness) bool{
		func(l *query.Likeness) bool { return l.ByLicence },
		func(l *query.Likeness) bool { return l.ByEmail },
		func(l *query.Likeness) bool { return l.ByPhone },
	} {
		for i := range found {
			if like(&found[i]) {
				return fleet.FormatID(fleet.CustomerPrefix, found[i].ID), nil
			}
		}
	}
	return "", nil
}

func personOf(c *record.CustomerFields) query.Person {
	p := query.Person{DateOfBirth: c.DateOfBirth, Email: record.Normal(c.Email), Phone: record.PhoneNumber(c.Phone)}
	if c.Licence != nil {
		p.LicenceNumber, p.LicenceCountry, p.LicenceRegion = c.Licence.Number, c.Licence.Country, c.Licence.Region
	}
	return p
}

// Matches returns the customers of an account that may be the one described, archived ones too, by their ids.
func (d *Desk) Matches(ctx context.Context, account fleet.AccountID, name string, c *record.CustomerFields) ([]Match, error) {
	person := personOf(c)
	person.ByBirth = name != ""
	found, err := query.CustomersLike(ctx, d.DB, account, 0, person, true)
	if err != nil {
		return nil, err
	}
	var matches []Match
	for i := range found {
		l := &found[i]
		var reasons []string
		for reason, holds := range map[string]bool{SameLicence: l.ByLicence, SameEmail: l.ByEmail, SamePhone: l.ByPhone,
			SimilarNameBirth: l.ByBirth && similar(name, l.DisplayName)} {
			if holds {
				reasons = append(reasons, reason)
			}
		}
		if reasons == nil {
			continue
		}
		rec, err := d.Customer(ctx, account, l.ID)
		if err != nil {
			return nil, err
		}
		if rec.Body.Gone() {
			continue
		}
		at := slices.IndexFunc(matches, func(m Match) bool { return m.Customer.ID == rec.ID })
		if at < 0 {
			matches, at = append(matches, Match{Customer: rec}), len(matches)
		}
		matches[at].Reasons = append(matches[at].Reasons, reasons...)
	}
	rank := []string{SameLicence, SameEmail, SamePhone, SimilarNameBirth}
	for i := range matches {
		reasons := matches[i].Reasons
		slices.SortFunc(reasons, func(a, b string) int { return slices.Index(rank, a) - slices.Index(rank, b) })
		matches[i].Reasons = slices.Compact(reasons)
	}
	return matches, nil
}

// similar says whether two names could be one person's: the same words in any order, or so nearly that they differ by a slip of the pen
// (one letter in ten, at least one).
func similar(a, b string) bool {
	x, y := nameLetters(a), nameLetters(b)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return Distance(x, y) <= max(1, max(len(x), len(y))/10)
}

// nameLetters are the letters of a name, small, its words in alphabetical order.
func nameLetters(name string) []rune {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return []rune(strings.Join(words, ""))
}

// Distance is the number of letters to put in, take out or replace to make one text of the other (Levenshtein).
func Distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0] = i + 1
		for j := range b {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
