package rent

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Toll is a toll or a fine as it is answered.
type Toll struct {
	ID string `json:"id" doc:"Identity." example:"tol_1234"`
	record.TollFields
	Object    string `json:"object" doc:"Always toll." example:"toll"`
	Status    string `json:"status" doc:"matched, unmatched, billed, paid, disputed or waived. More may be added." example:"matched"`
	VehicleID string `json:"vehicle_id,omitempty" doc:"That bore the plate." example:"veh_1234"`
	BookingID string `json:"booking_id,omitempty" doc:"That had the vehicle." example:"bkg_1234"`
	Unmatched string `json:"unmatched_because,omitempty" doc:"Why no booking was found, of one that is unmatched." example:"no vehicle had the plate 7ABC123 CA at that time"`
	ChargeID  string `json:"charge_id,omitempty" doc:"The line of the booking that charges it." example:"chg_1234"`
	Reason    string `json:"reason,omitempty" doc:"Of the dispute or the waiver."`
	rest.Stamps
}

// TollMatch is the body of the action that matches a toll.
type TollMatch struct {
	BookingID string `json:"booking_id,omitempty" doc:"The booking that it belongs to; found by plate and time unless given." example:"bkg_1234"`
}

// TollReason is the body of actions that need a reason.
type TollReason struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500"`
}

func (a *API) tollRoutes() {
	s := &rest.Resource[record.Toll]{
		Server: a.Server, Log: a.desk.Tolls, Listing: &query.Tolls,
		Titles:   rest.Titles{Path: "/v1/tolls", Tag: "Tolls", Noun: "toll", Nouns: "tolls"},
		Scope:    rest.Scopes{Read: auth.FinanceRead, Write: auth.FinanceWrite},
		Views:    rest.Views{View: Toll{}, Fields: record.TollFields{}, States: record.TollStates},
		Writable: func(t *record.Toll) any { return &t.TollFields },
		Make: func(_ *http.Request, object map[string]any) (record.Toll, error) {
			t := record.Toll{Status: record.TollImported}
			return t, a.DecodeObject(object, &t.TollFields)
		},
		Show:    a.showTolls,
		Prepare: a.prepareToll,
		MayArchive: rest.ArchiveIf(func(_ *http.Request, rec *record.Record[record.Toll]) error {
			if len(ledger.OfToll(&rec.Body, time.UTC)) == 0 {
				return nil
			}
			return fleet.NewError(fleet.CodeConflict,
				"The toll "+fleet.FormatID(fleet.TollPrefix, rec.ID)+" is "+rec.Body.Status+
					", and its cost is in the books. Dispute it, which takes the cost back, and archive it then; one that is paid or waived stays.")
		}),
	}
	s.Register()
	a.tollActions(s)
}

func (a *API) tollActions(s *rest.Resource[record.Toll]) {
	type rec = record.Record[record.Toll]
	type asked = rest.Call[record.Toll]
	const unreachable = "A state that cannot be reached"
	move := func(c *asked, to string, reason *string) (rec, error) {
		return c.Update(func(rec *rec) error {
			if reason != nil {
				rec.Body.Reason = *reason
			}
			return rec.Body.Move(fleet.FormatID(fleet.TollPrefix, rec.ID), to)
		})
	}
	rest.Act(s, rest.Action[record.Toll, TollReason]{
		Verb: "dispute", Summary: "Dispute a toll or fine", Refuses: unreachable,
		Do: func(c *asked, sent TollReason) (rec, error) { return move(c, record.TollDisputed, &sent.Reason) },
	})
	rest.Act(s, rest.Action[record.Toll, TollReason]{
		Verb: "waive", Summary: "Waive a toll or fine", Refuses: unreachable,
		About: "What was charged to the booking stays there: reverse the charge if it is not to be paid.",
		Do:    func(c *asked, sent TollReason) (rec, error) { return move(c, record.TollWaived, &sent.Reason) },
	})
	rest.Act(s, rest.Action[record.Toll, rest.NoBody]{
		Verb: "pay", Summary: "Note that a billed toll or fine was paid", Refuses: unreachable,
		Do: func(c *asked, _ rest.NoBody) (rec, error) { return move(c, record.TollPaid, nil) },
	})
	rest.Act(s, rest.Action[record.Toll, rest.NoBody]{
		Verb: "bill", Summary: "Charge a matched toll or fine to its booking", Refuses: unreachable,
		Do: func(c *asked, _ rest.NoBody) (rec, error) {
			return a.desk.BillToll(c.Context(), c.By, c.Account, c.ID, c.CheckRecord)
		},
	})
	rest.Act(s, rest.Action[record.Toll, TollMatch]{
		Verb: "match", Summary: "Match a toll or fine with the booking that caused it", Optional: true, Refuses: unreachable,
		About: "By plate and region among the vehicles of that time, and the booking from whose actual pickup until whose actual return it happened; or by hand with `booking_id`. A disputed one of which no booking is found stays disputed: 409.",
		Do:    a.matchToll,
	})
}

// prepareToll refuses what the schema cannot, and matches a toll that is new, or whose plate, region or time changed.
func (a *API) prepareToll(r *http.Request, _ uint64, before, after *record.Toll) error {
	if after.Amount.Amount <= 0 {
		return fleet.Invalid(fleet.FieldError{Pointer: "/amount/amount", Code: "invalid", Detail: "must be positive"})
	}
	if f := after.AdminFee; f != nil && (f.Amount < 0 || f.Currency != after.Amount.Currency) {
		return fleet.Invalid(fleet.FieldError{Pointer: "/admin_fee", Code: "invalid",
			Detail: "must not be negative, and of the currency of amount"})
	}
	if after.OccurredAt.IsZero() {
		return fleet.Invalid(fleet.FieldError{Pointer: "/occurred_at", Code: "required", Detail: "must be given"})
	}
	if after.PaidOn != "" {
		if faults := dayFaults("/paid_on", after.PaidOn); faults != nil {
			return fleet.Invalid(faults...)
		}
	}
	if before != nil {
		if before.ChargeID != "" && (before.Amount != after.Amount || !reflect.DeepEqual(before.AdminFee, after.AdminFee) ||
			before.Plate != after.Plate || before.OccurredAt != after.OccurredAt) {
			return fleet.NewError(fleet.CodeConflict,
				"The toll was charged to a booking; its amount, admin_fee, plate and time cannot be changed any more.")
		}
		if before.Plate == after.Plate && before.Region == after.Region && before.OccurredAt == after.OccurredAt {
			return nil
		}
		if after.Status != record.TollMatched && after.Status != record.TollUnmatched {
			return nil
		}
	}
	return a.findToll(r.Context(), auth.From(r.Context()).Account, after)
}

// findToll looks for the booking of a toll, and notes under what it is booked.
func (a *API) findToll(ctx context.Context, account fleet.AccountID, t *record.Toll) error {
	if err := a.desk.MatchToll(ctx, account, t); err != nil {
		return err
	}
	return a.desk.Books.BookedNow(ctx, account, &t.BookedFor, t.VehicleID)
}

func (a *API) matchToll(c *rest.Call[record.Toll], sent TollMatch) (record.Record[record.Toll], error) {
	var booking record.Record[record.Booking]
	if sent.BookingID != "" {
		id, err := fleet.ParseID(fleet.BookingPrefix, sent.BookingID)
		if err == nil {
			booking, err = a.desk.Bookings.Get(c.Context(), c.Account, id)
		}
		if err != nil && (fleet.CodeOf(err) == fleet.CodeNotFound || fleet.CodeOf(err) == "" && id == 0) {
			return record.Record[record.Toll]{}, fleet.Invalid(fleet.NoSuch("/booking_id", "booking",
				fleet.BookingPrefix, sent.BookingID))
		}
		if err != nil {
			return record.Record[record.Toll]{}, err
		}
	}
	return c.Update(func(rec *record.Record[record.Toll]) error {
		trial := rec.Body
		if trial.Status == record.TollMatched {
			trial.Status = record.TollUnmatched // matching again is no step of its own
		}
		if err := trial.Move(fleet.FormatID(fleet.TollPrefix, rec.ID), record.TollMatched); err != nil {
			return err
		}
		if sent.BookingID != "" {
			rec.Body.BookingID, rec.Body.Status, rec.Body.Unmatched = sent.BookingID, record.TollMatched, ""
			if vehicle := desk.VehicleAt(&booking.Body, rec.Body.OccurredAt.Time); vehicle != "" {
				rec.Body.VehicleID = vehicle // whatever the plate says: somebody has looked
			}
			return a.desk.Books.BookedNow(c.Context(), c.Account, &rec.Body.BookedFor, rec.Body.VehicleID)
		}
		disputed := rec.Body.Status == record.TollDisputed
		if err := a.findToll(c.Context(), c.Account, &rec.Body); err != nil {
			return err
		}
		if disputed && rec.Body.Status == record.TollUnmatched {
			return fleet.NewError(fleet.CodeConflict, "The toll stays disputed, for "+rec.Body.Unmatched+
				". Name its booking with booking_id to end the dispute, or waive it.")
		}
		return nil
	})
}

func (a *API) showTolls(ctx context.Context, records []record.Record[record.Toll], _ []string) ([]rest.Shown, error) {
	views := make([]rest.Shown, len(records))
	tolls := make([]Toll, len(records))
	var texts []*string
	for i, rec := range records {
		b := rec.Body
		if b.Status != record.TollUnmatched {
			b.Unmatched = ""
		}
		tolls[i] = Toll{ID: fleet.FormatID(fleet.TollPrefix, rec.ID), TollFields: b.TollFields, Object: "toll",
			Status: b.Status, VehicleID: b.VehicleID,
			BookingID: b.BookingID, Unmatched: b.Unmatched, ChargeID: b.ChargeID, Reason: b.Reason, Stamps: rest.StampsOf(rec)}
		if b.Unmatched != "" {
			texts = append(texts, &tolls[i].Unmatched)
		}
	}
	if texts != nil {
		a.NameIDs(ctx, records[0].Account, rest.MayHear(ctx), texts...)
	}
	for i := range tolls {
		views[i].View = tolls[i]
	}
	return views, nil
}
