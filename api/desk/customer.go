package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// mostMerges bounds how far a chain of merged customers is followed; merges keep chains short, and never make a ring.
const mostMerges = 32

// Customer returns a customer as it counts now: the one that it was merged into, if it was.
func (d *Desk) Customer(ctx context.Context, account fleet.AccountID, id uint64) (record.Record[record.Customer], error) {
	for range mostMerges {
		rec, err := recall(ctx, d.Customers, account, id)
		if err != nil || rec.Body.MergedInto == "" {
			return rec, err
		}
		if id, err = fleet.ParseID(fleet.CustomerPrefix, rec.Body.MergedInto); err != nil {
			return rec, fmt.Errorf("customer %d was merged: %w", rec.ID, err)
		}
	}
	return record.Record[record.Customer]{}, fmt.Errorf("customer %d: more than %d merges in a row", id, mostMerges)
}

// MayRent refuses a customer to whom nothing may be rented from pickup until back, with the reason: do-not-rent (until it expires), a
// risk level of blocked, erased or archived, a licence on record that was rejected or expires before the return. A customer that
// was merged is judged by the one that it was merged into. One that does not exist is a fault of the member customer_id.
// A booking without a customer ("") may be made, and is not asked about here.
func (d *Desk) MayRent(ctx context.Context, account fleet.AccountID, customerID string, pickup, back time.Time) error {
	unknown := fleet.Invalid(fleet.NoSuch("/customer_id", "customer", fleet.CustomerPrefix, customerID))
	id, err := fleet.ParseID(fleet.CustomerPrefix, customerID)
	if err != nil {
		return unknown
	}
	rec, err := d.Customer(ctx, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return unknown
	}
	if err != nil {
		return err
	}
	if code, why := barrier(&rec, pickup, back, d.Now()); code != "" {
		return fleet.NewError(fleet.CodeConflict, "Nothing may be rented to the customer "+customerID+": "+why+".",
			fleet.FieldError{Pointer: "/customer_id", Code: code, Detail: why})
	}
	return nil
}

// Rentable says whether something may be rented to a customer today, and if not, the code of the reason.
func (d *Desk) Rentable(rec *record.Record[record.Customer]) (bool, string) {
	now := d.Now()
	code, _ := barrier(rec, now, now, now)
	return code == "", code
}

// barrier is what stands between a customer and a rental: a code and words, or "".
func barrier(rec *record.Record[record.Customer], pickup, back, now time.Time) (code, why string) {
	b := &rec.Body
	lastDay := back.UTC().Format(time.DateOnly)
	switch {
	case b.Gone():
		return "customer_erased", "its personal data was erased"
	case b.MergedInto != "":
		return "customer_merged", "it was merged into " + b.MergedInto
	case rec.Archived():
		return "customer_archived", "it is archived"
	case b.Barred(pickup) || b.Barred(now):
		return "do_not_rent", "it is on the do-not-rent list"
	case b.RiskLevel == record.RiskBlocked:
		return "risk_blocked", "its risk level is blocked"
	case b.Licence == nil:
		return "", ""
	case b.Verification.Status == record.LicenceRejected:
		return "licence_rejected", "its licence was rejected"
	case b.LicenceLapsed(lastDay):
		return "licence_expired", "its licence expires on " + b.Licence.ExpiresOn + ", before the vehicle is back"
	}
	return "", ""
}
