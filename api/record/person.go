package record

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/motorpool/fleet"
)

var (
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	locale = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// Complete writes what callers wrote in the one way in which it is kept, and fills in what they left out. before is
// what the customer was, nil for a new one.
func (c *CustomerFields) Complete(before *CustomerFields, now time.Time) {
	for _, text := range []*string{&c.DisplayName, &c.FirstName, &c.LastName, &c.CompanyName, &c.Email, &c.TaxID} {
		*text = strings.TrimSpace(*text)
	}
	c.Phone, _ = Telephone(c.Phone)
	if c.Type == "" {
		c.Type = "person"
	}
	if c.RiskLevel == "" {
		c.RiskLevel = "normal"
	}
	if c.Lifecycle == "" {
		c.Lifecycle = "active"
	}
	// A name that was made of the others follows them.
	if c.DisplayName == "" ||
		before != nil && c.DisplayName == before.DisplayName && before.DisplayName == before.madeName() {
		c.DisplayName = c.madeName()
	}
	if k := c.Consents; k != nil && k.Marketing && k.GrantedAt.IsZero() {
		k.GrantedAt = InstantOf(now)
		if before != nil && before.Consents != nil && before.Consents.Marketing {
			k.GrantedAt = before.Consents.GrantedAt
		}
	}
}

// madeName is the name to show where none was given.
func (c *CustomerFields) madeName() string {
	name := strings.TrimSpace(c.FirstName + " " + c.LastName)
	if c.Type == "company" && c.CompanyName != "" || name == "" {
		name = c.CompanyName
	}
	return name
}

// PhoneNumber writes a phone number without the marks that people put between its digits.
func PhoneNumber(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -().\u00a0/", r) {
			return -1
		}
		return r
	}, text)
}

// Faults says what is wrong with completed fields that a schema cannot tell.
func (c *CustomerFields) Faults(now time.Time) []fleet.FieldError {
	var faults []fleet.FieldError
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	switch {
	case c.Type == "company" && c.CompanyName == "":
		fault("/company_name", "required", "a company has a name")
	case c.DisplayName == "":
		fault("/last_name", "required", "a person has a first_name, a last_name or a display_name")
	}
	if c.Email != "" && !emailAddress(c.Email) {
		fault("/email", "invalid", "is not an email address like ada@example.com")
	}
	if _, read := Telephone(c.Phone); !read {
		fault("/phone", "invalid",
			"cannot be a telephone number in its country; write all of it, with its country or area code, like +15125550100, or give the country of the address or the account")
	}
	if c.Locale != "" && !locale.MatchString(c.Locale) {
		fault("/locale", "invalid", "is not a language tag like en-US")
	}
	today := now.UTC().AddDate(0, 0, 1).Format(time.DateOnly) // somewhere it is tomorrow already
	if c.DateOfBirth != "" && (c.DateOfBirth >= today || c.DateOfBirth < "1900-01-01") {
		fault("/date_of_birth", "invalid", "must be in the past, and not before 1900")
	}
	if m := c.DepositAmount; m != nil && m.Amount < 0 {
		fault("/default_deposit/amount", "invalid", "must not be negative")
	}
	if l := c.Licence; l != nil {
		if l.IssuedOn > today {
			fault("/licence/issued_on", "invalid", "must not be in the future")
		}
		if l.IssuedOn != "" && l.ExpiresOn != "" && l.ExpiresOn <= l.IssuedOn {
			fault("/licence/expires_on", "invalid", "must be after issued_on")
		}
		if strings.Contains(l.Number, maskMark) {
			fault("/licence/number", "invalid", "is a masked number, and not that of this customer")
		}
	}
	for i, id := range c.DistinctFrom {
		if _, err := fleet.ParseID(fleet.CustomerPrefix, id); err != nil {
			fault(fmt.Sprintf("/distinct_from/%d", i), "invalid", "is not the id of a customer, like cus_1234")
		}
	}
	for i, tag := range c.Tags {
		if strings.TrimSpace(tag) == "" || utf8.RuneCountInString(tag) > 100 {
			fault(fmt.Sprintf("/tags/%d", i), "invalid", "must have 1 to 100 characters")
		}
	}
	return faults
}

// emailAddress says whether a text is an address and nothing else.
func emailAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name != "" || a.Address != text {
		return false
	}
	_, domain, _ := strings.Cut(text, "@")
	return strings.Contains(domain, ".") && !strings.HasSuffix(domain, ".") && !strings.ContainsAny(text, "\"[]")
}

// maskMark stands for what a masked number hides.
const maskMark = "••••"

// Masked is a number of which only the end is shown: of a short one nothing.
func Masked(number string) string {
	if number == "" {
		return ""
	}
	runes := []rune(number)
	if len(runes) <= 5 {
		return maskMark
	}
	return maskMark + " " + string(runes[len(runes)-4:])
}

// KeepMasked puts the number back that a masked one stands for, if it is that of before.
func (l *Licence) KeepMasked(before *Licence) {
	if l != nil && before != nil && l.Number != "" && l.Number == Masked(before.Number) {
		l.Number = before.Number
	}
}

// SameLicence says whether two licences are one, member by member.
func SameLicence(a, b *Licence) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Absorb takes over from another customer, who is the same person, what is not known of this one, and everything
// that warns of it.
func (c *Customer) Absorb(o *Customer) {
	for _, pair := range []struct{ mine, other *string }{
		{&c.FirstName, &o.FirstName}, {&c.LastName, &o.LastName}, {&c.CompanyName, &o.CompanyName}, {&c.Email, &o.Email},
		{&c.Phone, &o.Phone}, {&c.DateOfBirth, &o.DateOfBirth}, {&c.TaxID, &o.TaxID}, {&c.Locale, &o.Locale},
		{&c.PreferredCurrency, &o.PreferredCurrency}, {&c.AssignedTo, &o.AssignedTo},
	} {
		if *pair.mine == "" {
			*pair.mine = *pair.other
		}
	}
	if c.Address == nil {
		c.Address = o.Address
	}
	if c.Licence == nil && o.Licence != nil {
		c.Licence, c.Verification = o.Licence, o.Verification
	}
	if c.Consents == nil {
		c.Consents = o.Consents
	}
	for _, tag := range o.Tags {
		if !slices.Contains(c.Tags, tag) && len(c.Tags) < 50 {
			c.Tags = append(c.Tags, tag)
		}
	}
	for _, id := range o.DistinctFrom {
		if !slices.Contains(c.DistinctFrom, id) && len(c.DistinctFrom) < 50 {
			c.DistinctFrom = append(c.DistinctFrom, id)
		}
	}
	for _, ref := range o.ExternalRefs {
		if !slices.Contains(c.ExternalRefs, ref) {
			c.ExternalRefs = append(c.ExternalRefs, ref)
		}
	}
	risks := []string{"normal", "watch", RiskBlocked}
	if slices.Index(risks, o.RiskLevel) > slices.Index(risks, c.RiskLevel) {
		c.RiskLevel = o.RiskLevel
	}
	// Of two bars the one that lasts longer holds.
	mine, other := c.DoNotRent, o.DoNotRent
	if other != nil && (mine == nil || other.Active && (!mine.Active ||
		!mine.ExpiresAt.IsZero() && (other.ExpiresAt.IsZero() || other.ExpiresAt.After(mine.ExpiresAt.Time)))) {
		c.DoNotRent = other
	}
	c.IncidentsCount += o.IncidentsCount
}
