package desk

import (
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// The text of a charge for damage is cut between characters, never within one.
func TestAChargeForDamageKeepsWholeCharacters(t *testing.T) {
	d := open(t, time.Now)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account), record.Account{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	text := put(t, d, d.Bookings, record.Booking{Status: record.BookingActive, Currency: "USD",
		Damages: []record.Damage{{ID: "dmg_1", Description: "x" + strings.Repeat("ü", 400), Status: rental.DamageAssessed}}})
	id, _ := fleet.ParseID(fleet.BookingPrefix, text)
	rec, err := d.SetDamage(t.Context(), Order{By: by, Account: account, Booking: id},
		DamageRequest{ID: "dmg_1", Status: rental.DamageCharged, Charge: usd(100)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rec.Body.Charges[0].Description, "x"+strings.Repeat("ü", 299); got != want {
		t.Errorf("the charge says %q", got)
	}
}
