package fleet

import "sort"

// Assignment says that a device was on a vehicle during [From, To). From 0 means since ever, To 0 means until further
// notice.
type Assignment struct {
	Vehicle  VehicleID
	From, To Millis
}

// Device is a registered tracker as the pipeline needs to know it.
type Device struct {
	ID          DeviceID
	Account     AccountID
	UniqueID    string
	Assignments []Assignment // ordered by From, not overlapping
	Retention   Millis       // age beyond which the account keeps no fixes; 0 keeps all
	Since       Millis       // from when on what came under the unique id is the account's; 0 since ever
}

// Sent says whether what came at a time (0 for unknown) is the device's as its account has it: not what came before the
// account had the unique id, unless an operator gave that to it.
func (d *Device) Sent(received Millis) bool { return received == 0 || received >= d.Since }

// VehicleAt returns the vehicle that the device was on at an instant, or zero.
func (d *Device) VehicleAt(t Millis) VehicleID {
	// The last assignment that starts at or before t is the only one that can hold it.
	i := sort.Search(len(d.Assignments), func(i int) bool { return d.Assignments[i].From > t }) - 1
	if i < 0 {
		return 0
	}
	if a := d.Assignments[i]; a.To == 0 || t < a.To {
		return a.Vehicle
	}
	return 0
}
