package record

import (
	"slices"
	"strings"
	"testing"
)

// A number is one number however a clerk writes it.
func TestANumberIsOneHoweverItIsWritten(t *testing.T) {
	for _, c := range []struct {
		text, regions, want string // regions are separated by blanks
		read                bool
	}{
		{"+1 (512) 555-0100", "", "+15125550100", true},
		{"512-555-0100", "US", "+15125550100", true},
		{"(512) 555.0100", "US", "+15125550100", true},
		{"1 512 555 0100", "US", "+15125550100", true},
		{"011 44 20 7946 0018", "US", "+442079460018", true},
		{"0044 20 7946 0018", "US", "+442079460018", true},
		{"+44 (0)20 7946 0018", "", "+442079460018", true},
		{"020 7946 0018", "GB", "+442079460018", true},
		{"030 901820", "DE", "+4930901820", true},
		{"030 901820", "US DE", "+4930901820", true}, // none of the first country
		{"+15550100", "", "+15550100", false},        // too short for its country
		{"+999 1234567", "", "+9991234567", true},    // of a country that nobody knows
		{"555-0199", "US", "5550199", false},         // dialled within a town
		{"512-555-0100", "", "5125550100", false},
		{"512-555-0100 ext. 12", "US", "5125550100ext12", false},
		{"call me", "US", "callme", false},
		{"", "US", "", true},
	} {
		if got, read := Telephone(c.text, strings.Fields(c.regions)...); got != c.want || read != c.read {
			t.Errorf("%q in %q is %q, %v; want %q, %v", c.text, c.regions, got, read, c.want, c.read)
		}
	}
}

// What was kept before numbers were written in one way is found as well.
func TestANumberIsFoundAsItWasKept(t *testing.T) {
	for number, want := range map[string][]string{
		"+442079460018": {"442079460018", "4402079460018"}, "+4402079460018": {"4402079460018", "442079460018"},
		"+15125550100": {"15125550100", "115125550100"}, "": {}, "+99": {"99"},
	} {
		if got := Dialled(number); !slices.Equal(got, want) {
			t.Errorf("%q is kept as %v; want %v", number, got, want)
		}
	}
}
