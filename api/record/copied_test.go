package record

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// What is decoded of a draft's revision twice is the same, and what is done to the one is not seen in the other.
func TestWhatIsKeptDecodedIsNotShared(t *testing.T) {
	body := `{"customer_id":"cus_1","pickup_at":"2026-01-02T03:04:05Z","extras":[{"code":"gps","quantity":1}],
		"drivers":[{"customer_id":"cus_2"}],"metadata":{"a":"b"},"custom_fields":{"x":{"y":[1,"z"]}},
		"pickup_mileage_mi":12,"charges":[{"id":"chg_1","amount":{"amount":5,"currency":"USD"}}],
		"rate_snapshot":{"currency":"USD"}}`
	r := &revision{body: body, kept: &kept{}}
	var fresh, first, second Booking
	if err := json.Unmarshal([]byte(body), &fresh); err != nil {
		t.Fatal(err)
	}
	for _, into := range []*Booking{&first, &second} {
		if err := decode(r, into); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*into, fresh) {
			t.Fatalf("it was %+v, and is %+v", fresh, *into)
		}
		into.Extras[0].Code, into.Drivers[0].CustomerID, into.Metadata["a"] = "x", "x", "x"
		into.Charges[0].Amount.Amount, *into.PickupMileageMi, into.RateSnapshot.Currency = 9, 9, "EUR"
		into.CustomFields["x"].(map[string]any)["y"].([]any)[0] = 9
		into.PickupAt = InstantOf(time.Now())
	}
	var other struct {
		CustomerID string `json:"customer_id"`
	}
	if err := decode(r, &other); err != nil || other.CustomerID != "cus_1" {
		t.Errorf("into another type it is %v, %v", other, err)
	}
}
