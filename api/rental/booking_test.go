package rental_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// The whole machine, a line a state: what may be done in it, and where that leads. Whatever is not named is refused.
var machine = map[string]string{
	"pending":   "confirm=confirmed cancel=cancelled expire=expired change=pending extend=pending swap_vehicle=pending assign_vehicle=pending charge=pending deposit=pending",
	"confirmed": "pickup=active cancel=cancelled no_show=no_show change=confirmed extend=confirmed swap_vehicle=confirmed assign_vehicle=confirmed charge=confirmed deposit=confirmed inspect=confirmed",
	"active":    "return=completed extend=active swap_vehicle=active charge=active deposit=active inspect=active damage=active correct=active",
	"completed": "reopen=active charge=completed deposit=completed inspect=completed damage=completed correct=completed",
	"cancelled": "charge=cancelled deposit=cancelled",
	"no_show":   "charge=no_show deposit=no_show",
	"expired":   "",
}

var allowed = map[string]string{
	"pending": "confirmed cancelled expired", "confirmed": "active cancelled no_show", "active": "completed",
	"completed": "", "cancelled": "", "no_show": "", "expired": "",
}

// actions are all that may be done with a booking.
var actions = []rental.Action{rental.Confirm, rental.Expire, rental.Cancel, rental.NoShow, rental.Pickup,
	rental.Return, rental.Reopen, rental.Change, rental.Extend, rental.Swap, rental.Assign, rental.Charge, rental.Deposit,
	rental.Inspect, rental.Damage,
	rental.Correct}

func TestEachMoveIsLegalOrRefused(t *testing.T) {
	if len(machine) != len(rental.States) {
		t.Fatalf("%d states are told of, %d exist", len(machine), len(rental.States))
	}
	for _, from := range rental.States {
		legal := map[string]string{}
		for _, word := range strings.Fields(machine[from]) {
			action, to, _ := strings.Cut(word, "=")
			legal[action] = to
		}
		for _, action := range actions {
			got, err := rental.Next(7, from, action)
			want, ok := legal[string(action)]
			delete(legal, string(action))
			if ok {
				if err != nil || got != want {
					t.Errorf("%s of a %s one: %s, %v; want %s", action, from, got, err, want)
				}
				continue
			}
			refused, isMove := errors.AsType[*record.TransitionError](err)
			if !isMove || got != from {
				t.Errorf("%s of a %s one: %s, %v; want a refusal", action, from, got, err)
				continue
			}
			if refused.Current != from || strings.Join(refused.Allowed, " ") != allowed[from] ||
				fleet.CodeOf(err) != fleet.CodeTransition {
				t.Errorf("%s of a %s one: %v", action, from, refused)
			}
			if !strings.Contains(err.Error(), "bkg_7") {
				t.Errorf("%v does not say which booking", err)
			}
		}
		if len(legal) > 0 {
			t.Errorf("of a %s one unknown actions are told of: %v", from, legal)
		}
		if got := strings.Join(rental.Moves(from), " "); got != allowed[from] {
			t.Errorf("a %s one may become %q, want %q", from, got, allowed[from])
		}
		if rental.Moves(from) == nil {
			t.Errorf("the moves of a %s one are nil", from)
		}
	}
}

func TestWhatHoldsIsWhatMayStillMove(t *testing.T) {
	for _, state := range rental.States {
		b := record.Booking{Status: state}
		holds := state == "completed" || len(rental.Moves(state)) > 0
		if b.Holding() != holds {
			t.Errorf("a %s one holds: %v", state, b.Holding())
		}
	}
	if !slices.IsSortedFunc(rental.Moves("confirmed"), func(a, b string) int {
		return slices.Index(rental.States, a) - slices.Index(rental.States, b)
	}) {
		t.Error("moves are in no order")
	}
}
