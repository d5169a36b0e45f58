package query

import (
	"context"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// VehicleClasses is how classes of vehicles are listed.
var VehicleClasses = Listing{Table: "vehicle_classes", Search: []string{"name", "code", "description"},
	Fields: []ListField{
		{Name: "name", Type: WordsField, Sort: true},
		{Name: "code", Type: WordsField, Sort: true},
		{Name: "rank", Type: NumberField, Range: true, Sort: true},
		{Name: "rate_plan_id", Type: TextField},
		{Name: "created_at", Type: TimeField, Range: true, Sort: true},
		{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
	}}

// Locations is how locations are listed.
var Locations = Listing{Table: "locations", Search: []string{"name", "code", "line1", "city", "region"},
	Fields: []ListField{
		{Name: "name", Type: WordsField, Sort: true},
		{Name: "code", Type: WordsField, Sort: true},
		{Name: "timezone", Type: TextField},
		{Name: "city", Type: WordsField, Sort: true},
		{Name: "region", Type: WordsField},
		{Name: "country", Type: WordsField},
		{Name: "created_at", Type: TimeField, Range: true, Sort: true},
		{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
	}}

// RatePlans is how rate plans are listed.
var RatePlans = Listing{Table: "rate_plans", Search: []string{"name"}, Fields: []ListField{
	{Name: "name", Type: WordsField, Sort: true},
	{Name: "channels", Type: TagsField},
	{Name: "vehicle_class_ids", Type: TagsField},
	{Name: "priority", Type: NumberField, Range: true, Sort: true},
	{Name: "currency", Type: WordsField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// Quotes is how quotes are listed.
var Quotes = Listing{Table: "quotes", Search: []string{"number"}, Related: []Related{ofCustomer, ofVehicle},
	Fields: []ListField{
		{Name: "number", Column: byNumber, Type: CodeField, Few: true, Sort: true},
		{Name: "customer_id", Type: TextField, Few: true},
		{Name: "vehicle_class_id", Type: TextField},
		{Name: "vehicle_id", Type: TextField, Few: true},
		{Name: "rate_plan_id", Type: TextField},
		{Name: "pickup_location_id", Type: TextField},
		{Name: "channel", Type: TextField},
		{Name: "booking_id", Type: TextField, Few: true},
		{Name: "currency", Type: WordsField},
		{Name: "total", Column: "total_amount", Type: NumberField, Range: true, Sort: true},
		{Name: "pickup_at", Type: TimeField, Range: true, Sort: true},
		{Name: "return_at", Type: TimeField, Range: true, Sort: true},
		{Name: "expires_at", Type: TimeField, Range: true, Sort: true},
		{Name: "created_at", Type: TimeField, Range: true, Sort: true},
		{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
	}}

// PlanInUse is a rate plan that is in use.
type PlanInUse struct {
	ID        uint64
	Classes   []string // ids of the classes that it is for; none for any
	Channels  []string // that it is for; none for any
	ValidFrom string   // the first local day (YYYY-MM-DD) on which it holds; empty for any
	ValidTo   string   // and the last
}

// For says whether the plan is for a class, "" for a vehicle without one.
func (p *PlanInUse) For(class string) bool {
	return len(p.Classes) == 0 || slices.Contains(p.Classes, class)
}

// PlansFitting returns those of some rate plans that fit a channel on a local day (YYYY-MM-DD), in their order.
func PlansFitting(plans []PlanInUse, channel, day string) []PlanInUse {
	var fitting []PlanInUse
	for _, p := range plans {
		if (len(p.Channels) == 0 || slices.Contains(p.Channels, channel)) && (p.ValidFrom == "" || p.ValidFrom <= day) &&
			(p.ValidTo == "" || day <= p.ValidTo) {
			fitting = append(fitting, p)
		}
	}
	return fitting
}

// PlansInUse returns the rate plans of an account that are in use; of those that fit the first holds.
func PlansInUse(ctx context.Context, db driver.Conn, account fleet.AccountID) ([]PlanInUse, error) {
	plans := []PlanInUse{}
	err := schemas.EachRow(ctx, db, "read rate plans", schemas.Query("rate_plans_in_use"), []any{
		clickhouse.Named("account", uint64(account)),
	}, func(row schemas.Row) error {
		var p PlanInUse
		if err := row.Scan(&p.ID, &p.Classes, &p.Channels, &p.ValidFrom, &p.ValidTo); err != nil {
			return err
		}
		plans = append(plans, p)
		return nil
	})
	return plans, err
}

// User is a record that uses another one.
type User struct {
	Noun string // "vehicle", "vehicle class", "rate plan", "booking"
	ID   uint64
}

// CatalogueUsers returns what uses a class, a location or a rate plan, named by its id as text: some of
// each kind of user.
func CatalogueUsers(ctx context.Context, db driver.Conn, account fleet.AccountID, id string) ([]User, error) {
	of := func(prefix string) string {
		if strings.HasPrefix(id, prefix) {
			return id
		}
		return ""
	}
	return schemas.AllRows(ctx, db, "read what uses "+id, schemas.Query("catalogue_users"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("class", of(fleet.ClassPrefix)),
		clickhouse.Named("location", of(fleet.LocationPrefix)), clickhouse.Named("plan", of(fleet.RatePlanPrefix)),
	}, func(u *User, row schemas.Row) error {
		return row.Scan(&u.Noun, &u.ID)
	})
}
