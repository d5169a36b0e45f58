package record

import (
	"strings"
	"time"
	"unicode"

	"github.com/motorpool/fleet"
)

// Money is an amount in minor units of a currency: 12900 USD is 129 dollars.
type Money struct {
	Amount   int64  `json:"amount" doc:"In minor units of the currency: 12900 is USD 129.00." example:"12900"`
	Currency string `json:"currency" pattern:"^[A-Z]{3}$" doc:"ISO 4217." example:"USD"`
}

// ExternalRef is the name that another system has for a record.
type ExternalRef struct {
	System string `json:"system" minLength:"1" maxLength:"64" doc:"The other system." example:"turo"`
	ID     string `json:"id" minLength:"1" maxLength:"200" doc:"Its name for this record; unique within the system and kind of record."`
}

// Instant is a time in JSON: RFC 3339 in UTC with milliseconds; the zero time is null.
type Instant struct{ time.Time }

// InstantOf cuts a time to milliseconds.
func InstantOf(t time.Time) Instant {
	if t.IsZero() {
		return Instant{}
	}
	return Instant{millis(t)}
}

// instantLayout always has three decimals, so that instants sort as text too.
const instantLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	text := make([]byte, 0, len(instantLayout)+2)
	text = i.UTC().AppendFormat(append(text, '"'), instantLayout)
	return append(text, '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Instant) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*i = Instant{}
		return nil
	}
	bare := text
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		bare = text[1 : len(text)-1]
	}
	t, err := fleet.ParseTime(string(bare)) // a layout of our own would take many times as long
	if err != nil {
		return err
	}
	*i = InstantOf(t)
	return nil
}

// plain writes a code (a VIN, a plate) as it is compared: letters and digits only, in capitals.
func plain(code string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, code)
}

// refClaims claims the names that other systems have for a record.
func refClaims(kind string, refs []ExternalRef) []Claim {
	var claims []Claim
	for _, ref := range refs {
		claims = append(claims,
			Claim{Field: kind + ".external_ref", Value: ref.System + "\x1f" + ref.ID, Says: "/external_refs"})
	}
	return claims
}
