package consume

import (
	"strconv"
	"strings"
)

// planPrefix opens the metadata of a commit that is a plan: "plan:1:<last>", where 1 is the version of the form. The
// commit's offset is the range's first.
const planPrefix = "plan:1:"

func formatPlan(last int64) string { return planPrefix + strconv.FormatInt(last, 10) }

// parsePlan returns the last offset that metadata names. Metadata that is empty, of another program or impossible for a
// range that starts at first is no plan.
func parsePlan(metadata string, first int64) (last int64, ok bool) {
	digits, ok := strings.CutPrefix(metadata, planPrefix)
	if !ok {
		return 0, false
	}
	last, err := strconv.ParseInt(digits, 10, 64)
	return last, err == nil && first >= 0 && last >= first
}
