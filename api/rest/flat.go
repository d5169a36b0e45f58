package rest

import (
	"reflect"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/units"
)

// Views are structs; a table has columns. FlatColumns and FlatRow make the one of the other: a column for each
// member, in order, in the units asked for, with the members of embedded structs among them. A place named
// start_place becomes start_lat, start_lng and start_address, an amount of money amount and currency. Members tagged
// flat:"-", and object, are left out.

var (
	placeType = reflect.TypeFor[Place]()
	moneyType = reflect.TypeFor[record.Money]()
	timeType  = reflect.TypeFor[record.Instant]()
)

// flatMember says whether a field is a column, and its name.
func flatMember(f *reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, f.Tag.Get("flat") != "-" && name != "object"
}

// FlatColumns are the columns of a view, with the names of the metric members if those are asked for.
func FlatColumns(view any, metric bool) []export.Column {
	return appendColumns(nil, reflect.TypeOf(view), metric)
}

func appendColumns(columns []export.Column, t reflect.Type, metric bool) []export.Column {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			columns = appendColumns(columns, f.Type, metric)
			continue
		}
		name, ok := flatMember(&f)
		if !ok {
			continue
		}
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if metric {
			name, _ = units.MetricName(name)
		}
		c := export.Column{Name: name}
		switch {
		case kind == placeType:
			stem := strings.TrimSuffix(name, "place")
			columns = append(columns, export.Column{Name: stem + "lat", Kind: export.Number},
				export.Column{Name: stem + "lng", Kind: export.Number})
			c.Name = stem + "address"
		case kind == moneyType:
			columns = append(columns, export.Column{Name: name, Kind: export.Whole})
			c.Name = strings.TrimSuffix(name, "amount") + "currency"
		case kind == timeType:
			c.Kind = export.Instant
		case kind.Kind() == reflect.Float64:
			c.Kind = export.Number
		case kind.Kind() == reflect.Bool:
			c.Kind = export.Truth
		case kind.Kind() == reflect.Slice:
			c.Kind = export.Words
		case kind.Kind() != reflect.String:
			c.Kind = export.Whole
		}
		columns = append(columns, c)
	}
	return columns
}

// FlatRow appends the values of a view to row, one for each of its FlatColumns.
func FlatRow(row []export.Value, view any, metric bool) []export.Value {
	return appendValues(row, reflect.ValueOf(view), metric)
}

func appendValues(row []export.Value, v reflect.Value, metric bool) []export.Value {
	for i := range v.NumField() {
		f, field := v.Field(i), v.Type().Field(i)
		if field.Anonymous {
			row = appendValues(row, f, metric)
			continue
		}
		if _, ok := flatMember(&field); !ok {
			continue
		}
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				row = append(row, export.Value{})
				switch f.Type().Elem() {
				case placeType:
					row = append(row, export.Value{}, export.Value{})
				case moneyType:
					row = append(row, export.Value{})
				}
				continue
			}
			f = f.Elem()
		}
		if q, ok := f.Interface().(units.Quantity); ok {
			decimals, factor := q.Places()
			if !metric {
				factor = 1
			}
			row = append(row, export.NumberOf(f.Float()*factor, decimals))
			continue
		}
		switch {
		case f.Type() == placeType:
			p := f.Interface().(Place)
			address := ""
			if p.Address != nil {
				address = *p.Address
			}
			row = append(row, export.ExactOf(p.Lat), export.ExactOf(p.Lng), export.TextOf(address))
		case f.Type() == moneyType:
			m := f.Interface().(record.Money)
			row = append(row, export.WholeOf(m.Amount), export.TextOf(m.Currency))
		case f.Type() == timeType:
			row = append(row, export.InstantOf(fleet.MillisOf(f.Interface().(record.Instant).Time)))
		case f.Kind() == reflect.Float64:
			row = append(row, export.ExactOf(f.Float()))
		case f.Kind() == reflect.Bool:
			row = append(row, export.TruthOf(fleet.TriOf(f.Bool())))
		case f.Kind() == reflect.Slice:
			row = append(row, export.WordsOf(f.Interface().([]string)))
		case f.Kind() == reflect.String:
			row = append(row, export.TextOf(f.String()))
		case f.CanUint():
			row = append(row, export.WholeOf(int64(f.Uint())))
		default:
			row = append(row, export.WholeOf(f.Int()))
		}
	}
	return row
}
