package auth

import (
	"slices"
	"strings"
)

// Scope names what a credential may do. The list is closed: Scopes holds every one.
type Scope string

// The scopes. Admin holds every other one. Write does not include read.
const (
	VehiclesRead     Scope = "vehicles:read"
	VehiclesWrite    Scope = "vehicles:write"
	BookingsRead     Scope = "bookings:read"
	BookingsWrite    Scope = "bookings:write"
	BookingsOverride Scope = "bookings:override"
	CustomersRead    Scope = "customers:read"
	CustomersWrite   Scope = "customers:write"
	CustomersPII     Scope = "customers.pii:read"
	MaintenanceRead  Scope = "maintenance:read"
	MaintenanceWrite Scope = "maintenance:write"
	FinanceRead      Scope = "finance:read"
	FinanceWrite     Scope = "finance:write"
	ReportsRead      Scope = "reports:read"
	TelematicsRead   Scope = "telematics:read"
	TelematicsWrite  Scope = "telematics:write"
	DevicesCommand   Scope = "devices:command"
	WebhooksManage   Scope = "webhooks:manage"
	UsersManage      Scope = "users:manage"
	OAuthManage      Scope = "oauth:manage"
	KeysManage       Scope = "keys:manage"
	Admin            Scope = "admin"
)

// Scopes lists every scope, in the order of documentation.
var Scopes = []Scope{
	VehiclesRead, VehiclesWrite, BookingsRead, BookingsWrite, BookingsOverride, CustomersRead, CustomersWrite,
	CustomersPII, MaintenanceRead, MaintenanceWrite, FinanceRead, FinanceWrite, ReportsRead, TelematicsRead,
	TelematicsWrite, DevicesCommand, WebhooksManage, UsersManage, OAuthManage,
	KeysManage, Admin,
}

// Known says whether s is one of Scopes.
func (s Scope) Known() bool { return slices.Contains(Scopes, s) }

// Holds says whether scopes hold one, by itself or through Admin.
func Holds[S ~string](scopes []S, s Scope) bool {
	return slices.Contains(scopes, S(s)) || slices.Contains(scopes, S(Admin))
}

// Both are the scopes that two lists hold, in the order of documentation.
func Both[S ~string](a, b []S) []S {
	all := []S{}
	for _, s := range Scopes {
		if Holds(a, s) && Holds(b, s) {
			all = append(all, S(s))
		}
	}
	return all
}

// ParseScopes reads scopes separated by commas or spaces; the second result is the first one that is not known.
func ParseScopes(text string) ([]Scope, string) {
	var scopes []Scope
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !Scope(word).Known() {
			return nil, word
		}
		if !slices.Contains(scopes, Scope(word)) {
			scopes = append(scopes, Scope(word))
		}
	}
	return scopes, ""
}
