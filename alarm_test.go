package fleet_test

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet"
)

func TestNoWordOfAnAlarmIsLostBesideAnother(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		" , ":                   "",
		"sos":                   "sos",
		"lowBattery,sos":        "lowBattery,sos",
		"banana, sos,tow , sos": "sos,tow,banana",
		"banana":                "banana",
		"a\u0007":               "general",
		"a\xff,general,a\xff":   "general",
		strings.Repeat("x", 51): "general",
		strings.Repeat("é", 25): strings.Repeat("é", 25),
		strings.Repeat("sos,", 99) + strings.Repeat("y", 50) + "," + strings.Repeat("z", 50): "sos," +
			strings.Repeat("y", 50),
	} {
		if got := fleet.AlarmOf(text); got != want {
			t.Errorf("of %q %q is kept, want %q", text, got, want)
		}
		if again := fleet.AlarmOf(want); again != want {
			t.Errorf("of %q, which was kept, %q is kept", want, again)
		}
	}
}
