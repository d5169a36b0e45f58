package fact

import (
	"testing"
	"time"
)

func TestWhoMakesFactsRestsAsItWorked(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 20 * time.Second, 4 * time.Second: 20 * time.Second,
		10 * time.Second: 40 * time.Second, time.Hour: 2 * time.Minute} {
		if got := rest(took); got != want {
			t.Errorf("after %v nobody looks for %v, want %v", took, got, want)
		}
	}
}
