//go:build long

package report

import "testing"

// What is left of a statement says the same by every group, with all filters.
func TestWhatIsLeftOfEveryStatementSaysTheSame(t *testing.T) {
	leftSaysTheSame(t, func(d *Definition) []string { return d.Groups }, func(all []Filters) []Filters { return all })
}
