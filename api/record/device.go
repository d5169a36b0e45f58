package record

import (
	"slices"
	"time"

	"github.com/motorpool/fleet"
)

// DeviceFields are what callers write of a tracker.
type DeviceFields struct {
	UniqueID     string            `json:"unique_id" minLength:"1" maxLength:"128" doc:"What the tracker calls itself: an IMEI or the like. Unique over all accounts. What it sent before the account registered it here is the account's only if an operator has said that the tracker is." example:"352093081452251"`
	Name         string            `json:"name,omitempty" maxLength:"100"`
	Protocol     string            `json:"protocol,omitempty" maxLength:"50" example:"osmand"`
	Model        string            `json:"model,omitempty" maxLength:"100" example:"FMC130"`
	NoDataS      *float64          `json:"no_data_s,omitempty" minimum:"30" maximum:"604800" doc:"Silence of this tracker, in seconds, from which on nothing is known of its vehicle. Unless given: as the vehicle or the account say, else three of the tracker's own intervals as they are learnt from its fixes, at least 300."`
	OnlineWithin int               `json:"online_within_s,omitempty" minimum:"60" maximum:"604800" doc:"For how many seconds it may be silent and still be online; as the account says unless given." example:"900"`
	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// Device is a tracker as it is stored.
type Device struct {
	DeviceFields
	Assignments       []Assignment `json:"assignments,omitempty"` // by From, not overlapping
	OsmandTokenSHA256 string       `json:"osmand_token_sha256,omitempty"`
	// when it got its unique id; null: it always had this one
	UniqueSince   Instant `json:"unique_since,omitzero"`
	ArchiveReason string  `json:"archive_reason,omitempty"` // for people, if it was not archived by its account
}

// Assignment says that the device was on a vehicle during [From, To). A null From means since ever, a null To until
// further notice.
type Assignment struct {
	VehicleID string  `json:"vehicle_id" doc:"The vehicle." example:"veh_1234"`
	From      Instant `json:"from" doc:"Null means since ever."`
	To        Instant `json:"until" doc:"Null means until further notice."`
}

// Devices describes the kind.
var Devices = Kind[Device]{
	Name: "device", Prefix: fleet.DevicePrefix, Hidden: []string{"osmand_token_sha256", "unique_since"},
	Claims: func(d *Device) []Claim {
		unique := Claim{Field: "device.unique_id", Value: d.UniqueID, Global: true, Says: "/unique_id"}
		return append([]Claim{unique}, refClaims("device", d.ExternalRefs)...)
	},
}

// Assign puts the device on a vehicle from an instant on (zero: since ever). Whatever it is on then and until further
// notice ends there. An assignment that begins later, or one with an end behind it, is a conflict. Assigning
// it again to the vehicle that it is on changes nothing.
func (d *Device) Assign(vehicle fleet.VehicleID, from time.Time) error {
	from = InstantOf(from).Time
	for i := range d.Assignments {
		a := &d.Assignments[i]
		if !a.To.IsZero() && !a.To.After(from) {
			continue // over by then
		}
		if !a.From.After(from) && a.To.IsZero() && a.VehicleID == vehicle.String() {
			return nil // on it at that instant and until further notice
		}
		if !a.To.IsZero() || !a.From.Before(from) {
			return fleet.NewError(fleet.CodeConflict,
				"The device is on "+a.VehicleID+" at or after that time. Choose a later time.",
				fleet.FieldError{Pointer: "/from", Code: "overlap", Detail: "overlaps an assignment to " + a.VehicleID})
		}
		a.To = Instant{from}
	}
	d.Assignments = append(d.Assignments, Assignment{VehicleID: vehicle.String(), From: InstantOf(from)})
	return nil
}

// Unassign takes the device off the vehicle that it is on until further notice, at an instant. There must be one, and
// it must have begun before.
func (d *Device) Unassign(at time.Time) error {
	at = InstantOf(at).Time
	i := slices.IndexFunc(d.Assignments, func(a Assignment) bool { return a.To.IsZero() })
	if i < 0 {
		return fleet.NewError(fleet.CodeConflict, "The device is on no vehicle.")
	}
	if a := &d.Assignments[i]; a.From.Before(at) {
		a.To = Instant{at}
		return nil
	}
	return fleet.NewError(fleet.CodeConflict, "The assignment begins at or after that time.",
		fleet.FieldError{Pointer: "/at", Code: "too_early", Detail: "not after the beginning of the assignment"})
}

// Leave takes the device off every vehicle from an instant on, for a reason that its account is told.
func (d *Device) Leave(at time.Time, reason string) {
	at = InstantOf(at).Time
	d.ArchiveReason = reason
	d.Assignments = slices.DeleteFunc(d.Assignments, func(a Assignment) bool {
		return !a.From.Before(at) && !a.From.IsZero()
	})
	for i := range d.Assignments {
		if a := &d.Assignments[i]; a.To.IsZero() || a.To.After(at) {
			a.To = Instant{at}
		}
	}
}

// VehicleNow returns the id of the vehicle that the device is on at an instant, or "".
func (d *Device) VehicleNow(at time.Time) string {
	for _, a := range d.Assignments {
		if !a.From.After(at) && (a.To.IsZero() || at.Before(a.To.Time)) {
			return a.VehicleID
		}
	}
	return ""
}
