//go:build long

package person

import (
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A customer is announced to another one, whose erasure is decided and done before the first is archived: it is erased
// all the same, for no request could ask for that any more.
func TestWhoIsMergedIntoAnErasedCustomerIsErased(t *testing.T) {
	d := on(t, schematest.Open(t), time.Now)
	announced := put(t, d, d.Customers, record.Customer{})
	goes, stays := number(fleet.CustomerPrefix, announced), number(fleet.CustomerPrefix, put(t, d, d.Customers,
		record.Customer{Merging: []record.Merging{{CustomerID: announced, At: record.InstantOf(time.Now())}}}))
	if _, err := d.DecideErasure(t.Context(), by, account, stays, "asked", true); err != nil {
		t.Fatal(err)
	}
	if err := d.FinishErasure(t.Context(), by, account, stays); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Customers.Archive(t.Context(), by, account, goes, 0, func(r *record.Record[record.Customer]) error {
		r.Body.MergedInto, r.Body.FirstName = fleet.FormatID(fleet.CustomerPrefix, stays), "Ada"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d.Now = func() time.Time { return time.Now().Add(time.Minute) }
	if err := d.Duty(t.Context(), "erase customers"); err != nil {
		t.Fatal(err)
	}
	if rec, err := d.Customers.Get(t.Context(), account, goes); err != nil || rec.Body.ErasedAt.IsZero() ||
		rec.Body.FirstName != "" {
		t.Errorf("%+v, %v", rec.Body, err)
	}
}
