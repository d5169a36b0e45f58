package rental

import (
	"slices"
	"strings"

	"github.com/motorpool/fleet/api/record"
)

// inCommon says in words what two customers have in common.
var inCommon = map[string]string{
	"licence": "licence number", "email": "email address", "phone": "telephone number",
	"name_and_date_of_birth": "name and date of birth", "name": "name",
	"phone_end": "end of the telephone number",
}

// ListedText says in words who of a booking is, or may be, on the do-not-rent list. It is the rest of a sentence,
// after the name.
func ListedText(m *record.ListedMatch) string {
	if slices.Contains(m.Reasons, record.SameCustomer) {
		return "is on the do-not-rent list or blocked"
	}
	var words []string
	for _, reason := range m.Reasons {
		if word := inCommon[reason]; word != "" {
			words = append(words, word)
		}
	}
	what := "the same " + strings.Join(words, " and ")
	if m.Check == record.ListUnsure {
		return "may be " + m.ListedID + ", who is on the do-not-rent list: " + what
	}
	return "has " + what + " as " + m.ListedID + ", who is on the do-not-rent list"
}
