package api

import (
	"fmt"
	"testing"
)

func TestAnAccountSaysWhatEnergyCostsIt(t *testing.T) {
	w := newWorld(t)
	said := w.do("PATCH", "/v1/account", `{"energy_costs":{"gallon":{"amount":389,"currency":"USD"},
		"kwh":{"amount":14,"currency":"USD"}}}`).ok(200).object()
	wantEqual(t, "costs", fmt.Sprint(said["energy_costs"]),
		"map[gallon:map[amount:389 currency:USD] kwh:map[amount:14 currency:USD]]")
	for body, want := range map[string]string{
		`{"energy_costs":{"gallon":{"amount":-1,"currency":"USD"}}}`: "/energy_costs/gallon/amount",
		`{"energy_costs":{"kwh":{"amount":14,"currency":"EUR"}}}`:    "/energy_costs/kwh/currency",
	} {
		wantEqual(t, body, w.do("PATCH", "/v1/account", body).faults(), want)
	}
	merged := w.do("PATCH", "/v1/account", `{"energy_costs":{"kwh":null}}`).ok(200).object()
	wantEqual(t, "merged", fmt.Sprint(merged["energy_costs"]), "map[gallon:map[amount:389 currency:USD]]")
}
