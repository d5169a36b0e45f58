package price

import (
	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// lineAdjustment is the one sort of line that may raise what is owed or lower it, as its sign says.
const lineAdjustment = "adjustment"

// Lowers says whether lines of a type take something off what is owed: whoever posts one means less, whatever sign it
// has.
func Lowers(kind string) bool { return kind == lineDiscount || kind == linePromo }

// ByHand returns what is posted for a line that somebody charged beside others: the line with the sign of its type, and
// the taxes that are due on it, or that are due no longer. A discount takes off no more than the others come to before
// taxes, and of all other lines an adjustment alone may be negative, down to what they come to with taxes; else it is a
// *fleet.Error of the code fleet.CodeValidation.
func ByHand(
	rates []record.TaxRate, currency string, before []record.Charge, line record.Charge,
) ([]record.Charge, error) {
	var c calc
	if Lowers(line.Type) {
		if line.Amount.Amount > 0 {
			line.UnitPrice.Amount, line.Amount.Amount = -line.UnitPrice.Amount, -line.Amount.Amount
		}
		if left := max(0, c.earned(before)); -line.Amount.Amount > left {
			return nil, refused("takes off more than the " + Format(record.Money{Amount: left, Currency: currency}) +
				" that the charges come to before taxes; what was paid is given back by a refund of the payment, " +
				"and anything else by an adjustment")
		}
	} else if line.Type == lineAdjustment && line.Amount.Amount < 0 {
		if left := max(0, c.owed(before)); -line.Amount.Amount > left {
			return nil, refused("takes off more than the " + Format(record.Money{Amount: left, Currency: currency}) +
				" that the charges come to with taxes; what was paid is given back by a refund of the payment")
		}
	} else if line.Type != lineAdjustment && line.Amount.Amount <= 0 {
		return nil, refused("must be above 0 for a line of type " + line.Type +
			"; a line that is wrong is reversed, and a discount or an adjustment lowers what is owed")
	}
	added := []record.Charge{line}
	return append(added, c.taxLines(rates, currency, before, added)...), c.err()
}

// refused says why a line cannot be posted by hand.
func refused(detail string) error {
	return fleet.NewError(fleet.CodeValidation, "The charge cannot be posted.",
		fleet.FieldError{Pointer: "/unit_price/amount", Code: "out_of_range", Detail: detail})
}
