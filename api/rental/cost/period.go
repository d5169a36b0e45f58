package cost

import (
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// monthsOf says how many months a period has.
var monthsOf = map[string]int{"month": 1, "quarter": 3, "half_year": 6, "year": 12}

// periods are the periods of so many months from a day on, each with its amount, those that begin through another day
// and before the end, 0 for none, and before the vehicle is gone. One that the end cuts short has its share by days.
// One in which the vehicle goes was paid by then: the share of the days that are left is refunded on that day, and what
// the books had said before stays.
func periods(what What, category string, amount record.Money, every int, from, end, gone, through ledger.Day) []Item {
	if from == 0 || every == 0 || amount.Amount <= 0 {
		return nil
	}
	var items []Item
	for n := 1; ; n++ {
		begin, next := from.AddMonths((n-1)*every), from.AddMonths(n*every)
		if begin > through || !next.Known() || end != 0 && begin >= end || gone != 0 && begin >= gone {
			return items
		}
		part := amount
		if until := before(next, end); until < next {
			part.Amount = share(amount.Amount, int64(until-begin), int64(next-begin))
			next = until
		}
		if part.Amount > 0 {
			item := Item{What: what, Number: n, Category: category, Due: begin, On: begin, From: begin, To: next - 1,
				Amount: part}
			if gone != 0 && gone < next {
				back := part
				if back.Amount -= firstDays(part.Amount, int64(next-begin), int64(gone-begin)); back.Amount > 0 {
					item.Refunded = &record.Refunded{On: gone.String(), Amount: back}
				}
			}
			items = append(items, item)
		}
	}
}

// insurance are the premiums of a vehicle, each paid at the beginning of its period.
func insurance(v *record.VehicleFields, gone, through ledger.Day, lacks map[What]string) []Item {
	in := v.Insurance
	if in == nil || in.Premium == nil {
		return nil
	}
	if day(in.StartsOn) == 0 || in.Period == "" {
		lacks[Insurance] = "insurance.from and insurance.period say when the premium is due"
		return nil
	}
	end := ledger.Day(0)
	if until := day(in.EndsOn); until != 0 {
		end = until + 1
	}
	return periods(Insurance, categories[Insurance], *in.Premium, monthsOf[in.Period], day(in.StartsOn), end, gone,
		through)
}

// lease are the rates of a leased vehicle, each paid at the beginning of its month.
func lease(v *record.VehicleFields, gone, through ledger.Day, lacks map[What]string) []Item {
	f := v.Financing
	if f == nil || f.MonthlyPayment == nil || v.Ownership != "leased" {
		return nil
	}
	from, end := day(f.FirstPaymentOn), ledger.Day(0)
	if from == 0 {
		lacks[Lease] = "financing.first_payment_on says when the rates begin"
		return nil
	}
	if f.TermMonths > 0 {
		end = from.AddMonths(f.TermMonths)
	}
	return periods(Lease, categories[Lease], *f.MonthlyPayment, 1, from, end, gone, through)
}

// OfRecurring returns what a recurring cost asks for through a day. vehicle is the one that it names; nil for none. It
// ends when that is disposed of. What somebody has posted for the vehicle in a period, of the category and amount, is
// taken for the cost of that period, also where it is what is left of the amount because the vehicle went, as days have
// it or rounded once; for the business as a whole it must be of the vendor, too.
func OfRecurring(
	r *record.RecurringCostFields, vehicle *record.VehicleFields, posted []Posted, through ledger.Day,
) Schedule {
	end := ledger.Day(0)
	if until := day(r.Until); until != 0 {
		end = until + 1
	}
	gone := ledger.Day(0)
	if vehicle != nil {
		gone = day(vehicle.DisposalOn)
	}
	items := periods(Recurring, r.Category, r.Amount, monthsOf[r.Every], day(r.From), end, gone, through)
	byHand(items, posted, func(i *Item, p *Posted) bool {
		left, cut := i.Amount, i.Amount
		if i.Refunded != nil {
			left.Amount -= i.Refunded.Amount.Amount
			cut.Amount = share(i.Amount.Amount, int64(gone-i.From), int64(i.To+1-i.From))
		}
		return (p.Amount == i.Amount || p.Amount == left || p.Amount == cut) && (r.VehicleID != "" || p.Vendor == r.Vendor)
	})
	return Schedule{Items: items}
}
