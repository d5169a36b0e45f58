package rest

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/units"
)

// TestTheWordsOfCallersAreNotRounded has what looks like a quantity where callers write what they like.
func TestTheWordsOfCallersAreNotRounded(t *testing.T) {
	v := map[string]any{"a_mi": units.Miles(1.23456), "name": `12E+000 \" 1E+0000, "speed_mph":5`,
		"metadata": map[string]string{"x_mi": "9.99E+000"}, "n": -0.5, "k_mi": 12}
	for metric, want := range map[bool]string{
		false: `{"a_mi":1.235,"k_mi":12,"metadata":{"x_mi":"9.99E+000"},"n":-0.5,"name":"12E+000 \\\" 1E+0000, \"speed_mph\":5"}`,
		true:  `{"a_km":1.987,"k_km":19,"metadata":{"x_mi":"9.99E+000"},"n":-0.5,"name":"12E+000 \\\" 1E+0000, \"speed_mph\":5"}`,
	} {
		got, err := EncodeJSON(v, metric)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(got)); got != want {
			t.Errorf("metric %v: %s, want %s", metric, got, want)
		}
	}
}
