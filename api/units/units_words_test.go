package units

import "testing"

func TestUnitsTurnMilesIntoKilometres(t *testing.T) {
	in := `{"a_mi":100,"b_mph":10.5,"nested":[{"c_mi":null,"d":"a_mi <b>","e_mi":"x"}],"f_mi":[1,2.25],"metadata":{"g_mi":"1"},"custom_fields":{"h":[{"i_mi":2}]},"j_mi":3,"mi":5,"big":12345678901234567890}` + "\n"
	out, err := MetricJSON([]byte(in))
	want := `{"a_km":161,"b_kmh":16.9,"nested":[{"c_km":null,"d":"a_mi <b>","e_km":"x"}],"f_km":[2,3.62],"metadata":{"g_mi":"1"},"custom_fields":{"h":[{"i_mi":2}]},"j_km":5,"mi":5,"big":12345678901234567890}` + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}
