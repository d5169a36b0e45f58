package track

import (
	"testing"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/area"
)

func TestABoxIsWiderThanTheBoundsByAStep(t *testing.T) {
	got := boxOf(area.Bounds{South: 1, West: 2, North: 3, East: 4})
	if !(got.South < 1 && got.West < 2 && got.North > 3 && got.East > 4) {
		t.Errorf("%+v", got)
	}
	if got := boxOf(area.Bounds{South: 1, West: 10, North: 2, East: 10 - 1e-8}); got.West != -180 || got.East != 180 {
		t.Errorf("%+v", got)
	}
	if got := boxOf(area.Bounds{South: 1, West: 179, North: 2, East: -179}); got.West <= got.East || got == query.World {
		t.Errorf("%+v", got)
	}
}
