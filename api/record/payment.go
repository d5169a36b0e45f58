package record

import (
	"maps"
	"slices"

	"github.com/motorpool/fleet"
)

// paymentMoves are the transitions of payments.
//
//	pending ──► succeeded ──► partially_refunded ──► refunded
//	   └──────► failed  └──────────────────────────────┘
var paymentMoves = map[string][]string{
	PaymentPending:           {PaymentSucceeded, PaymentFailed},
	PaymentSucceeded:         {PaymentPartiallyRefunded, PaymentRefunded},
	PaymentPartiallyRefunded: {PaymentPartiallyRefunded, PaymentRefunded},
	PaymentFailed:            {},
	PaymentRefunded:          {},
}

// expenseMoves are the transitions of expenses: draft ──► posted ──► voided.
var expenseMoves = map[string][]string{ExpenseDraft: {ExpensePosted}, ExpensePosted: {ExpenseVoided}, ExpenseVoided: {}}

// PaymentStates and ExpenseStates list every state of each.
var (
	PaymentStates = slices.Sorted(maps.Keys(paymentMoves))
	ExpenseStates = slices.Sorted(maps.Keys(expenseMoves))
)

// moved says whether one state may follow another; a *TransitionError says that it may not.
func moved(moves map[string][]string, what, from, to string) error {
	if slices.Contains(moves[from], to) {
		return nil
	}
	return &TransitionError{What: what, Current: from, Wanted: to, Allowed: append([]string{}, moves[from]...)}
}

func paymentName(r *Record[Payment]) string {
	return "payment " + fleet.FormatID(fleet.PaymentPrefix, r.ID)
}

// Succeed says that a pending payment has arrived, and when.
func Succeed(r *Record[Payment], at Instant) error {
	if err := moved(paymentMoves, paymentName(r), r.Body.Status, PaymentSucceeded); err != nil {
		return err
	}
	r.Body.Status, r.Body.ReceivedAt = PaymentSucceeded, at
	return nil
}

// Fail says that a pending payment will not arrive.
func Fail(r *Record[Payment], reason string) error {
	if err := moved(paymentMoves, paymentName(r), r.Body.Status, PaymentFailed); err != nil {
		return err
	}
	r.Body.Status, r.Body.FailReason = PaymentFailed, reason
	return nil
}

// GiveBack gives back a part of a payment, or, if the refund has no amount, what is left of it. A refund of an
// id that the payment has changes nothing. More than is left, or another currency, is a *fleet.Error of the
// code fleet.CodeValidation.
func GiveBack(r *Record[Payment], refund Refund) error {
	p := &r.Body
	if slices.ContainsFunc(p.Refunds, func(o Refund) bool { return o.ID == refund.ID }) {
		return nil
	}
	left := p.Amount.Amount - p.Refunded()
	if refund.Amount == (Money{}) {
		refund.Amount = Money{Amount: left, Currency: p.Amount.Currency}
	}
	to := PaymentPartiallyRefunded
	if refund.Amount.Amount >= left {
		to = PaymentRefunded
	}
	if err := moved(paymentMoves, paymentName(r), p.Status, to); err != nil {
		return err
	}
	fault := fleet.FieldError{}
	switch {
	case refund.Amount.Currency != p.Amount.Currency:
		fault = fleet.FieldError{Pointer: "/amount/currency", Code: "currency_mismatch",
			Detail: "the payment is in " + p.Amount.Currency}
	case refund.Amount.Amount <= 0:
		fault = fleet.FieldError{Pointer: "/amount/amount", Code: "out_of_range", Detail: "must be more than nothing"}
	case refund.Amount.Amount > left:
		fault = fleet.FieldError{Pointer: "/amount/amount", Code: "out_of_range",
			Detail: "is more than what is left of the payment"}
	}
	if fault.Pointer != "" {
		return fleet.Invalid(fault)
	}
	p.Refunds, p.Status = append(p.Refunds, refund), to
	return nil
}

func expenseName(r *Record[Expense]) string {
	return "expense " + fleet.FormatID(fleet.ExpensePrefix, r.ID)
}

// Post enters a draft into the books.
func Post(r *Record[Expense], at Instant) error {
	if err := moved(expenseMoves, expenseName(r), r.Body.Status, ExpensePosted); err != nil {
		return err
	}
	r.Body.Status, r.Body.PostedAt = ExpensePosted, at
	return nil
}

// Void takes an expense out of the books, by reversal.
func Void(r *Record[Expense], at Instant, reason string) error {
	if err := moved(expenseMoves, expenseName(r), r.Body.Status, ExpenseVoided); err != nil {
		return err
	}
	r.Body.Status, r.Body.VoidedAt, r.Body.VoidReason = ExpenseVoided, at, reason
	return nil
}

// PaidOn says when an expense was paid that is not voided.
func PaidOn(r *Record[Expense], day string) error {
	if r.Body.Status == ExpenseVoided {
		return &TransitionError{What: expenseName(r), Current: r.Body.Status, Wanted: "a change", Allowed: []string{}}
	}
	r.Body.PaidOn, r.Body.Unpaid = day, false
	return nil
}

// IsDraft refuses a change of an expense that is in the books, or was.
func IsDraft(r *Record[Expense]) error {
	if r.Body.Status == ExpenseDraft {
		return nil
	}
	return &TransitionError{What: expenseName(r), Current: r.Body.Status, Wanted: "a change",
		Allowed: append([]string{}, expenseMoves[r.Body.Status]...)}
}
