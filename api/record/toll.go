package record

import (
	"maps"
	"slices"
)

// The states of a toll or fine.
//
//	imported ──► matched ──► billed ──► paid
//	    └──► unmatched ─┘ (later)
//	every one that is not paid or waived may be disputed (and then go on) or waived
const (
	TollImported  = "imported"
	TollMatched   = "matched"
	TollUnmatched = "unmatched"
	TollBilled    = "billed"
	TollPaid      = "paid"
	TollDisputed  = "disputed"
	TollWaived    = "waived"
)

// tollMoves are the states that each state may go to.
var tollMoves = map[string][]string{
	TollImported:  {TollMatched, TollUnmatched},
	TollUnmatched: {TollMatched, TollDisputed, TollWaived},
	TollMatched:   {TollUnmatched, TollBilled, TollDisputed, TollWaived},
	TollBilled:    {TollPaid, TollDisputed, TollWaived},
	TollDisputed:  {TollMatched, TollBilled, TollWaived},
	TollPaid:      {},
	TollWaived:    {},
}

// TollStates lists every state of a toll.
var TollStates = slices.Sorted(maps.Keys(tollMoves))

// Move puts a toll into another state, or says with a *TransitionError why not. One that was never billed does not
// become billed by the end of a dispute, and one that was does not become matched.
func (t *Toll) Move(name, to string) error {
	allowed := slices.Clone(tollMoves[t.Status])
	if t.Status == TollDisputed {
		allowed = slices.DeleteFunc(allowed, func(s string) bool {
			return s == TollMatched && t.ChargeID != "" || s == TollBilled && t.ChargeID == ""
		})
	}
	if !slices.Contains(allowed, to) {
		return &TransitionError{What: "toll " + name, Current: t.Status, Wanted: to, Allowed: allowed}
	}
	t.Status = to
	return nil
}
