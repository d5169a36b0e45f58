//go:build long

package api

// How often what memory says is held against what the store says, after some writes each.
const (
	roundsOfBookings = 150
	roundsOfVehicles = 120
)
