package rent

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query"
)

// paymentEntries tells the payments of a booking and their refunds, to those who may know of them.
func (a *API) paymentEntries(r *http.Request, o desk.Order) ([]TimelineEntry, error) {
	if !auth.From(r.Context()).Has(auth.FinanceRead) {
		return nil, nil
	}
	ids, err := query.PaymentsOf(r.Context(), a.DB, o.Account, o.Booking)
	if err != nil {
		return nil, err
	}
	var all []TimelineEntry
	for _, id := range ids {
		revisions, _, err := a.desk.Payments.History(r.Context(), o.Account, id, 0, mostRevisions)
		if err != nil {
			return nil, err
		}
		for i, v := range revisions {
			var earlier record.Revision
			if i+1 < len(revisions) {
				earlier = revisions[i+1]
			}
			entries, err := paymentEntriesOf(id, v, earlier)
			if err != nil {
				return nil, err
			}
			all = append(all, entries...)
		}
	}
	return all, nil
}

// paymentEntriesOf tells in words what a revision of a payment made of the one before, newest first; that of the first
// is empty. What was told once is never told otherwise: a refund is an entry of its own, at its own time.
func paymentEntriesOf(id uint64, v, earlier record.Revision) ([]TimelineEntry, error) {
	var before, after record.Payment
	err := json.Unmarshal([]byte(v.Body), &after)
	if earlier.Body != "" {
		err = errors.Join(err, json.Unmarshal([]byte(earlier.Body), &before))
	}
	if err != nil {
		return nil, fmt.Errorf("read revision %d of payment %d: %w", v.Number, id, err)
	}
	var all []TimelineEntry
	add := func(at record.Instant, kind, ref, words string, m record.Money) {
		text := words + ": " + price.Format(m) + "."
		all = append(all, TimelineEntry{At: at, Kind: kind, Ref: ref, Actor: v.Actor, Text: text})
	}
	refunded := "Refunded by " + after.Method
	if after.Direction == "out" {
		refunded = "Came back of what was paid out by " + after.Method
	}
	for i := len(after.Refunds) - 1; i >= len(before.Refunds); i-- {
		add(after.Refunds[i].At, "refund", after.Refunds[i].ID, refunded, after.Refunds[i].Amount)
	}
	if text, at := paymentText(&before, &after); text != "" {
		if at.IsZero() {
			at = record.InstantOf(v.At)
		}
		add(at, "payment", fleet.FormatID(fleet.PaymentPrefix, id), text, after.Amount)
	}
	return all, nil
}

// paymentText tells to what state a payment has come, and when where it says so itself; "" for what is told already.
func paymentText(before, after *record.Payment) (string, record.Instant) {
	open := before.Status == "" || before.Status == record.PaymentPending
	switch {
	case !open || before.Status == after.Status:
		return "", record.Instant{}
	case after.Status == record.PaymentPending:
		return "Payment expected by " + after.Method, record.Instant{}
	case after.Status == record.PaymentFailed:
		return "Payment failed by " + after.Method, record.Instant{}
	case after.Direction == "out":
		return "Paid out by " + after.Method, after.ReceivedAt
	}
	return "Payment received by " + after.Method, after.ReceivedAt
}
