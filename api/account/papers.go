package account

import (
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
)

// longestPrefix bounds what the numbers of papers begin with.
const longestPrefix = 20

// paperFaults says what is wrong with the settings of an account's papers that a schema cannot tell.
func paperFaults(s *record.PaperSettings) []fleet.FieldError {
	if s == nil {
		return nil
	}
	var faults []fleet.FieldError
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: "/papers" + pointer, Code: code, Detail: detail})
	}
	if s.Language != "" && !paperwork.KnowsLanguage(s.Language) {
		fault("/language", "invalid", "is none of the languages of papers: en, de, fr and es, with any region, like en-US")
	}
	for kind := range s.Prefixes {
		if record.KindOfPaper(kind).Name == "" {
			fault("/number_prefixes/"+kind, "unknown",
				"is no kind of paper: invoice, credit_note, receipt, deposit_statement, agreement or owner_statement")
		}
	}
	seen := map[string]string{}
	for _, p := range record.Papers {
		kind, prefix := p.Kind.Name, s.NumberPrefix(p.Kind.Name)
		if other, taken := seen[prefix]; taken {
			fault("/number_prefixes/"+kind, "not_unique",
				fmt.Sprintf("is that of %s as well: two papers would have one number", other))
		}
		if seen[prefix] = kind; len(prefix) > longestPrefix || paperwork.Clean(prefix) != prefix {
			fault("/number_prefixes/"+kind, "invalid",
				fmt.Sprintf("must be a text of at most %d bytes, on one line", longestPrefix))
		}
	}
	for i, category := range s.Costs {
		if !paperwork.KnowsCost(category) {
			fault(fmt.Sprintf("/owner_costs/%d", i), "unknown", "is no cost that an owner can bear")
		}
	}
	return append(faults, paperwork.TemplateFaults("/papers/agreement_template", s.Agreement)...)
}
