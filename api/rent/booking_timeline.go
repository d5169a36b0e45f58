package rent

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
)

// TimelineEntry is something that happened to a booking.
type TimelineEntry struct {
	At       record.Instant `json:"at"`
	Kind     string         `json:"kind" doc:"status, charge, deposit, inspection, damage, vehicle, change, correction, payment, refund or do_not_rent. More may be added." example:"status"`
	Text     string         `json:"text" doc:"In words; times in it are of the booking's timezone." example:"Confirmed."`
	Actor    string         `json:"actor" doc:"Who did it: the id of an API key, system for what time brings about, cli, or demo for the made-up business." example:"key_1234"`
	Revision uint64         `json:"revision,omitempty" doc:"The revision of the booking that says so."`
	Ref      string         `json:"ref,omitempty" doc:"The charge, payment, refund, inspection, damage or vehicle that is meant." example:"chg_1234"`
}

// mostRevisions bounds how much of a booking's history a timeline tells.
const mostRevisions = 1000

func (a *API) bookingTimelineRoutes(_ *rest.Resource[record.Booking]) {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/bookings/{id}/timeline", ID: "getBookingTimeline", Tag: "Bookings",
		Scope:   auth.BookingsRead,
		Summary: "List what happened to a booking",
		About:   "Who did what, and when, in words: newest first. Payments and refunds are among it for keys that have `finance:read`, each when the money moved.",
		Params:  rest.PageParams, Reply: a.ListSchema(TimelineEntry{}),
	}, func(w http.ResponseWriter, r *http.Request) error {
		id, err := rest.PathID(r, "booking", fleet.BookingPrefix)
		if err != nil {
			return err
		}
		o := desk.Order{Account: auth.From(r.Context()).Account, Booking: id}
		// one more tells what the last one changed
		revisions, _, err := a.desk.Bookings.History(r.Context(), o.Account, o.Booking, 0, mostRevisions+1)
		if err != nil {
			return err
		}
		var all []TimelineEntry
		for i, v := range revisions[:min(len(revisions), mostRevisions)] {
			before := v // of the first
			if i+1 < len(revisions) {
				before = revisions[i+1]
			}
			entries, err := entriesOf(v, before)
			if err != nil {
				return err
			}
			all = append(all, entries...)
		}
		payments, err := a.paymentEntries(r, o)
		if err != nil {
			return err
		}
		all = append(all, payments...)
		slices.SortStableFunc(all, func(a, b TimelineEntry) int { return b.At.Compare(a.At.Time) })
		texts := make([]*string, len(all))
		for i := range all {
			texts[i] = &all[i].Text
		}
		a.NameIDs(r.Context(), o.Account, auth.From(r.Context()).Has, texts...)
		return rest.WritePageOf(w, r, all)
	})
}

// entriesOf tells in words what a revision made of the one before. Times are those of the place.
func entriesOf(v, earlier record.Revision) ([]TimelineEntry, error) {
	var before, after record.Booking
	if err := errors.Join(json.Unmarshal([]byte(earlier.Body), &before),
		json.Unmarshal([]byte(v.Body), &after)); err != nil {
		return nil, fmt.Errorf("read revision %d of a booking: %w", v.Number, err)
	}
	var all []TimelineEntry
	add := func(kind, text, ref string) {
		all = append(all,
			TimelineEntry{At: record.InstantOf(v.At), Kind: kind, Text: text, Actor: v.Actor, Revision: v.Number, Ref: ref})
	}
	if v.Action == record.ActionArchive {
		add("status", "Archived.", "")
	}
	if text := depositText(&before.Deposit, &after.Deposit); text != "" {
		add("deposit", text, "")
	}
	zone := fleet.ZoneOf(after.Timezone)
	local := func(at record.Instant) string { return at.In(zone).Format("Mon 2006-01-02 15:04 MST") }
	var other []string
	reads := func(path string) bool {
		return slices.ContainsFunc(v.Changes, func(c record.Change) bool { return c.Path == path && c.New != nil })
	}
	for _, c := range v.Changes {
		top, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
		switch top {
		case "status":
			text := statusText(v.Action, fmt.Sprint(c.New))
			unread := false
			switch {
			case c.Old == record.BookingCompleted:
				text = "Reopened."
			case c.New == record.BookingActive && !reads("/pickup_mileage_mi"), c.New == record.BookingCompleted &&
				!reads("/return_mileage_mi"):
				unread = true
			}
			if c.Old != record.BookingCompleted {
				text = strings.TrimSuffix(text, ".") + handoverText(&after, fmt.Sprint(c.New), local) + "."
			}
			if unread {
				text += " No odometer reading was taken."
			}
			add("status", text, "")
		case "vehicle_id":
			if c.Old != nil && c.New != nil {
				add("vehicle", fmt.Sprintf("Vehicle %v instead of %v.", c.New, c.Old), fmt.Sprint(c.New))
			} else if c.New != nil && v.Action != record.ActionCreate {
				add("vehicle", fmt.Sprintf("Vehicle %v assigned.", c.New), fmt.Sprint(c.New))
			}
		case "charges":
			for _, line := range grown(c) {
				add("charge", chargeText(line), fmt.Sprint(line["id"]))
			}
		case "inspections":
			for _, i := range grown(c) {
				add("inspection", fmt.Sprintf("Inspection: %v.", i["type"]), fmt.Sprint(i["id"]))
			}
		case "corrections":
			for _, c := range after.Corrections[min(len(before.Corrections), len(after.Corrections)):] {
				add("correction", correctionText(&c, zone), "")
			}
		case "damages":
			for _, damage := range grown(c) {
				text := fmt.Sprintf("Damage: %v", damage["severity"])
				if what, ok := damage["description"].(string); ok && what != "" {
					text += ", " + strings.TrimSuffix(what, ".")
				}
				add("damage", text+".", fmt.Sprint(damage["id"]))
			}
		case "return_at":
			if v.Action != record.ActionCreate {
				add("change", fmt.Sprintf("Planned return %s instead of %s.", local(after.ReturnAt), local(before.ReturnAt)), "")
			}
		case "pickup_at":
			if v.Action != record.ActionCreate {
				add("change", fmt.Sprintf("Planned pickup %s instead of %s.", local(after.PickupAt), local(before.PickupAt)), "")
			}
		case "do_not_rent_matches":
			for i := range after.Listed {
				m := &after.Listed[i]
				add("do_not_rent", "The customer "+m.CustomerID+" "+rental.ListedText(m)+".", m.ListedID)
			}
			if after.Listed == nil {
				add("do_not_rent", "Nobody of it is on the do-not-rent list any more.", "")
			}
		case "overdue_noted_at":
			if c.New != nil {
				add("status", "Overdue.", "")
			}
		case "conflict":
			if c.New == true {
				add("status", "Overlaps something else that holds the vehicle.", "")
			} else if v.Action != record.ActionCreate {
				add("status", "Overlaps nothing any more.", "")
			}
		case "notes", "customer_id", "drivers", "extras", "pickup_location_id", "return_location_id", "promo_code",
			"protection_plan", "metadata", "custom_fields", "external_refs", "external_reservation_id", "delivery_address",
			"vehicle_class_id", "channel", "expected_mi":
			if v.Action != record.ActionCreate && !slices.Contains(other, top) {
				other = append(other, top)
			}
		}
	}
	if other != nil {
		add("change", "Changed: "+strings.Join(other, ", ")+".", "")
	}
	return all, nil
}

// handoverText tells when, where and with what on the odometer a vehicle changed hands, as the state that a booking
// came to has it.
func handoverText(b *record.Booking, status string, local func(record.Instant) string) string {
	at, place, miles := b.ActualPickupAt, b.PickupLocationID, b.PickupMileageMi
	switch status {
	case record.BookingCompleted:
		at, place, miles = b.ActualReturnAt, b.ReturnLocationID, b.ReturnMileageMi
	case record.BookingActive:
	default:
		return ""
	}
	text := ""
	if !at.IsZero() {
		text = " on " + local(at)
	}
	if place != "" {
		text += " at " + place
	}
	if miles != nil {
		text += fmt.Sprintf(", odometer %d mi", *miles)
	}
	return text
}

// depositText tells what was done with a deposit, and with how much of it; "" for nothing.
func depositText(before, after *record.Deposit) string {
	say := func(what string, minor int64) string {
		return fmt.Sprintf("Deposit %s: %s.", what,
			price.Format(record.Money{Amount: minor, Currency: after.Amount.Currency}))
	}
	captured, applied := after.Captured.Amount-before.Captured.Amount, after.Applied.Amount-before.Applied.Amount
	released := after.Released.Amount - before.Released.Amount
	switch {
	case captured != 0:
		return say("captured", captured)
	case applied != 0:
		return say("applied to what is owed", applied)
	case released != 0:
		return say("released", released)
	case before.Status != after.Status && after.Status == record.DepositNone:
		return "No deposit is needed any more."
	case before.Status != after.Status || before.Amount != after.Amount:
		return say(after.Status, after.Amount.Amount)
	}
	return ""
}

// statusText tells a state that a booking has come to.
func statusText(action, status string) string {
	if action == record.ActionCreate {
		return "Booked, " + status + "."
	}
	words := map[string]string{
		record.BookingConfirmed: "Confirmed.", record.BookingActive: "Picked up.", record.BookingCompleted: "Returned.",
		record.BookingCancelled: "Cancelled.",
		record.BookingNoShow:    "Nobody came.", record.BookingExpired: "The hold ran out.",
	}
	if text, ok := words[status]; ok {
		return text
	}
	return "Now " + status + "."
}

// grown are the members that a list has at its end since a change.
func grown(c record.Change) []map[string]any {
	before, _ := c.Old.([]any)
	after, _ := c.New.([]any)
	var all []map[string]any
	for _, v := range after[min(len(before), len(after)):] {
		if item, ok := v.(map[string]any); ok {
			all = append(all, item)
		}
	}
	return all
}

// correctionText tells what was corrected of the handovers of a booking, and why.
func correctionText(c *record.Correction, zone *time.Location) string {
	units := map[string][2]string{"mileage_mi": {"odometer", " mi"}, "fuel_pct": {"fuel", " %"},
		"battery_level": {"battery", " %"},
		"inspection_id": {"inspection", ""}, "return_location_id": {"location", ""}, "at": {"time", ""}}
	say := func(what string, v any) string {
		text, isText := v.(string)
		if at, err := time.Parse(time.RFC3339, text); isText && what == "at" && err == nil {
			return at.In(zone).Format("Mon 2006-01-02 15:04 MST")
		}
		if v == nil {
			return "none"
		}
		if n, isNumber := v.(float64); isNumber {
			return strconv.FormatFloat(n, 'f', -1, 64) + units[what][1]
		}
		return text
	}
	var parts []string
	for _, ch := range c.Changes {
		parts = append(parts, fmt.Sprintf("%s of %s at %s %s instead of %s", units[ch.What][0], ch.VehicleID, ch.Handover,
			say(ch.What, ch.Is), say(ch.What, ch.Was)))
	}
	return "Corrected: " + strings.Join(parts, "; ") + ". Reason: " + c.Reason
}

// chargeText tells a charge.
func chargeText(line map[string]any) string {
	var m record.Money
	if amount, ok := line["amount"].(map[string]any); ok {
		minor, _ := amount["amount"].(float64)
		m.Amount = int64(minor)
		m.Currency, _ = amount["currency"].(string)
	}
	if of, ok := line["reversal_of"].(string); ok && of != "" {
		return fmt.Sprintf("Charge reversed: %v, %s.", line["type"], price.Format(m))
	}
	words := "Charged"
	if m.Amount < 0 {
		if words, m.Amount = "Taken off", -m.Amount; line["type"] == "platform_fee" {
			words = "Kept by the channel"
		}
	}
	what := fmt.Sprint(line["type"])
	if name, ok := line["description"].(string); ok && what == "tax" && name != "" {
		what += " (" + name + ")"
	}
	return fmt.Sprintf("%s: %s, %s.", words, what, price.Format(m))
}
