package record

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Telephone writes a telephone number as E.164: +15125550100. One without a country code is read as it is dialled in
// the first of the regions (ISO 3166-1 alpha-2) in which it could be a number. It returns false, and the text without
// the marks that people put between digits, if it cannot be read so: also if it is too short or too long for the
// country, or is dialled within one town only.
func Telephone(text string, regions ...string) (string, bool) {
	plain := PhoneNumber(text)
	if plain == "" {
		return "", true
	}
	if digits, abroad := strings.CutPrefix(plain, "00"); abroad {
		text = "+" + digits // as most of the world dials abroad; no number at home begins so
	}
	if strings.HasPrefix(strings.TrimSpace(text), "+") {
		regions = []string{""}
	}
	possible, foreign := "", false
	for _, region := range regions {
		number, err := phonenumbers.Parse(text, region)
		if err != nil {
			foreign = errors.Is(err, phonenumbers.ErrInvalidCountryCode) && region == ""
			continue
		}
		if number.GetExtension() != "" || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
			continue
		}
		written := phonenumbers.Format(number, phonenumbers.E164)
		if phonenumbers.IsValidNumber(number) {
			return written, true
		}
		if possible == "" {
			possible = written
		}
	}
	if possible != "" {
		return possible, true
	}
	return plain, foreign && e164.MatchString(plain) // of a country that the library does not know
}

// PhoneEnd are the digits of what is no telephone number and may be the end of one, "" if there are too few.
func PhoneEnd(phone string) string {
	if _, whole := Telephone(phone); whole {
		return ""
	}
	end := strings.TrimPrefix(PhoneNumber(phone), "+")
	if number, err := phonenumbers.Parse(phone, ""); err == nil {
		end = phonenumbers.GetNationalSignificantNumber(number)
	}
	if len(end) < 7 || strings.Trim(end, "0123456789") != "" {
		return ""
	}
	return end
}

// Dials says whether a region (ISO 3166-1 alpha-2) has telephone numbers.
func Dials(region string) bool { return phonenumbers.GetCountryCodeForRegion(region) != 0 }

// Dialled are the digits by which a telephone number may have been kept: as E.164, with the prefix of calls within
// its country between, as numbers were kept before Telephone wrote them (+44 (0)20 7946 0018), and as it is written
// here.
func Dialled(phone string) []string {
	written := strings.TrimPrefix(phone, "+")
	if written == "" {
		return []string{}
	}
	all := []string{written}
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return all
	}
	national := phonenumbers.GetNationalSignificantNumber(number)
	code := strconv.Itoa(int(number.GetCountryCode()))
	prefix := phonenumbers.GetNddPrefixForRegion(phonenumbers.GetRegionCodeForNumber(number), true)
	for _, digits := range []string{code + national, code + prefix + national} {
		if !slices.Contains(all, digits) {
			all = append(all, digits)
		}
	}
	return all
}
