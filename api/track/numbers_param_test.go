package track

import (
	"math"
	"testing"

	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/api/rest"
)

func TestNumbersParameter(t *testing.T) {
	if v, ok := rest.ParseNumbers(" 1, -2.5 ", 2); !ok || v[0] != 1 || v[1] != -2.5 {
		t.Errorf("%v %v", v, ok)
	}
	for _, text := range []string{"", "1", "1,2,3", "1,", "1,x", "Inf,1", "nan,1"} {
		if v, ok := rest.ParseNumbers(text, 2); ok {
			t.Errorf("%q gives %v", text, v)
		}
	}
	if math.IsNaN(ingest.OrNaN(nil)) == false {
		t.Error("nothing is a number")
	}
}
