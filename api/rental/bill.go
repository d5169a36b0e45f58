package rental

import "github.com/motorpool/fleet/api/record"

// Standing returns the charges that were neither reversed nor are reversals, in their order.
func Standing(charges []record.Charge) []record.Charge {
	reversed := map[string]bool{}
	for _, c := range charges {
		reversed[c.ReversalOf] = true
	}
	var standing []record.Charge
	for _, c := range charges {
		if c.ReversalOf == "" && !reversed[c.ID] {
			standing = append(standing, c)
		}
	}
	return standing
}

// Reversal returns the charge that takes another back: the same with the opposite amount. It gets an id
// when it is posted.
func Reversal(c *record.Charge) record.Charge {
	back := *c
	back.ID, back.ReversalOf, back.PostedAt, back.At = "", c.ID, record.Instant{}, record.Instant{}
	back.Quantity = -c.Quantity
	back.Amount.Amount = -c.Amount.Amount
	back.Explanation = "Takes back " + c.ID + "."
	return back
}
