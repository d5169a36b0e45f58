package report

import (
	"math/big"

	"github.com/motorpool/fleet"
)

// The bases of a report.
const (
	Accrual = "accrual" // what is earned and used, on the days of use
	Cash    = "cash"    // what is paid, on the day on which money moves
)

// unit says how a figure is written.
type unit struct {
	decimals int  // that a ratio and a number with a fraction are rounded to
	additive bool // values of disjoint rows add up
	summed   bool // and raw ones are whole numbers, so that they do so exactly
	suffix   string
	metric   string   // what takes the place of suffix where metric units are asked for
	factor   *big.Rat // of the metric unit
}

// The kilometres of a mile, and the litres of a gallon.
var km, litres = big.NewRat(1609344, 1000000), big.NewRat(3785411784, 1000000000)

// units are those of figures. Money is in minor units; what is said for a mile, a day or an hour is money with two
// decimals of its minor unit.
var units = map[string]unit{
	"money":      {additive: true, summed: true},
	"amount":     {}, // money that is no sum over rows: what stands at the end, an effect
	"count":      {additive: true, summed: true},
	"distinct":   {}, // a count of different things, some of which may be in several rows
	"seconds":    {additive: true, summed: true},
	"days":       {decimals: 2, additive: true, summed: true},
	"mi":         {decimals: 3, additive: true, suffix: "_mi", metric: "_km", factor: km},
	"gal":        {decimals: 3, additive: true, suffix: "_gal", metric: "_l", factor: litres},
	"kwh":        {decimals: 3, additive: true, suffix: "_kwh"},
	"percent":    {decimals: 2},
	"ratio":      {decimals: 4},
	"score":      {decimals: 1},
	"months":     {decimals: 1},
	"hours":      {decimals: 2},
	"median":     {decimals: 2}, // of days or hours, as the name says
	"per_mi":     {decimals: 2, suffix: "_per_mi", metric: "_per_km", factor: new(big.Rat).Inv(km)},
	"per_day":    {decimals: 2, suffix: "_per_day"},
	"per_hour":   {decimals: 2, suffix: "_per_hour"},
	"mph":        {decimals: 1, suffix: "_mph", metric: "_kmh", factor: km},
	"mi_per_gal": {decimals: 2, suffix: "_mi_per_gal", metric: "_km_per_l", factor: new(big.Rat).Quo(km, litres)},
	"mi_per_kwh": {decimals: 2, suffix: "_mi_per_kwh", metric: "_km_per_kwh", factor: km},
	"text":       {},
	"date":       {},
}

// Money says whether the figure is an amount in minor units, or one for a mile, a day or an hour.
func (f *Figure) Money() bool {
	switch f.Unit {
	case "money", "amount", "per_mi", "per_day", "per_hour":
		return true
	}
	return false
}

// Text says whether the figure's values are words.
func (f *Figure) Text() bool { return f.Unit == "text" || f.Unit == "date" }

// Decimals are those that its values have at most.
func (f *Figure) Decimals() int { return units[f.Unit].decimals }

// Group is what rows of a report may be made by.
type Group struct {
	Of     string // time, record, text or total
	Prefix string // of the ids of records
}

// groups are the names that groups may have. The key of a row is the first day of a time, the id of a record, a text,
// or nothing in a total.
var groups = map[string]Group{
	"total":    {Of: "total"},
	"day":      {Of: "time"},
	"week":     {Of: "time"},
	"month":    {Of: "time"},
	"quarter":  {Of: "time"},
	"year":     {Of: "time"},
	"vehicle":  {Of: "record", Prefix: fleet.VehiclePrefix},
	"class":    {Of: "record", Prefix: fleet.ClassPrefix},
	"location": {Of: "record", Prefix: fleet.LocationPrefix},
	"customer": {Of: "record", Prefix: fleet.CustomerPrefix},
	"owner":    {Of: "record", Prefix: fleet.CustomerPrefix},
	"driver":   {Of: "record", Prefix: fleet.CustomerPrefix},
	"booking":  {Of: "record", Prefix: fleet.BookingPrefix},
	"geofence": {Of: "record", Prefix: fleet.FencePrefix},
	"make":     {Of: "text"},
	"model":    {Of: "text"}, // with its make
	"channel":  {Of: "text"},
	"tag":      {Of: "text"},
	"account":  {Of: "text"}, // of the ledger
	"category": {Of: "text"},
	// the location of a rental and the name of a tax there: "loc_1 State tax"
	"jurisdiction": {Of: "text"},
	"calendar":     {Of: "text"}, // a vehicle and a day: "veh_1 2026-03-01"
}

// GroupNamed returns what rows of a group are.
func GroupNamed(name string) Group { return groups[name] }

// Whole says whether the figure's values are whole numbers.
func (f *Figure) Whole() bool { return !f.Text() && f.Decimals() == 0 }
