package rest

import (
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// ValidationError makes an error of what is wrong, nil of nothing.
func ValidationError(faults []fleet.FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return fleet.Invalid(faults...)
}

// FeeFaults says what is wrong with amounts that must not be negative, nor more than most, and must be of one currency.
func FeeFaults(most int64, amounts map[string]*record.Money) []fleet.FieldError {
	var faults []fleet.FieldError
	var currency string
	pointers := make([]string, 0, len(amounts))
	for pointer := range amounts {
		pointers = append(pointers, pointer)
	}
	slices.Sort(pointers)
	for _, pointer := range pointers {
		m := amounts[pointer]
		if m == nil {
			continue
		}
		if m.Amount < 0 || m.Amount > most {
			faults = append(faults, fleet.FieldError{Pointer: pointer + "/amount", Code: "out_of_range",
				Detail: fmt.Sprintf("must be from 0 to %d", most)})
		}
		if currency == "" {
			currency = m.Currency
		}
		if m.Currency != currency {
			faults = append(faults, fleet.FieldError{Pointer: pointer + "/currency", Code: "currency_mismatch",
				Detail: "must be " + currency + ", as the others"})
		}
	}
	return faults
}

// CheckZone refuses a time zone that does not exist.
func CheckZone(name string) error {
	if name == "" {
		return nil
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return fleet.Invalid(fleet.FieldError{Pointer: "/timezone", Code: "invalid", Detail: "is not an IANA time zone"})
	}
	return nil
}
