package rental

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Every action in every state of a work order: where it leads, or that it is refused with where the work order may go.
func TestMovesOfAWorkOrder(t *testing.T) {
	legal := map[string]map[WorkAction]string{
		"draft":       {"schedule": "scheduled", "cancel": "cancelled"},
		"scheduled":   {"schedule": "scheduled", "start": "in_progress", "cancel": "cancelled"},
		"in_progress": {"schedule": "in_progress", "hold": "on_hold", "complete": "completed", "cancel": "cancelled"},
		"on_hold":     {"schedule": "on_hold", "resume": "in_progress", "complete": "completed", "cancel": "cancelled"},
		"completed":   {},
		"cancelled":   {},
	}
	allowed := map[string][]string{
		"draft": {"scheduled", "cancelled"}, "scheduled": {"in_progress", "cancelled"},
		"in_progress": {"on_hold", "completed", "cancelled"},
		"on_hold":     {"in_progress", "completed", "cancelled"}, "completed": {}, "cancelled": {},
	}
	for _, from := range WorkStates {
		for _, action := range []WorkAction{ScheduleWork, StartWork, HoldWork, ResumeWork, CompleteWork, CancelWork} {
			to, err := NextWork(1, from, action)
			want, ok := legal[from][action]
			refused, isRefusal := errors.AsType[*record.TransitionError](err)
			switch {
			case ok && (err != nil || to != want):
				t.Errorf("%s of a %s one: %s, %v", action, from, to, err)
			case !ok &&
				(!isRefusal || refused.Current != from || refused.Allowed == nil || !slices.Equal(refused.Allowed, allowed[from])):
				t.Errorf("%s of a %s one: %v, may go to %v", action, from, err, allowed[from])
			}
		}
	}
}

// Every move of an issue.
func TestMovesOfAnIssue(t *testing.T) {
	legal := map[string][]string{"open": {"in_progress", "resolved", "wont_fix"},
		"in_progress": {"open", "resolved", "wont_fix"}, "resolved": {}, "wont_fix": {}}
	for _, from := range IssueStates {
		for _, to := range IssueStates {
			i := record.Issue{Status: from}
			err := MoveIssue(1, &i, to, record.Instant{})
			refused, isRefusal := errors.AsType[*record.TransitionError](err)
			ok := from == to || slices.Contains(legal[from], to)
			switch {
			case ok && (err != nil || i.Status != to):
				t.Errorf("%s to %s: %v", from, to, err)
			case !ok &&
				(!isRefusal || i.Status != from || refused.Allowed == nil || !slices.Equal(refused.Allowed, legal[from])):
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}

func TestCostOfALine(t *testing.T) {
	for _, c := range []struct{ quantity, unit, want int64 }{
		{0, 1234, 1234}, {100, 1234, 1234}, {150, 9500, 14250}, {33, 101, 33}, {50, 1, 1}, {49, 1, 0}, {50, 3, 2},
		{150, 333, 500}, {1, 49, 0}, {1, 50, 1}, {50, -1, 0}, {51, -1, -1}, {100, -700, -700},
	} {
		got := LineCost(&record.WorkLine{Quantity: record.Hundredths(c.quantity),
			UnitCost: record.Money{Amount: c.unit, Currency: "USD"}})
		if got.Amount != c.want || got.Currency != "USD" {
			t.Errorf("%d hundredths of %d: %v, want %d", c.quantity, c.unit, got, c.want)
		}
	}
}

// The total is the sum of the lines, each rounded by itself, half up, and their taxes.
func TestTotalOfAWorkOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	hundred, half := big.NewInt(100), big.NewInt(50)
	for range 5000 {
		var lines []record.WorkLine
		want := new(big.Int)
		for range 1 + random.IntN(20) {
			line := record.WorkLine{Quantity: record.Hundredths(1 + random.Int64N(1_000_000)),
				UnitCost: record.Money{Amount: random.Int64N(1_000_000), Currency: "EUR"}}
			exact := new(big.Int).Mul(big.NewInt(int64(line.Quantity)), big.NewInt(line.UnitCost.Amount))
			want.Add(want, exact.Add(exact, half).Div(exact, hundred))
			if random.IntN(2) == 0 {
				line.Tax = &record.Money{Amount: random.Int64N(10000), Currency: "EUR"}
				want.Add(want, big.NewInt(line.Tax.Amount))
			}
			lines = append(lines, line)
		}
		got, err := WorkTotal(lines)
		if err != nil || got.Currency != "EUR" || got.Amount != want.Int64() {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
	if got, err := WorkTotal(nil); got != nil || err != nil {
		t.Errorf("without lines %v, %v", got, err)
	}
	for name, lines := range map[string][]record.WorkLine{
		"two currencies": {{UnitCost: record.Money{Amount: 1, Currency: "EUR"}},
			{UnitCost: record.Money{Amount: 1, Currency: "USD"}}},
		"foreign tax": {{UnitCost: record.Money{Amount: 1, Currency: "EUR"},
			Tax: &record.Money{Amount: 1, Currency: "USD"}}},
		"too much":     {{Quantity: 1_000_000, UnitCost: record.Money{Amount: 1 << 62, Currency: "EUR"}}},
		"too much tax": {{UnitCost: record.Money{Currency: "EUR"}, Tax: &record.Money{Amount: 1 << 62, Currency: "EUR"}}},
	} {
		if _, err := WorkTotal(lines); fleet.CodeOf(err) != fleet.CodeValidation {
			t.Errorf("%s: %v", name, err)
		}
	}
}
