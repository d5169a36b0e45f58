package rent

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Issue is something that is wrong with a vehicle as it is answered.
type Issue struct {
	ID string `json:"id" doc:"Identity." example:"iss_1234"`

	record.IssueFields

	Object      string         `json:"object" doc:"Always issue." example:"issue"`
	Status      string         `json:"status" doc:"open, in_progress, resolved or wont_fix. While one of severity safety_critical is open or in progress, the vehicle does not become available, and is not handed over." example:"open"`
	StatusSince record.Instant `json:"status_since"`
	Resolution  string         `json:"resolution,omitempty"`
	WorkOrderID string         `json:"work_order_id,omitempty" doc:"The work order in which it is to be done, or was." example:"wo_1234"`

	InspectionID string `json:"inspection_id,omitempty" doc:"The inspection in which it was found, if it was." example:"ins_1234"`
	AlertID      string `json:"alert_id,omitempty" doc:"The alert for which it was opened, if it was." example:"alr_1234"`

	rest.Stamps
}

// IssueEnd is the body of the actions that end an issue.
type IssueEnd struct {
	Resolution string `json:"resolution" minLength:"1" maxLength:"2000" doc:"What was done, or why nothing is."`
}

func (a *API) issueRoutes() {
	s := &rest.Resource[record.Issue]{
		Server: a.Server, Log: a.desk.Issues, Listing: &query.Issues,
		Titles:   rest.Titles{Path: "/v1/maintenance/issues", Tag: "Maintenance", Noun: "issue", Nouns: "issues"},
		Scope:    rest.Scopes{Read: auth.MaintenanceRead, Write: auth.MaintenanceWrite},
		Views:    rest.Views{View: Issue{}, Fields: record.IssueFields{}, States: rental.IssueStates},
		Writable: func(b *record.Issue) any { return &b.IssueFields },
		Make: func(_ *http.Request, object map[string]any) (record.Issue, error) {
			b := record.Issue{Status: rental.IssueOpen, StatusSince: record.InstantOf(a.Now())}
			return b, a.DecodeObject(object, &b.IssueFields)
		},
		Prepare: func(r *http.Request, _ uint64, before, after *record.Issue) error {
			if after.Severity == "" {
				after.Severity = "medium"
			}
			if before != nil && before.VehicleID != after.VehicleID {
				return fleet.Invalid(fleet.FieldError{Pointer: "/vehicle_id", Code: "fixed",
					Detail: "an issue stays with its vehicle"})
			}
			if err := a.ofVehicle(r, after.VehicleID); err != nil {
				return err
			}
			return a.CheckBooking(r, after.BookingID, "/booking_id")
		},
		Show: rest.ShowEach(func(rec record.Record[record.Issue]) any {
			b := rec.Body
			return Issue{ID: fleet.FormatID(fleet.IssuePrefix, rec.ID), IssueFields: b.IssueFields, Object: "issue",
				Status: b.Status, StatusSince: b.StatusSince,
				Resolution: b.Resolution, WorkOrderID: b.WorkOrderID, InspectionID: b.InspectionID, AlertID: b.AlertID,
				Stamps: rest.StampsOf(rec)}
		}),
	}
	s.Register()
	type rec = record.Record[record.Issue]
	type asked = rest.Call[record.Issue]
	move := func(c *asked, to, resolution string) (rec, error) {
		return c.Update(func(rec *rec) error {
			if rec.Body.Status == to {
				return nil // repeated: what was said first holds
			}
			rec.Body.Resolution = resolution
			return rental.MoveIssue(rec.ID, &rec.Body, to, record.InstantOf(a.Now()))
		})
	}
	rest.Act(s, rest.Action[record.Issue, rest.NoBody]{
		Verb: "start", Summary: "Begin with an issue", Refuses: rest.OtherState,
		Do: func(c *asked, _ rest.NoBody) (rec, error) { return move(c, rental.IssueInProgress, "") },
	})
	rest.Act(s, rest.Action[record.Issue, IssueEnd]{
		Verb: "resolve", Summary: "Resolve an issue", Refuses: rest.OtherState,
		Do: func(c *asked, sent IssueEnd) (rec, error) { return move(c, rental.IssueResolved, sent.Resolution) },
	})
	rest.Act(s, rest.Action[record.Issue, IssueEnd]{
		Verb: "wont_fix", Summary: "Decide that nothing is done about an issue", Refuses: rest.OtherState,
		Do: func(c *asked, sent IssueEnd) (rec, error) { return move(c, rental.IssueWontFix, sent.Resolution) },
	})
}
