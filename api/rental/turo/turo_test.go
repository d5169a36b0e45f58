package turo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/rental/turo"
)

const head = "Reservation ID,Guest,Vehicle,Vehicle name,VIN,Trip start,Trip end,Trip status,Check-in odometer,Check-out odometer,Distance traveled,Trip days," +
	"Trip price,3-day discount,Delivery,Sales tax,Total earnings\n"

func parse(t *testing.T, text string) []turo.Trip {
	t.Helper()
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	trips, err := turo.Parse(strings.NewReader(text), zone, "USD")
	if err != nil {
		t.Fatal(err)
	}
	return trips
}

func TestATripIsReadWithItsMoney(t *testing.T) {
	trips := parse(t, "\ufeff"+head+`123,Ada,Ada's Tesla (TX #ABC1234),Tesla Model 3 2024,5YJ3,2026-03-07 10:00 AM,2026-03-09 10:00 AM,Completed,"1,000",1250,250,2,"$1,100.00",($50.00),$30,$90.10,$800.50`+"\n")
	got := trips[0]
	if got.Err != nil || got.Reservation != "123" || got.Guest != "Ada" || got.Plate != "ABC1234" ||
		got.Vehicle != "Tesla Model 3 2024" || *got.StartMi != 1000 || got.Days != 2 {
		t.Errorf("%+v", got)
	}
	// The clocks change in between: the trip is an hour shorter.
	if got.Start.Format(time.RFC3339) != "2026-03-07T16:00:00Z" || got.End.Sub(got.Start) != 47*time.Hour ||
		got.Status != "completed" {
		t.Errorf("%v to %v, %s", got.Start, got.End, got.Status)
	}
	if text := lines(&got); text != "time 110000; discount -5000; delivery 3000; tax 9010; platform_fee -27950; " {
		t.Error(text)
	}
}

func lines(trip *turo.Trip) string {
	text := ""
	for _, l := range trip.Lines {
		text += fmt.Sprintf("%s %d; ", l.Type, l.Amount.Amount)
	}
	return text
}

func TestADiscountLowersHoweverTheFileWritesIt(t *testing.T) {
	for _, discount := range []string{"$50.00", "-50", "(50.00)"} {
		trip := parse(t, head+"123,Ada,,V,,2026-03-07 10:00 AM,2026-03-09 10:00 AM,Completed,,,,2,100,"+discount+",,,50\n")[0]
		if text := lines(&trip); trip.Err != nil || text != "time 10000; discount -5000; " {
			t.Errorf("%s: %s %v", discount, text, trip.Err)
		}
	}
}

func TestARowThatCannotBeUsedSaysWhy(t *testing.T) {
	for row, want := range map[string]string{
		",Ada,,V,,2026-03-07 10:00 AM,2026-03-09 10:00 AM,,,,,,,,,,":                  "reservation id",
		"1,Ada,,V,,soon,2026-03-09 10:00 AM,,,,,,,,,,":                                "trip start",
		"1,Ada,,V,,2026-03-09 10:00 AM,2026-03-09 10:00 AM,,,,,,,,,,":                 "trip end",
		"1,Ada,,V,,2026-03-07 10:00 AM,2026-03-09 10:00 AM,lost,,,,,,,,,":             "trip status",
		"1,Ada,,V,,2026-03-07 10:00 AM,2026-03-09 10:00 AM,,10,9,,,,,,,":              "check-out odometer",
		"1,Ada,,V,,2026-03-07 10:00 AM,2026-03-09 10:00 AM,,,,,,1.234,,,,":            "trip price",
		"1,Ada,,V,,2026-03-07 10:00 AM,2026-03-09 10:00 AM,,,,,,1,,,,99999999999999.": "total earnings",
	} {
		trips := parse(t, head+row+"\n\n2,B,,V,,2026-03-07 10:00,2026-03-09 10:00,Host cancellation\n")
		if len(trips) != 2 || trips[0].Err == nil || !strings.HasPrefix(trips[0].Err.Error(), want) {
			t.Errorf("%s: %+v", row, trips[0].Err)
		}
		if trips[1].Err != nil || trips[1].Status != "cancelled" || trips[1].CancelledBy != "host" || trips[0].Row != 2 ||
			trips[1].Row != 4 {
			t.Errorf("the next row: %+v", trips[1])
		}
	}
	if _, err := turo.Parse(strings.NewReader("a,b\n1,2\n"), time.UTC, "USD"); !errors.Is(err, turo.ErrHeader) {
		t.Error(err)
	}
	if _, err := turo.Parse(strings.NewReader(head+strings.Repeat("1,,,,,,\n", turo.Most+1)), time.UTC,
		"USD"); !errors.Is(err, turo.ErrTooMany) {
		t.Error(err)
	}
}

func FuzzMinor(f *testing.F) {
	for _, text := range []string{"$1,234.50", "(12.50)", "-3", "0.1", ".5", "-", "1e9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := turo.Minor(text)
		if err != nil {
			return
		}
		again, err := turo.Minor(fmt.Sprintf("%s%d.%02d", map[bool]string{true: "-"}[n < 0], max(n, -n)/100, max(n, -n)%100))
		if err != nil || again != n {
			t.Errorf("%q is %d and then %d, %v", text, n, again, err)
		}
	})
}
