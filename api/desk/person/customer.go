package person

import (
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
)

// mostMerges bounds how far a chain of merged customers is followed; merges keep chains short, and never make a ring.
const mostMerges = 32

// Customer returns a customer as it counts now: the one that it was merged into, if it was.
func (d *Persons) Customer(ctx context.Context, account fleet.AccountID,
	id uint64) (record.Record[record.Customer], error) {
	for range mostMerges {
		rec, err := base.Recall(ctx, d.Customers, account, id)
		if err != nil || rec.Body.MergedInto == "" {
			return rec, err
		}
		if id, err = fleet.ParseID(fleet.CustomerPrefix, rec.Body.MergedInto); err != nil {
			return rec, fmt.Errorf("customer %d was merged: %w", rec.ID, err)
		}
	}
	return record.Record[record.Customer]{}, fmt.Errorf("customer %d: more than %d merges in a row", id, mostMerges)
}

// Telephone writes a telephone number as it is kept, read as it is dialled in the customer's country, else in that of
// the account. One that cannot be read stays as it is.
func (d *Persons) Telephone(ctx context.Context, account fleet.AccountID, text string,
	address *record.Address) (string, error) {
	number, read := record.Telephone(text)
	if read {
		return number, nil
	}
	rec, err := base.Recall(ctx, d.Accounts, account, uint64(account))
	if err != nil {
		return "", fmt.Errorf("read the country of telephone numbers: %w", err)
	}
	var regions []string
	if address != nil && address.Country != "" {
		regions = append(regions, address.Country)
	}
	if rec.Body.Country != "" {
		regions = append(regions, rec.Body.Country)
	} else if rec.Body.Currency == "" || rec.Body.Currency == "USD" {
		regions = append(regions, "US")
	}
	number, _ = record.Telephone(text, regions...)
	return number, nil
}

// renter returns the customer that counts for who rents or drives, and refuses one to whom nothing may be rented
// until back, for what has nothing to do with the do-not-rent list. One that does not exist is a fault of the
// member customer_id.
func (d *Persons) renter(ctx context.Context, account fleet.AccountID, customerID string,
	back time.Time) (record.Record[record.Customer], error) {
	unknown := fleet.Invalid(fleet.NoSuch("/customer_id", "customer", fleet.CustomerPrefix, customerID))
	var rec record.Record[record.Customer]
	id, err := fleet.ParseID(fleet.CustomerPrefix, customerID)
	if err != nil {
		return rec, unknown
	}
	rec, err = d.Customer(ctx, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return rec, unknown
	}
	if err != nil {
		return rec, err
	}
	code, why := barrier(&rec, back, d.Now())
	if code == onList || code == blocked {
		code, why = licenceBarrier(&rec.Body, lastDay(back))
	}
	if code != "" {
		return rec, fleet.NewError(fleet.CodeConflict, "Nothing may be rented to the customer "+customerID+": "+why+".",
			fleet.FieldError{Pointer: "/customer_id", Code: code, Detail: why})
	}
	return rec, nil
}

// lastDay is the day until which a licence must last.
func lastDay(back time.Time) string { return back.UTC().Format(time.DateOnly) }

// Rentable says whether something may be rented to a customer today, and if not, the code of the reason.
func (d *Persons) Rentable(rec *record.Record[record.Customer]) (bool, string) {
	now := d.Now()
	code, _ := barrier(rec, now, now)
	return code == "", code
}

// barrier is what stands between a customer and a rental: a code and words, or "".
func barrier(rec *record.Record[record.Customer], back, now time.Time) (code, why string) {
	b := &rec.Body
	switch {
	case b.Gone():
		return "customer_erased", "its personal data was erased"
	case b.MergedInto != "":
		return "customer_merged", "it was merged into " + b.MergedInto
	case rec.Archived():
		return "customer_archived", "it is archived"
	case b.Barred(now):
		return onList, "it is on the do-not-rent list"
	case b.RiskLevel == record.RiskBlocked:
		return blocked, "its risk level is blocked"
	}
	return licenceBarrier(b, lastDay(back))
}

// licenceBarrier is what a licence has against a rental until a day.
func licenceBarrier(b *record.Customer, day string) (code, why string) {
	switch {
	case b.Licence == nil:
		return "", ""
	case b.Verification.Status == record.LicenceRejected:
		return "licence_rejected", "its licence was rejected"
	case b.LicenceLapsed(day):
		return "licence_expired", "its licence expires on " + b.Licence.ExpiresOn + ", before the vehicle is back"
	}
	return "", ""
}

// The codes of barriers that a setting of the account may make a warning.
const onList, blocked = "do_not_rent", "risk_blocked"
