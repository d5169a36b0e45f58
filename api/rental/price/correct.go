package price

import (
	"slices"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// corrected stands before the sums in the explanation of a line that a correction adds.
const corrected = "Corrected: "

// PickedUpInstead works out the price of a rental of which was noted wrongly when its vehicle was taken. What the time
// that was noted first added to the price is taken back, and what the right one adds is added, as PickedUp does; early
// says whether the right one is so early that days are charged for. The charges make of the old price the new one.
func PickedUpInstead(s *record.RateSnapshot, a Agreed, at time.Time,
	early bool) (record.RateSnapshot, []record.Charge, error) {
	next, err := notPickedUp(s, a)
	if err == nil && early {
		next, _, err = PickedUp(&next, a, at)
	}
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	var c calc
	charges := c.difference(s, &next)
	for i := range charges {
		charges[i].Explanation = corrected + charges[i].Explanation
	}
	return next, charges, c.err()
}

// notPickedUp is a price without what an early pickup added to it.
func notPickedUp(s *record.RateSnapshot, a Agreed) (record.RateSnapshot, error) {
	if s.Basis.AgreedPickupAt.IsZero() {
		return *s, nil
	}
	early, err := again(s)
	if err != nil {
		return record.RateSnapshot{}, err
	}
	agreed := early
	agreed.PickupAt, agreed.AgreedPickupAt, agreed.EarlyDays = agreed.AgreedPickupAt, record.Instant{}, 0
	if !a.kept(&s.Basis) {
		return Quote(agreed)
	}
	early.ReturnAt = record.InstantOf(a.ReturnAt)
	agreed.ReturnAt = early.ReturnAt
	days, err := daysFor(&early)
	if err != nil {
		return record.RateSnapshot{}, err
	}
	from, err := quote(early, days)
	if err != nil {
		return record.RateSnapshot{}, err
	}
	to, err := quote(agreed, max(1, days-s.Basis.EarlyDays))
	if err != nil {
		return record.RateSnapshot{}, err
	}
	next := *s
	next.Basis.PickupAt, next.Basis.AgreedPickupAt, next.Basis.EarlyDays = agreed.PickupAt, record.Instant{}, 0
	next.Days = slices.Clone(s.Days[min(s.Basis.EarlyDays, len(s.Days)):])
	_, err = add(&next, &from, &to)
	return next, err
}

// AtReturnInstead returns what makes of the charges that a return has added to those of a snapshot, had, the ones that
// it ought to have added, as AtReturn has them: for each sort of line the difference of the sums, none where they are
// the same. Lines of had that take back others of them say what was waived: that stays waived, and nobody is paid for
// it. Taxes are for Retax.
func AtReturnInstead(s *record.RateSnapshot, a Agreed, r Returned, had []record.Charge) ([]record.Charge, error) {
	is, err := AtReturn(s, a, r)
	if err != nil {
		return nil, err
	}
	isTax := func(l record.Charge) bool { return l.Type == lineTax }
	is, had = slices.DeleteFunc(is, isTax), slices.DeleteFunc(slices.Clone(had), isTax)
	why := map[string]string{}
	for i := range is {
		why[is[i].Type] = is[i].Explanation + " "
	}
	var c calc
	lines := c.instead(s.Currency, had, append(is, c.waived(is, had)...), func(kind string) string {
		if kind == linePlatform {
			return corrected
		}
		return corrected + why[kind]
	})
	for i := range lines {
		perUnit(&lines[i], is, had)
	}
	return c.finish(s.Currency, lines), c.err()
}

// waived returns what is to be added to lines, so that they leave out what was waived of those that there were: of each
// sort no more than there would be of it.
func (c *calc) waived(is, had []record.Charge) []record.Charge {
	whole, off := map[lineKey]int64{}, map[lineKey]int64{}
	for i := range is {
		whole[keyOf(&is[i])] = c.add(whole[keyOf(&is[i])], is[i].Amount.Amount)
	}
	for i := range had {
		if had[i].ReversalOf != "" {
			off[keyOf(&had[i])] = c.add(off[keyOf(&had[i])], -had[i].Amount.Amount)
		}
	}
	var lines []record.Charge
	for i := range had {
		l := had[i]
		k := keyOf(&l)
		if off[k] != 0 {
			l.Amount.Amount = c.add(remains(whole[k], off[k]), -whole[k])
			lines = append(lines, l)
			delete(off, k)
		}
	}
	return lines
}

// remains is what is left of an amount of which some was waived: nothing, if that is more than there is.
func remains(whole, waived int64) int64 {
	return min(max(whole-waived, min(0, whole)), max(0, whole))
}

// perUnit has a line that is a number of units say so: miles, days, percent of a tank.
func perUnit(line *record.Charge, all ...[]record.Charge) {
	for _, lines := range all {
		for i := range lines {
			unit := lines[i].UnitPrice.Amount
			if line.Type != linePlatform && lines[i].Type == line.Type && unit > 0 && line.UnitPrice.Amount%unit == 0 {
				line.Quantity, line.UnitPrice = line.UnitPrice.Amount/unit, lines[i].UnitPrice
				return
			}
		}
	}
}
