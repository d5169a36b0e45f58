package rental

import (
	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// The states of an inspection.
//
//	draft ──► submitted
const (
	InspectionDraft     = "draft"
	InspectionSubmitted = "submitted"
)

// InspectionStates lists every state of an inspection.
var InspectionStates = []string{InspectionDraft, InspectionSubmitted}

// inspectionMoves says from which state an inspection may go where.
var inspectionMoves = map[string]map[string]string{InspectionDraft: {InspectionSubmitted: InspectionSubmitted}}

// SubmitInspection submits an inspection. One that is not a draft is refused with a *record.TransitionError, one that
// nobody signed or that looked at nothing with a *fleet.Error of the code fleet.CodeValidation.
func SubmitInspection(id uint64, i *record.VehicleInspection, at record.Instant) error {
	if _, ok := inspectionMoves[i.Status][InspectionSubmitted]; !ok {
		return &record.TransitionError{What: "inspection " + fleet.FormatID(fleet.InspectionPrefix, id), Current: i.Status,
			Wanted:  InspectionSubmitted,
			Allowed: others(i.Status, inspectionMoves[i.Status], InspectionStates)}
	}
	var missing []fleet.FieldError
	if i.SignedBy == "" {
		missing = append(missing,
			fleet.FieldError{Pointer: "/signed_by", Code: "required", Detail: "is needed to submit the inspection"})
	}
	if len(i.Items) == 0 {
		missing = append(missing,
			fleet.FieldError{Pointer: "/items", Code: "required", Detail: "must have one at least to submit the inspection"})
	}
	if missing != nil {
		return fleet.Invalid(missing...)
	}
	i.Status, i.StatusSince, i.SubmittedAt = InspectionSubmitted, at, at
	return nil
}

// FoundIn returns what an inspection found: for each item that failed the issue that it is worth.
func FoundIn(id uint64, i *record.VehicleInspection) []record.Issue {
	var found []record.Issue
	for _, item := range i.Items {
		if item.Result != "fail" {
			continue
		}
		issue := record.Issue{Status: IssueOpen, StatusSince: i.SubmittedAt,
			InspectionID: fleet.FormatID(fleet.InspectionPrefix, id)}
		issue.VehicleID, issue.BookingID, issue.ReportedBy = i.VehicleID, i.BookingID, i.SignedBy
		issue.Category, issue.Severity, issue.Photos = "inspection", item.Severity, item.Photos
		issue.Description = item.Point
		if item.Note != "" {
			issue.Description += ": " + item.Note
		}
		if issue.Severity == "" {
			issue.Severity = "medium"
		}
		found = append(found, issue)
	}
	return found
}
