package yard

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// inspections has issues, meter readings and the states of vehicles follow from inspections that are submitted.
func (d *Yard) inspections() {
	d.Store.Then(record.Inspections.Name, "issues", d.inspectionFinds)
	d.Store.Then(record.Inspections.Name, "meter readings", d.inspectionReads)
	d.Store.Then(record.Inspections.Name, "levels", d.inspectionLevels)
	d.Store.Then(record.Inspections.Name, "vehicle states", d.inspectionMoves)
}

// SubmitInspection submits an inspection, as a change of its record: it names the issues that follow.
func (d *Yard) SubmitInspection(r *record.Record[record.VehicleInspection]) error {
	if err := rental.SubmitInspection(r.ID, &r.Body, record.InstantOf(d.Now())); err != nil {
		return err
	}
	r.Body.IssueIDs = nil
	for n := range rental.FoundIn(r.ID, &r.Body) {
		r.Body.IssueIDs = append(r.Body.IssueIDs, fleet.FormatID(fleet.IssuePrefix, foundID(r, n)))
	}
	return nil
}

// foundID names the n-th issue that a submitted inspection finds.
func foundID(r *record.Record[record.VehicleInspection], n int) uint64 {
	return fleet.DerivedID(fleet.Kind(fmt.Sprintf("inspection issue %d", n)), fleet.VehicleKey{Account: r.Account},
		fleet.MillisOf(r.Body.SubmittedAt.Time), r.ID)
}

// inspectionFinds opens the issues that the revision names by which an inspection was submitted, each once: those that
// are there by now are left as they stand.
func (d *Yard) inspectionFinds(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.VehicleInspection](w)
	if err != nil || after.Status != rental.InspectionSubmitted ||
		before != nil && before.Status == rental.InspectionSubmitted {
		return err
	}
	found := rental.FoundIn(w.ID, after)
	if len(found) != len(after.IssueIDs) {
		return fmt.Errorf("inspection %d names %d issues for %d items that failed", w.ID, len(after.IssueIDs), len(found))
	}
	for n, issue := range found {
		id, err := fleet.ParseID(fleet.IssuePrefix, after.IssueIDs[n])
		if err != nil {
			return err
		}
		if _, _, err := d.Issues.Create(ctx, w.System(), w.Account, id, issue); err != nil {
			return err
		}
	}
	return nil
}

// inspectionReads writes the odometer as an inspection tells it when it is submitted.
func (d *Yard) inspectionReads(ctx context.Context, w record.Written) error {
	return reads(ctx, d, d.Inspections, w, toldByInspection)
}

// inspectionMoves ends the turnaround of a vehicle that was looked at after it came back, and at which nothing was
// found: by an inspection outside the handover as by one that its booking has. One that names another booking than the
// vehicle came back from says nothing of it.
func (d *Yard) inspectionMoves(ctx context.Context, w record.Written) error {
	_, i, err := record.Bodies[record.VehicleInspection](w)
	if err != nil || i.Type != "return" || i.Status != rental.InspectionSubmitted || rental.FoundIn(w.ID, i) != nil {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, i.VehicleID)
	if err != nil {
		return err
	}
	return d.follow(ctx, w.System(), w.Account, vehicle, func(r *record.Record[record.Vehicle]) error {
		v := &r.Body
		if v.Status != record.VehicleTurnaround || i.SubmittedAt.Before(v.StatusSince.Time) ||
			i.BookingID != "" && i.BookingID != v.StatusCause {
			return nil
		}
		v.StatusUntil = record.InstantOf(d.Now())
		return d.endTurnaround(ctx, r, "inspected")
	})
}
