package query

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Person is what somebody may be known by; what is not known is empty.
type Person struct {
	Name           string
	LicenceNumber  string
	LicenceCountry string
	LicenceRegion  string
	DateOfBirth    string
	Email          string
	Phones         []string // the digits of one number, in all ways in which it may have been kept
	PhoneEnd       string   // digits that may be the end of one
}

// Sought is a person whose like is looked for among customers.
type Sought struct {
	Person
	Self     uint64 // a customer that is not looked for, 0 for none
	Archived bool   // archived ones are looked for too, among which are those that were merged
}

// Likeness is a customer that may be a person, by what, and what there is to compare.
type Likeness struct {
	ID             uint64
	DisplayName    string
	MergedInto     string
	DateOfBirth    string
	LicenceCountry string
	LicenceRegion  string
	DistinctFrom   []string // customers that are known to be other people
	OnList         bool     // of those to whom nothing is rented; it may have ended
	ByLicence      bool     // by its number
	ByEmail        bool
	ByPhone        bool
	ByPhoneEnd     bool // on the list, and its number ends so
	ByBirth        bool // born that day, if a name was given
	ByName         bool // on the list, and a birth date is not known: the caller compares the names
}

// Compared is a customer with all that somebody may be compared by.
type Compared struct {
	Likeness
	LicenceNumber, Email, Phone string
	Archived                    bool
	Erasing                     bool // nobody is like it
}

// People are customers, found by what they may be known by.
type People struct {
	all    map[uint64]face
	alike  map[string][]uint64 // by marks; of one that changed to and fro it may be there twice, as in listed
	listed []uint64
}

// face is a customer with what it is known by, as that is compared.
type face struct {
	Compared
	licence, digits string
}

// NewPeople returns nobody.
func NewPeople() *People { return &People{all: map[uint64]face{}, alike: map[string][]uint64{}} }

// Add takes in a customer, or as it is now.
func (p *People) Add(c Compared) {
	c.Email = normalEmail(c.Email)
	if c.DistinctFrom == nil {
		c.DistinctFrom = []string{}
	}
	f, was := face{c, normalLicence(c.LicenceNumber), digitsOf(c.Phone)}, p.all[c.ID]
	p.all[c.ID] = f
	had := was.marks()
	for _, mark := range f.marks() {
		if !slices.Contains(had, mark) {
			p.alike[mark] = append(p.alike[mark], c.ID)
		}
	}
	if c.OnList && !was.OnList {
		p.listed = append(p.listed, c.ID)
	}
}

func (f face) marks() []string { return marks(f.licence, f.Email, f.DateOfBirth, f.digits) }

// AnyListed says whether one of them is on the do-not-rent list, or was.
func (p *People) AnyListed() bool { return len(p.listed) > 0 }

// marks are what two people may have in common.
func marks(licence, email, born string, phones ...string) []string {
	var all []string
	add := func(sort, text string) {
		if text != "" {
			all = append(all, sort+text)
		}
	}
	add("licence ", licence)
	add("email ", email)
	add("born ", born)
	for _, digits := range phones {
		add("phone ", digits)
	}
	return all
}

// Like returns those that may be a person: with the same number of a licence, email address or phone number; with a
// name and a birth date, all who were born that day; with a name, all on the do-not-rent list whose birth date or that
// of the person is not known; with digits that may be the end of a phone number, all on that list whose number ends so.
// The caller compares the rest.
func (p *People) Like(who *Sought) []Likeness {
	licence, email, born := normalLicence(who.LicenceNumber), normalEmail(who.Email), who.born()
	var some []uint64
	for _, mark := range marks(licence, email, born, who.Phones...) {
		some = append(some, p.alike[mark]...)
	}
	if who.PhoneEnd != "" || who.Name != "" {
		some = append(some, p.listed...)
	}
	slices.Sort(some)
	var all []Likeness
	for _, id := range slices.Compact(some) {
		c := p.all[id]
		if id == who.Self || c.Archived && !who.Archived || c.Erasing {
			continue
		}
		l := c.Likeness
		l.ByLicence = licence != "" && c.licence == licence
		l.ByEmail = email != "" && c.Email == email
		l.ByPhone = c.digits != "" && slices.Contains(who.Phones, c.digits)
		l.ByPhoneEnd = who.PhoneEnd != "" && l.OnList && strings.HasSuffix(c.digits, who.PhoneEnd)
		l.ByBirth = born != "" && l.DateOfBirth == born
		l.ByName = who.Name != "" && l.OnList && (born == "" || l.DateOfBirth == "")
		if l.ByLicence || l.ByEmail || l.ByPhone || l.ByPhoneEnd || l.ByBirth || l.ByName {
			all = append(all, l)
		}
	}
	return all
}

// born is the birth date by which others are found who may be this person: with a name alone.
func (who *Sought) born() string {
	if who.Name == "" {
		return ""
	}
	return who.DateOfBirth
}

// mostAlike is how many customers are like one person, at most.
const mostAlike = 1000

// Closest are the customers that may be a person: those that can be known by most first, those on the do-not-rent list
// before others, at most 1000.
func Closest(all []Likeness) []Likeness {
	first := func(is bool) int {
		if is {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b Likeness) int {
		return cmp.Or(first(a.ByLicence || a.ByEmail || a.ByPhone)-first(b.ByLicence || b.ByEmail || b.ByPhone),
			first(a.OnList)-first(b.OnList), cmp.Compare(a.ID, b.ID))
	})
	return all[:min(len(all), mostAlike)]
}

// What is compared is so without what is only a way to write it. The keys of the table of customers are made likewise.

func normalEmail(text string) string { return strings.ToLower(strings.Trim(text, " ")) }

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

func normalLicence(text string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return -1
		}
		return r
	}, text))
}

// CustomersLike returns for each of some people the customers of an account that may be that person, as Closest does.
func CustomersLike(ctx context.Context, db driver.Conn, account fleet.AccountID,
	people []*Sought) ([][]Likeness, error) {
	licences, emails, phones, ends, borns := []string{}, []string{}, []string{}, []string{}, []string{}
	given := func(all []string, texts ...string) []string {
		return append(all, slices.DeleteFunc(texts, func(text string) bool { return text == "" })...)
	}
	undated, listed := false, false // customers on the list that are looked for: whose birth date is not known, or all
	for _, who := range people {
		licences, emails = given(licences, who.LicenceNumber), given(emails, who.Email)
		phones, ends = given(phones, slices.Clone(who.Phones)...), given(ends, who.PhoneEnd)
		borns = given(borns, who.born())
		undated, listed = undated || who.Name != "", listed || who.Name != "" && who.DateOfBirth == ""
	}
	found := NewPeople()
	err := eachCompared(ctx, db, "customers_like", found.Add, clickhouse.Named("account", uint64(account)),
		clickhouse.Named("licence_numbers", licences), clickhouse.Named("emails", emails),
		clickhouse.Named("phones", phones), clickhouse.Named("phone_ends", ends), clickhouse.Named("borns", borns),
		clickhouse.Named("undated", undated), clickhouse.Named("listed", listed))
	if err != nil {
		return nil, err
	}
	all := make([][]Likeness, len(people))
	for i, who := range people {
		all[i] = Closest(found.Like(who))
	}
	return all, nil
}

// CustomersCompared returns all customers of an account, for whoever compares many people with them.
func CustomersCompared(ctx context.Context, db driver.Conn, account fleet.AccountID) (*People, error) {
	all := NewPeople()
	return all, eachCompared(ctx, db, "customers_compared", all.Add, clickhouse.Named("account", uint64(account)))
}

func eachCompared(ctx context.Context, db driver.Conn, name string, do func(Compared), args ...any) error {
	return schemas.EachRow(ctx, db, "read whom people are compared with", schemas.Query(name), args,
		func(row schemas.Row) error {
			var c Compared
			if err := row.Scan(&c.ID, &c.DisplayName, &c.MergedInto, &c.DateOfBirth, &c.LicenceCountry, &c.LicenceRegion,
				&c.DistinctFrom, &c.OnList, &c.LicenceNumber, &c.Email, &c.Phone, &c.Archived); err != nil {
				return err
			}
			do(c)
			return nil
		})
}
