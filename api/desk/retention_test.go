package desk

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// The setting as it is written decides: nothing goes without it, and what is older once it stands.
func TestTheRetentionGoesByTheAccountsSetting(t *testing.T) {
	d := open(t, time.Now)
	left := func(want uint64) {
		t.Helper()
		if err := d.Duty(t.Context(), "retention"); err != nil {
			t.Fatal(err)
		}
		var n uint64
		if err := d.DB.QueryRow(t.Context(), "SELECT count() FROM positions").Scan(&n); err != nil || n != want {
			t.Errorf("%d positions are left, want %d: %v", n, want, err)
		}
	}
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account), record.Account{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	text := "INSERT INTO positions (account, vehicle, fix_time) SELECT 7, 5, now64(3) - toIntervalDay(number * 32) FROM numbers(3)"
	if err := d.DB.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	left(3)
	for _, one := range []struct {
		days uint32
		left uint64
	}{{60, 2}, {30, 1}, {0, 1}} {
		change := func(r *record.Record[record.Account]) error { r.Body.RetentionDays = one.days; return nil }
		if _, err := d.Accounts.Update(t.Context(), by, account, uint64(account), 0, change); err != nil {
			t.Fatal(err)
		}
		left(one.left)
	}
}
