package paperwork

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// placeholder is a name in a template that something is put in for.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}\s]+)\s*\}\}`)

// Placeholders are the names that a template of agreements may have.
var Placeholders = []string{
	"agreement.date", "seller.name", "seller.address", "seller.tax_id", "seller.email", "seller.phone",
	"customer.name", "customer.company", "customer.number", "customer.address", "customer.email", "customer.phone",
	"customer.licence", "customer.licence_country", "customer.licence_expires_on", "drivers",
	"vehicle.plate", "vehicle.name", "vehicle.year", "vehicle.color", "vehicle.vin", "vehicle.condition",
	"vehicle.mileage",
	"vehicle.fuel", "booking.number", "booking.pickup_at", "booking.return_at", "booking.pickup_location",
	"booking.return_location", "booking.days", "booking.included_miles", "booking.extra_mile_fee", "booking.charges",
	"booking.total", "booking.deposit",
}

// TemplateFaults says what is wrong with a template of agreements; pointer is where it stands.
func TemplateFaults(pointer, template string) []fleet.FieldError {
	var faults []fleet.FieldError
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		if !slices.Contains(Placeholders, m[1]) && len(faults) < 10 {
			faults = append(faults, fleet.FieldError{Pointer: pointer, Code: "unknown",
				Detail: fmt.Sprintf("has {{%.60s}}, which nothing is put in for; there are %s", m[1],
					strings.Join(Placeholders, ", "))})
		}
	}
	if bare := placeholder.ReplaceAllString(template, ""); strings.Contains(bare, "{{") || strings.Contains(bare, "}}") {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: "invalid",
			Detail: "has {{ or }} without the other; a name stands between them, as in {{customer.name}}"})
	}
	return faults
}

// Fill puts values in the place of the names of a template. What is put in is not looked through again, so that nothing
// that a customer is called can name anything; nothing known is a line to write on.
func Fill(template string, values map[string]string) string {
	return Clean(placeholder.ReplaceAllStringFunc(template, func(found string) string {
		name := placeholder.FindStringSubmatch(found)[1]
		if value := strings.TrimSpace(values[name]); value != "" {
			return value
		}
		return "________"
	}))
}

// Clean takes out of a text what has no shape, or changes the direction of what follows: control characters and marks
// of formatting. Lines and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Condition says what the newest inspection at pickup found of the vehicle, and what damage is known, in
// words of a language.
func Condition(b *record.Booking, w *Writer) string {
	var found []string
	for _, i := range slices.Backward(b.Inspections) {
		if i.Type != "pickup" || i.SupersededBy != "" {
			continue
		}
		for _, item := range i.Items {
			if item.Result == "fail" || item.Note != "" {
				found = append(found, strings.TrimSuffix(item.Point+": "+w.Word(item.Result)+", "+item.Note, ", "))
			}
		}
		if i.Notes != "" {
			found = append(found, i.Notes)
		}
		if len(found) == 0 {
			found = append(found, w.Word("nothing_found"))
		}
		break
	}
	for _, d := range b.Damages {
		if !d.At.IsZero() && !b.ActualPickupAt.IsZero() && d.At.After(b.ActualPickupAt.Time) {
			continue // it was found later
		}
		found = append(found, strings.TrimSpace(d.Place+" "+d.Description)+" ("+w.Word(d.Severity)+")")
	}
	return strings.Join(found, "; ")
}
