package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// VehicleClasses is how classes of vehicles are listed.
var VehicleClasses = Listing{Table: "vehicle_classes", Search: []string{"name", "code", "description"}, Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "code", Type: TextField, Sort: true},
	{Name: "rank", Type: NumberField, Range: true, Sort: true},
	{Name: "rate_plan_id", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// Locations is how locations are listed.
var Locations = Listing{Table: "locations", Search: []string{"name", "code", "line1", "city", "region"}, Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "code", Type: TextField, Sort: true},
	{Name: "timezone", Type: TextField},
	{Name: "city", Type: TextField, Sort: true},
	{Name: "region", Type: TextField},
	{Name: "country", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// RatePlans is how rate plans are listed.
var RatePlans = Listing{Table: "rate_plans", Search: []string{"name"}, Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "channels", Type: TagsField},
	{Name: "vehicle_class_ids", Type: TagsField},
	{Name: "priority", Type: NumberField, Range: true, Sort: true},
	{Name: "currency", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// Quotes is how quotes are listed.
var Quotes = Listing{Table: "quotes", Search: []string{"customer_id", "vehicle_id", "vehicle_class_id"}, Fields: []ListField{
	{Name: "customer_id", Type: TextField},
	{Name: "vehicle_class_id", Type: TextField},
	{Name: "vehicle_id", Type: TextField},
	{Name: "rate_plan_id", Type: TextField},
	{Name: "pickup_location_id", Type: TextField},
	{Name: "channel", Type: TextField},
	{Name: "booking_id", Type: TextField},
	{Name: "currency", Type: TextField},
	{Name: "total_amount", Type: NumberField, Range: true, Sort: true},
	{Name: "pickup_at", Type: TimeField, Range: true, Sort: true},
	{Name: "return_at", Type: TimeField, Range: true, Sort: true},
	{Name: "expires_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// FittingPlan is a rate plan that fits a channel on a day.
type FittingPlan struct {
	ID      uint64
	Classes []string // ids of the classes that it is for; none for any
}

// For says whether the plan is for a class, "" for a vehicle without one.
func (p *FittingPlan) For(class string) bool {
	return len(p.Classes) == 0 || slices.Contains(p.Classes, class)
}

// FittingPlans returns the rate plans that are in use and fit a channel on a local day (YYYY-MM-DD); of those for one class the first holds.
func FittingPlans(ctx context.Context, db driver.Conn, account fleet.AccountID, channel, day string) ([]FittingPlan, error) {
	rows, err := db.Query(ctx, schemas.Query("rate_plans_fitting"), clickhouse.Named("account", uint64(account)), clickhouse.Named("channel", channel), clickhouse.Named("day", day))
	if err != nil {
		return nil, fmt.Errorf("read fitting rate plans: %w", err)
	}
	defer rows.Close()
	var plans []FittingPlan
	for rows.Next() {
		var p FittingPlan
		if err := rows.Scan(&p.ID, &p.Classes); err != nil {
			return nil, fmt.Errorf("read fitting rate plans: %w", err)
		}
		plans = append(plans, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read fitting rate plans: %w", err)
	}
	return plans, nil
}

// User is a record that uses another one.
type User struct {
	Noun string // "vehicle", "vehicle class", "rate plan", "booking"
	ID   uint64
}

// CatalogueUsers returns what uses a class, a location or a rate plan, named by its id as text: some of each kind of user.
func CatalogueUsers(ctx context.Context, db driver.Conn, account fleet.AccountID, id string) ([]User, error) {
	of := func(prefix string) string {
		if strings.HasPrefix(id, prefix) {
			return id
		}
		return ""
	}
	rows, err := db.Query(ctx, schemas.Query("catalogue_users"), clickhouse.Named("account", uint64(account)), clickhouse.Named("class", of(fleet.ClassPrefix)),
		clickhouse.Named("location", of(fleet.LocationPrefix)), clickhouse.Named("plan", of(fleet.RatePlanPrefix)))
	if err != nil {
		return nil, fmt.Errorf("read what uses %s: %w", id, err)
	}
	defer rows.Close()
	var users []User
	for rows.Next() {
		var u User
		if err := rows.Scan(&u.Noun, &u.ID); err != nil {
			return nil, fmt.Errorf("read what uses %s: %w", id, err)
		}
		users = append(users, u)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what uses %s: %w", id, err)
	}
	return users, nil
}
