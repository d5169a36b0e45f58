package rental_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// What can be done with a deposit in each state, and what it is then.
var depositTable = map[string]string{
	"none":       "authorize=authorized",
	"required":   "authorize=authorized",
	"authorized": "capture=captured release=released",
	"captured":   "apply=captured release=released",
	"released":   "",
	"applied":    "",
	"expired":    "authorize=authorized lapse=expired",
}

func TestEveryMoveOfADeposit(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for state, line := range depositTable {
		moves := strings.Fields(line)
		for _, action := range []rental.DepositAction{rental.Authorize, rental.Capture, rental.Release, rental.Apply,
			rental.Lapse} {
			d := record.Deposit{Method: "hold", Status: state, Amount: record.Money{Amount: 200, Currency: "USD"}}
			if state == record.DepositCaptured {
				d.Captured = d.Amount
			}
			amount := int64(0)
			if action == rental.Apply {
				amount = 50 // the rest is still held
			}
			err := rental.SetDeposit(7, &d, rental.DepositOrder{Action: action, Amount: amount, At: now})
			want := slices.IndexFunc(moves, func(m string) bool { return strings.HasPrefix(m, string(action)+"=") })
			if want < 0 {
				refused, ok := err.(*record.TransitionError)
				if !ok || refused.Current != state {
					t.Errorf("%s of one that is %s: %v", action, state, err)
				}
				continue
			}
			if got := string(action) + "=" + d.Status; err != nil || got != moves[want] {
				t.Errorf("%s of one that is %s gives %s, %v; want %s", action, state, got, err, moves[want])
			}
		}
	}
}

// An authorization that has run out is worth nothing, whether anybody has noted it or not.
func TestAnAuthorizationRunsOut(t *testing.T) {
	until := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	authorized := record.Deposit{Method: "hold", Status: record.DepositAuthorized,
		Amount: record.Money{Amount: 200, Currency: "USD"}, ExpiresAt: record.InstantOf(until)}
	d := authorized
	if err := rental.SetDeposit(7, &d,
		rental.DepositOrder{Action: rental.Lapse, At: until.Add(-time.Second)}); err == nil {
		t.Error("it lapsed a second early")
	}
	d = authorized
	if err := rental.SetDeposit(7, &d, rental.DepositOrder{Action: rental.Capture, At: until}); err == nil ||
		err.(*record.TransitionError).Current != record.DepositExpired {
		t.Errorf("a capture after its end: %v", err)
	}
	d = authorized
	if err := rental.SetDeposit(7, &d, rental.DepositOrder{Action: rental.Lapse, At: until}); err != nil ||
		d.Status != record.DepositExpired {
		t.Errorf("%s, %v", d.Status, err)
	}
	if err := rental.SetDeposit(7, &d, rental.DepositOrder{Action: rental.Authorize, At: until}); err != nil ||
		d.Status != record.DepositAuthorized || rental.Lapsed(&d, until) {
		t.Errorf("authorized again: %s, %v", d.Status, err)
	}
}

// What is said of a deposit's money is what became of it: given up, taken, used, or given back.
func TestTheWordsForADepositAreTrue(t *testing.T) {
	usd := func(minor int64) record.Money { return record.Money{Amount: minor, Currency: "USD"} }
	for _, c := range []struct {
		name   string
		orders []rental.DepositOrder
		want   string // status, captured, applied, released
	}{
		{"an authorization that was given up", []rental.DepositOrder{{Action: rental.Release}}, "released 0 0 200"},
		{"a part taken and given back",
			[]rental.DepositOrder{{Action: rental.Capture, Amount: 150}, {Action: rental.Release}}, "released 150 0 150"},
		{"all of it used", []rental.DepositOrder{{Action: rental.Capture}, {Action: rental.Apply}}, "applied 200 200 0"},
		{"a part used, the rest given back", []rental.DepositOrder{{Action: rental.Capture},
			{Action: rental.Apply, Amount: 80}, {Action: rental.Release}}, "released 200 80 120"},
		{"a part given back, the rest used", []rental.DepositOrder{{Action: rental.Capture},
			{Action: rental.Release, Amount: 120}, {Action: rental.Apply}}, "released 200 80 120"},
	} {
		d := record.Deposit{Method: "hold", Status: record.DepositAuthorized, Amount: usd(200), Captured: usd(0),
			Applied: usd(0), Released: usd(0)}
		for _, o := range c.orders {
			if err := rental.SetDeposit(7, &d, o); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if got := fmt.Sprint(d.Status, " ", d.Captured.Amount, " ", d.Applied.Amount, " ", d.Released.Amount); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
