package auth

import "slices"

// Role is what a person is in an account. It decides what they may do there.
type Role string

// The roles, from the one with the most rights.
const (
	Owner   Role = "owner"
	Manager Role = "manager"
	Clerk   Role = "clerk"
	Analyst Role = "analyst"
	Driver  Role = "driver"
)

// Roles lists every role.
var Roles = []Role{Owner, Manager, Clerk, Analyst, Driver}

// rights says what each role may do. A scope that is added later belongs to owners until it is named here.
//   - An owner may do everything.
//   - A manager runs the business, and gives nobody access: users, keys and OAuth clients are for owners.
//   - A clerk works at the desk: bookings and customers with their papers, payments, and what is due on a vehicle.
//   - An analyst reads everything but the personal details of customers, and makes reports.
//   - A driver sees the vehicles and what is due on them.
var rights = map[Role][]Scope{
	Owner: Scopes,
	Manager: {VehiclesRead, VehiclesWrite, BookingsRead, BookingsWrite, BookingsOverride, CustomersRead, CustomersWrite,
		CustomersPII, MaintenanceRead, MaintenanceWrite, FinanceRead, FinanceWrite, ReportsRead, TelematicsRead,
		TelematicsWrite, DevicesCommand, WebhooksManage},
	Clerk: {VehiclesRead, BookingsRead, BookingsWrite, CustomersRead, CustomersWrite, CustomersPII, MaintenanceRead,
		MaintenanceWrite, FinanceRead, FinanceWrite, TelematicsRead},
	Analyst: {VehiclesRead, BookingsRead, CustomersRead, MaintenanceRead, FinanceRead, ReportsRead, TelematicsRead},
	Driver:  {VehiclesRead, MaintenanceRead},
}

// Known says whether r is one of Roles.
func (r Role) Known() bool { return slices.Contains(Roles, r) }

// Scopes returns what a person with the role may do; nothing for what is no role.
func (r Role) Scopes() []Scope { return slices.Clone(rights[r]) }

// Covers says whether a person with the role may do all that one with the other may, so that they may give it.
func (r Role) Covers(other Role) bool {
	return !slices.ContainsFunc(rights[other], func(s Scope) bool { return !slices.Contains(rights[r], s) })
}
