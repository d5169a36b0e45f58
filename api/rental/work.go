package rental

import (
	"fmt"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// WorkAction is something that is done with a work order.
//
//	draft ─ schedule ─► scheduled ─ start ─► in_progress ─ complete ─► completed
//	                                          │   ▲   ▲
//	                                     hold ▼   │ resume
//	                                        on_hold ─ complete ─► completed
//
//	cancel leads from every state but completed to cancelled. Scheduling again moves the period of one that goes on.
type WorkAction string

// The actions.
const (
	ScheduleWork WorkAction = "schedule"
	StartWork    WorkAction = "start"
	HoldWork     WorkAction = "hold"
	ResumeWork   WorkAction = "resume"
	CompleteWork WorkAction = "complete"
	CancelWork   WorkAction = "cancel"
)

// WorkStates lists every state of a work order, in the order of its life.
var WorkStates = []string{record.WorkDraft, record.WorkScheduled, record.WorkInProgress, record.WorkOnHold,
	record.WorkCompleted, record.WorkCancelled}

// workMoves says to which state an action leads from a state.
var workMoves = map[string]map[WorkAction]string{
	record.WorkDraft: {ScheduleWork: record.WorkScheduled, CancelWork: record.WorkCancelled},
	record.WorkScheduled: {ScheduleWork: record.WorkScheduled, StartWork: record.WorkInProgress,
		CancelWork: record.WorkCancelled},
	record.WorkInProgress: {ScheduleWork: record.WorkInProgress, HoldWork: record.WorkOnHold,
		CompleteWork: record.WorkCompleted, CancelWork: record.WorkCancelled},
	record.WorkOnHold: {ScheduleWork: record.WorkOnHold, ResumeWork: record.WorkInProgress,
		CompleteWork: record.WorkCompleted, CancelWork: record.WorkCancelled},
}

// workGoals are the states that actions aim at, for refusals.
var workGoals = map[WorkAction]string{ScheduleWork: record.WorkScheduled, StartWork: record.WorkInProgress,
	HoldWork:   record.WorkOnHold,
	ResumeWork: record.WorkInProgress, CompleteWork: record.WorkCompleted, CancelWork: record.WorkCancelled}

// NextWork returns the state that an action leads to; a *record.TransitionError says that it cannot be done
// in this state.
func NextWork(id uint64, status string, action WorkAction) (string, error) {
	if to, ok := workMoves[status][action]; ok {
		return to, nil
	}
	return "", &record.TransitionError{What: "work order " + fleet.FormatID(fleet.WorkOrderPrefix, id), Current: status,
		Wanted:  workGoals[action],
		Allowed: others(status, workMoves[status], WorkStates)}
}

// others returns the states other than the present one to which moves lead, in the order of all.
func others[A comparable](status string, moves map[A]string, all []string) []string {
	to := []string{}
	for _, state := range all {
		for _, goal := range moves {
			if goal == state && state != status && !slices.Contains(to, state) {
				to = append(to, state)
			}
		}
	}
	return to
}

// The states of an issue. An issue in progress is open again if what was to be done is cancelled.
//
//	open ◄──► in_progress ──► resolved | wont_fix
//	  └─────────────────────► resolved | wont_fix
const (
	IssueOpen       = "open"
	IssueInProgress = "in_progress"
	IssueResolved   = "resolved"
	IssueWontFix    = "wont_fix"
)

// IssueStates lists every state of an issue.
var IssueStates = []string{IssueOpen, IssueInProgress, IssueResolved, IssueWontFix}

// issueMoves says from which state an issue may go where.
var issueMoves = map[string]map[string]string{
	IssueOpen:       {IssueInProgress: IssueInProgress, IssueResolved: IssueResolved, IssueWontFix: IssueWontFix},
	IssueInProgress: {IssueOpen: IssueOpen, IssueResolved: IssueResolved, IssueWontFix: IssueWontFix},
}

// MoveIssue moves an issue to a state. A move that its state does not allow is a *record.TransitionError; one to the
// state that it is in changes nothing.
func MoveIssue(id uint64, i *record.Issue, to string, at record.Instant) error {
	if i.Status == to {
		return nil
	}
	if _, ok := issueMoves[i.Status][to]; !ok {
		return &record.TransitionError{What: "issue " + fleet.FormatID(fleet.IssuePrefix, id), Current: i.Status, Wanted: to,
			Allowed: others(i.Status, issueMoves[i.Status], IssueStates)}
	}
	i.Status, i.StatusSince = to, at
	return nil
}

// WorkTotal returns what the lines of a work order cost together, with tax: each quantity in hundredths times its unit
// cost, half a minor unit up. It is nil without lines. All lines must be in one currency, and the sum within int64.
func WorkTotal(lines []record.WorkLine) (*record.Money, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	total := &record.Money{Currency: lines[0].UnitCost.Currency}
	for i, line := range lines {
		parts := []record.Money{LineCost(&line)}
		if line.Tax != nil {
			parts = append(parts, *line.Tax)
		}
		for _, m := range parts {
			if m.Currency != total.Currency {
				return nil, lineFault(i, "one_currency", "all lines must be in one currency, here "+total.Currency)
			}
			if m.Amount < -mostMoney || m.Amount > mostMoney {
				return nil, lineFault(i, "too_large", "is more than an amount can be")
			}
			total.Amount += m.Amount
		}
	}
	return total, nil
}

// mostMoney bounds one amount, so that the sum of all lines cannot overflow: ten billion of a currency with cents.
const mostMoney = 1_000_000_000_000

// LineCost is the cost of a line without tax.
func LineCost(line *record.WorkLine) record.Money {
	quantity := int64(line.Quantity)
	if quantity == 0 {
		quantity = 100
	}
	unit := line.UnitCost
	if unit.Amount > mostMoney || unit.Amount < -mostMoney {
		// refused by WorkTotal; the product would overflow
		return record.Money{Amount: mostMoney + 1, Currency: unit.Currency}
	}
	product := quantity * unit.Amount
	cost := product / 100
	switch rest := product % 100; {
	case rest >= 50:
		cost++
	case rest < -50:
		cost--
	}
	return record.Money{Amount: cost, Currency: unit.Currency}
}

func lineFault(i int, code, detail string) error {
	return fleet.Invalid(fleet.FieldError{Pointer: fmt.Sprintf("/lines/%d", i), Code: code, Detail: detail})
}
