package derive_test

import (
	"testing"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
)

func cellOf(t testing.TB, lat, lng float64) fleet.Cell {
	cell, err := h3.LatLngToCell(h3.NewLatLng(lat, lng), fleet.CellResolution)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Cell(cell)
}
