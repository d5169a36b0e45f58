package rent

import (
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// moneyFaults says what is wrong with an amount that must lie between two others.
func moneyFaults(pointer string, m record.Money, least, most int64) []fleet.FieldError {
	switch {
	case m.Amount < least:
		return []fleet.FieldError{{Pointer: pointer + "/amount", Code: "out_of_range",
			Detail: fmt.Sprintf("must be at least %d minor units", least)}}
	case m.Amount > most:
		return []fleet.FieldError{{Pointer: pointer + "/amount", Code: "out_of_range",
			Detail: fmt.Sprintf("must be at most %d minor units", most)}}
	}
	return nil
}

// dayFaults says what is wrong with a date of the books.
func dayFaults(pointer, text string) []fleet.FieldError {
	if day, err := ledger.ParseDay(text); err != nil || !day.Known() {
		return []fleet.FieldError{{Pointer: pointer, Code: "out_of_range",
			Detail: "must be a date from 1970-01-02 to 2199-12-31"}}
	}
	return nil
}
