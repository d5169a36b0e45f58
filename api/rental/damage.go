package rental

import (
	"slices"

	"github.com/motorpool/fleet/api/record"
)

// The states of a damage.
const (
	DamageReported = "reported"
	DamageAssessed = "assessed"
	DamageCharged  = "charged"
	DamageWaived   = "waived"
	DamageRepaired = "repaired"
	DamageClosed   = "closed"
)

// damageMoves says what may become of a damage:
//
//	reported ──► assessed ──► charged ──► repaired ──► closed
//	    └────────────┴──────► waived ─────────┘
//
// A damage may be charged or waived without an assessment, and closed without a repair.
var damageMoves = map[string][]string{
	DamageReported: {DamageAssessed, DamageCharged, DamageWaived},
	DamageAssessed: {DamageCharged, DamageWaived},
	DamageCharged:  {DamageRepaired, DamageClosed},
	DamageWaived:   {DamageRepaired, DamageClosed},
	DamageRepaired: {DamageClosed},
	DamageClosed:   {},
}

// SetDamage moves a damage to another state; a *record.TransitionError says that its state does not allow it.
func SetDamage(d *record.Damage, to string) error {
	if !slices.Contains(damageMoves[d.Status], to) {
		return &record.TransitionError{What: "damage " + d.ID, Current: d.Status, Wanted: to,
			Allowed: append([]string{}, damageMoves[d.Status]...)}
	}
	d.Status = to
	return nil
}
