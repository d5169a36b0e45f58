package api

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// anyID is an identity in a text for people. What is quoted (an address, what was sent) and paths are found too, without a kind: they are meant to
// the letter.
var anyID = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|/v1/\\S*|\\b([a-z]{2,3}_)[0-9]+\\b")

// calledKind is a kind of records that people call by a name, and the scope that it takes to hear it.
type calledKind struct {
	kind  string
	scope auth.Scope
}

var calledKinds = map[string]calledKind{
	fleet.VehiclePrefix:   {record.Vehicles.Name, auth.VehiclesRead},
	fleet.ClassPrefix:     {record.VehicleClasses.Name, auth.VehiclesRead},
	fleet.LocationPrefix:  {record.Locations.Name, auth.VehiclesRead},
	fleet.RatePlanPrefix:  {record.RatePlans.Name, auth.BookingsRead},
	fleet.BlockPrefix:     {record.Blocks.Name, auth.VehiclesRead},
	fleet.DevicePrefix:    {record.Devices.Name, auth.TelematicsRead},
	fleet.FencePrefix:     {record.Geofences.Name, auth.TelematicsRead},
	fleet.IssuePrefix:     {record.Issues.Name, auth.MaintenanceRead},
	fleet.BookingPrefix:   {record.Bookings.Name, auth.BookingsRead},
	fleet.QuotePrefix:     {record.Quotes.Name, auth.BookingsRead},
	fleet.PaymentPrefix:   {record.Payments.Name, auth.FinanceRead},
	fleet.WorkOrderPrefix: {record.WorkOrders.Name, auth.MaintenanceRead},
	fleet.CustomerPrefix:  {record.Customers.Name, ""}, // by number; the name takes customers:read
}

// called is what bodies of all these kinds say of what people call them.
type called struct {
	Number      string `json:"number"`
	Name        string `json:"name"`
	Plate       string `json:"license_plate"`
	Nickname    string `json:"nickname"`
	FleetNumber string `json:"fleet_number"`
	Make        string `json:"make"`
	Model       string `json:"model"`
	DisplayName string `json:"display_name"`
	FirstName   string `json:"first_name"`
	LastName    string `json:"last_name"`
	UniqueID    string `json:"unique_id"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
}

// say is what people call a record of a kind; "" if nothing.
func (c *called) say(prefix string, may func(auth.Scope) bool) string {
	switch prefix {
	case fleet.VehiclePrefix:
		known := cmp.Or(c.Nickname, strings.TrimSpace(c.Make+" "+c.Model))
		if plate := cmp.Or(c.Plate, c.FleetNumber); plate != "" && known != "" {
			return plate + " (" + known + ")"
		} else if plate != "" {
			return plate
		}
		return known
	case fleet.CustomerPrefix:
		if name := cmp.Or(c.DisplayName, strings.TrimSpace(c.FirstName+" "+c.LastName)); may(auth.CustomersRead) && name != "" {
			return name + " (" + c.Number + ")"
		}
		return c.Number
	case fleet.IssuePrefix:
		return c.Description
	case fleet.BlockPrefix:
		return "a block (" + strings.ReplaceAll(c.Kind, "_", " ") + ")"
	}
	return cmp.Or(c.Number, c.Name, c.UniqueID)
}

// inWords puts plates, names and numbers in the place of the ids of an account's records in texts for people, as far as the caller may hear
// them. An id of which there is no record, or that could not be read in a moment, stays.
func (a *API) inWords(ctx context.Context, account fleet.AccountID, may func(auth.Scope) bool, texts ...*string) {
	var refs []record.Ref
	for _, text := range texts {
		for _, m := range anyID.FindAllStringSubmatch(*text, -1) {
			if k, ok := calledKinds[m[1]]; ok && (k.scope == "" || may(k.scope)) {
				if id, err := fleet.ParseID(m[1], m[0]); err == nil {
					refs = append(refs, record.Ref{Kind: k.kind, ID: id})
				}
			}
		}
	}
	if refs == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	seen, err := a.store.See(ctx, account, refs...)
	if err != nil {
		a.log.WarnContext(ctx, "a text keeps its ids", "error", err)
		return
	}
	for _, text := range texts {
		*text = anyID.ReplaceAllStringFunc(*text, func(id string) string {
			prefix := anyID.FindStringSubmatch(id)[1]
			n, err := fleet.ParseID(prefix, id)
			body, ok := seen.Body(record.Ref{Kind: calledKinds[prefix].kind, ID: n})
			var c called
			if err != nil || !ok || json.Unmarshal([]byte(body), &c) != nil {
				return id
			}
			return cmp.Or(c.say(prefix, may), id)
		})
	}
}

// hears says what the caller may hear; nothing that needs a scope, where nobody asks.
func hears(ctx context.Context) func(auth.Scope) bool {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	return func(scope auth.Scope) bool { return ok && x.principal != nil && x.principal.Has(scope) }
}

// tell puts names in the place of ids in what a problem says.
func (a *API) tell(ctx context.Context, p *Problem) {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok || x.principal == nil {
		return
	}
	texts := []*string{&p.Detail}
	for i := range p.Errors {
		texts = append(texts, &p.Errors[i].Detail)
	}
	a.inWords(ctx, x.principal.Account, x.principal.Has, texts...)
}
