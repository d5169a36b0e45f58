// Package turo reads the trips that a host downloads from Turo as CSV: one row a reservation, with the money of each
// line. It is pure.
//
// Columns are found by their names, in any order and case; those that are not known are left alone. Money is written
// "$1,234.50", "-12.5" or "(12.50)". Times are local, of the zone that the caller names.
package turo

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/csvrow"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// Trip is one row.
type Trip struct {
	Row         int // of the spreadsheet: the header is 1
	Reservation string
	Guest       string
	Vehicle     string // its name or nickname
	VIN         string
	Plate       string
	Start, End  time.Time
	Status      string // of a booking: confirmed, active, completed, cancelled
	CancelledBy string
	StartMi     *int
	EndMi       *int
	Days        int
	Lines       []record.Charge // without ids; the channel's share among them
	Err         error           // why the row cannot be used; the rest may be missing then
}

// Most is how many rows a file may have.
const Most = 1000

// ErrHeader says that a file is none of Turo's trips.
var ErrHeader = errors.New(
	"the first row must name the columns Reservation ID, Trip start and Trip end, and Vehicle, Vehicle name or VIN")

// ErrTooMany says that a file has more than Most rows.
var ErrTooMany = fmt.Errorf("a file may have at most %d trips", Most)

// money says of which type the lines of a column are.
var money = map[string]string{
	"trip price": "time", "boost price": "time",
	"3-day discount": "discount", "1-week discount": "discount", "2-week discount": "discount",
	"3-week discount": "discount", "1-month discount": "discount",
	"2-month discount": "discount", "3-month discount": "discount", "non-refundable discount": "discount",
	"early bird discount":     "discount",
	"host promotional credit": "promo", "delivery": "delivery", "excess distance": "mileage", "extras": "extra",
	"cancellation fee": "cancellation_fee",
	"additional usage": "late_return", "late fee": "late_return", "improper return fee": "adjustment",
	"airport operations fee": "adjustment",
	"airport parking credit": "adjustment", "tolls & tickets": "toll", "on-trip ev charging": "recharge",
	"post-trip ev charging": "recharge",
	"smoking":               "smoking", "cleaning": "cleaning", "fines (paid to host)": "fine",
	"gas reimbursement": "refuel",
	"gas fee":           "refuel", "other fees": "adjustment",
	"sales tax": "tax",
}

// earnings is the column of what the host gets.
const earnings = "total earnings"

// plate finds a plate in the name of a vehicle: "Ada's Tesla (TX #ABC1234)".
var plate = regexp.MustCompile(`#\s*([^()#]*[^()#\s])\s*\)`)

// Parse reads the trips of a file, in its order. A row that cannot be used has an error, and the others are
// read all the same.
func Parse(r io.Reader, zone *time.Location, currency string) ([]Trip, error) {
	rows := csvrow.New(csv.NewReader(r))
	rows.FieldsPerRecord, rows.LazyQuotes, rows.TrimLeadingSpace = -1, true, true
	header, err := rows.Read()
	if err != nil {
		return nil, ErrHeader
	}
	names := make([]string, len(header))
	known := map[string]bool{}
	for i, name := range header {
		names[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		known[names[i]] = true
	}
	if !known["reservation id"] || !known["trip start"] || !known["trip end"] ||
		!known["vehicle"] && !known["vehicle name"] && !known["vin"] {
		return nil, ErrHeader
	}
	var trips []Trip
	for {
		values, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return trips, nil
		}
		if len(trips) == Most {
			return nil, ErrTooMany
		}
		t := Trip{Row: rows.Row(), Err: err}
		if err == nil {
			t.read(names, values, zone, currency)
		}
		trips = append(trips, t)
	}
}

// read reads a row.
func (t *Trip) read(names, values []string, zone *time.Location, currency string) {
	cell := map[string]string{}
	for i, v := range values {
		if i < len(names) {
			cell[names[i]] = strings.TrimSpace(v)
		}
	}
	fail := func(column string, err error) {
		if err != nil && t.Err == nil {
			t.Err = fmt.Errorf("%s: %w", column, err)
		}
	}
	t.Reservation, t.Guest, t.VIN = cell["reservation id"], cell["guest"], cell["vin"]
	if t.Reservation == "" || len(t.Reservation) > 200 {
		fail("reservation id", errors.New("must be given, with at most 200 characters"))
	}
	if m := plate.FindStringSubmatch(cell["vehicle"]); m != nil {
		t.Plate = m[1]
	} else {
		t.Plate = cmp.Or(cell["license plate"], cell["plate"])
	}
	if t.Vehicle = cell["vehicle name"]; t.Vehicle == "" {
		t.Vehicle = cell["vehicle"]
	}
	var err error
	t.Start, err = instant(cell["trip start"], zone)
	fail("trip start", err)
	t.End, err = instant(cell["trip end"], zone)
	fail("trip end", err)
	if t.Err == nil && !t.Start.Before(t.End) {
		fail("trip end", errors.New("is not after trip start"))
	}
	t.Status, t.CancelledBy, err = status(cell["trip status"])
	fail("trip status", err)
	t.StartMi, err = miles(cell["check-in odometer"])
	fail("check-in odometer", err)
	t.EndMi, err = miles(cell["check-out odometer"])
	fail("check-out odometer", err)
	if t.StartMi != nil && t.EndMi != nil && *t.EndMi < *t.StartMi {
		fail("check-out odometer", errors.New("is less than at check-in"))
	}
	if days, err := miles(cell["trip days"]); err == nil && days != nil {
		t.Days = *days
	}
	t.readMoney(names, cell, currency, fail)
}

// readMoney makes lines of the money of a row, and what is missing from the host's earnings the channel's share.
func (t *Trip) readMoney(names []string, cell map[string]string, currency string, fail func(string, error)) {
	var sum int64
	add := func(kind, what string, amount int64) {
		m := record.Money{Amount: amount, Currency: currency}
		t.Lines = append(t.Lines,
			record.Charge{Type: kind, Description: what, Quantity: 1, UnitPrice: m, Amount: m, Source: "import"})
		if kind != "tax" {
			sum += amount
		}
	}
	for _, name := range names {
		kind, ok := money[name]
		if !ok || cell[name] == "" {
			continue
		}
		amount, err := Minor(cell[name])
		fail(name, err)
		if price.Lowers(kind) {
			amount = min(amount, -amount) // however the file writes it
		}
		if err == nil && amount != 0 {
			add(kind, name, amount)
		}
	}
	text, ok := cell[earnings]
	if !ok || text == "" {
		return
	}
	got, err := Minor(text)
	fail(earnings, err)
	if share := sum - got; err == nil && share > 0 {
		add("platform_fee", "what the channel keeps", -share)
	}
}

// layouts are those that times are written in.
var layouts = []string{"2006-01-02 03:04 PM", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05",
	"01/02/2006 03:04 PM", "1/2/2006 3:04 PM", "1/2/2006 15:04", "1/2/06 3:04 PM", "1/2/06 15:04", "Jan 2, 2006 3:04 PM",
	"Jan 2, 2006, 3:04 PM"}

func instant(text string, zone *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			if t.Year() < 1990 || t.Year() > 2199 {
				break
			}
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no time like 2026-01-31 10:30 AM", text)
}

// status reads a state of a trip as that of a booking.
func status(text string) (state, cancelledBy string, err error) {
	switch word := strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(text)); {
	case word == "" || word == "completed" || word == "ended":
		return record.BookingCompleted, "", nil
	case word == "in progress" || word == "started" || word == "active":
		return record.BookingActive, "", nil
	case word == "upcoming" || word == "booked" || word == "confirmed":
		return record.BookingConfirmed, "", nil
	case strings.Contains(word, "cancel"):
		if cancelledBy = "customer"; strings.Contains(word, "host") {
			cancelledBy = "host"
		}
		return record.BookingCancelled, cancelledBy, nil
	}
	return "", "", fmt.Errorf("%.40q is not known", text)
}

// miles reads a whole number; nothing is nil.
func miles(text string) (*int, error) {
	text = strings.ReplaceAll(text, ",", "")
	if text == "" {
		return nil, nil
	}
	whole, _, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n < 0 || n > 3_000_000 {
		return nil, fmt.Errorf("%.40q is no reading", text)
	}
	return &n, nil
}

// Minor reads an amount with two decimals as minor units, without a float on the way.
func Minor(text string) (int64, error) {
	bad := fmt.Errorf("%.40q is no amount", text)
	plain := strings.NewReplacer("$", "", ",", "", " ", "").Replace(text)
	negative := strings.HasPrefix(plain, "(") && strings.HasSuffix(plain, ")")
	if negative {
		plain = plain[1 : len(plain)-1]
	}
	if rest, minus := strings.CutPrefix(plain, "-"); minus {
		negative, plain = !negative, rest
	}
	whole, cents, _ := strings.Cut(plain, ".")
	if len(whole) > 9 || len(cents) > 2 || whole == "" && cents == "" {
		return 0, bad
	}
	n, err := strconv.ParseUint("0"+whole+(cents + "00")[:2], 10, 63)
	if err != nil {
		return 0, bad
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}
