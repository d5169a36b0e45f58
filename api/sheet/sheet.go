// Package sheet turns rows of a table of text into JSON objects, by the schema of what they become, and
// objects into rows.
package sheet

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/csvrow"
	"github.com/motorpool/fleet/query"
)

// A sheet is CSV whose columns are members of JSON objects, nested with dots: address.city, external_refs.0.system.
// What is in a cell follows the schema: a number, a boolean, or text; a list of texts may also stand in one cell,
// joined by semicolons. Members without a schema (custom_fields.color) hold JSON where the cell is JSON, and text
// otherwise. An empty cell is an absent member. As in every CSV that we write, an apostrophe before =, +, - or @ keeps
// a spreadsheet from taking text for a formula.

// maxColumns bounds the columns of a sheet: an export of bookings has some hundreds, one for each member
// of each charge.
const maxColumns = 5000

// Reader makes objects of the rows of a sheet.
type Reader struct {
	registry huma.Registry
	schema   *huma.Schema // of an object
	header   []string
	rows     *csvrow.Reader
}

// NewReader opens a sheet. unknown says of a member that there is none, and which may be meant; "" if there is one.
func NewReader(registry huma.Registry, schema *huma.Schema, text []byte,
	unknown func(member string) string) (*Reader, error) {
	s := &Reader{registry: registry, schema: schema,
		rows: csvrow.New(csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))))}
	s.rows.FieldsPerRecord, s.rows.ReuseRecord = -1, true
	header, err := s.rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "required",
			Detail: "the file is empty; its first row names the columns"})
	}
	if err != nil {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "invalid",
			Detail: "the file is not CSV: " + err.Error()})
	}
	if len(header) > maxColumns {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "invalid",
			Detail: fmt.Sprintf("the file has more than %d columns", maxColumns)})
	}
	if len(header) == 1 && strings.Contains(header[0], ";") {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "invalid",
			Detail: "the file separates its columns by semicolons; separate them by commas"})
	}
	var faults []fleet.FieldError
	seen := map[string]bool{}
	for _, name := range header {
		name = strings.TrimSpace(name)
		s.header = append(s.header, name)
		member, _, _ := strings.Cut(name, ".")
		if seen[name] {
			faults = append(faults, fleet.FieldError{Pointer: name, Code: "invalid", Detail: "is a column twice"})
		} else if why := unknown(member); why != "" {
			faults = append(faults, fleet.FieldError{Pointer: name, Code: "unknown_field", Detail: why})
		}
		seen[name] = true
	}
	for name := range seen {
		for at := strings.IndexByte(name, '.'); at >= 0; {
			if seen[name[:at]] {
				faults = append(faults,
					fleet.FieldError{Pointer: name, Code: "invalid", Detail: "and " + name[:at] + " cannot both be columns"})
			}
			next := strings.IndexByte(name[at+1:], '.')
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	if faults != nil {
		slices.SortFunc(faults, func(a, b fleet.FieldError) int { return cmp.Compare(a.Pointer, b.Pointer) })
		return nil, fleet.Invalid(faults...)
	}
	return s, nil
}

// Next returns the next row as a JSON object, or what is wrong with it; io.EOF after the last.
func (s *Reader) Next() (query.InputRow, error) {
	cells, err := s.rows.Read()
	row := query.InputRow{Row: uint32(s.rows.Row())}
	if errors.Is(err, io.EOF) {
		return row, err
	}
	if err != nil {
		return row, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "invalid",
			Detail: "the file is not CSV: " + err.Error()})
	}
	if len(cells) != len(s.header) {
		row.Fault = fmt.Sprintf("has %d cells, and the first row has %d", len(cells), len(s.header))
		return row, nil
	}
	object := map[string]any{}
	for i, cell := range cells {
		if cell = strings.ToValidUTF8(cell, "\uFFFD"); cell != "" {
			s.set(object, s.schema, strings.Split(s.header[i], "."), plainCell(cell))
		}
	}
	text, err := json.Marshal(s.lists(object, s.schema))
	row.Body = string(text)
	return row, err
}

// Resolve follows a reference.
func Resolve(registry huma.Registry, schema *huma.Schema) *huma.Schema {
	for schema != nil && schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	return schema
}

// Inner is the schema of a member of an object or list; nil if it may be anything.
func Inner(registry huma.Registry, schema *huma.Schema, name string) *huma.Schema {
	if schema == nil {
		return nil
	}
	if schema.Type == huma.TypeArray {
		return Resolve(registry, schema.Items)
	}
	if found := schema.Properties[name]; found != nil {
		return Resolve(registry, found)
	}
	if other, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		return Resolve(registry, other)
	}
	return nil
}

// set puts the value of a cell into an object, at a path. Lists are objects with numbered members until lists
// makes them lists.
func (s *Reader) set(into map[string]any, schema *huma.Schema, path []string, cell string) {
	name := path[0]
	within := Inner(s.registry, schema, name)
	if schema != nil && schema.Properties[name] == nil && schema.Type != huma.TypeArray && scalar(within) {
		if _, open := schema.AdditionalProperties.(*huma.Schema); open {
			name, path = strings.Join(path, "."), path[:1] // the callers' own names may have dots
		}
	}
	if len(path) == 1 {
		into[name] = value(s.registry, within, cell)
		return
	}
	next, ok := into[name].(map[string]any)
	if !ok {
		next = map[string]any{}
		into[name] = next
	}
	s.set(next, within, path[1:], cell)
}

// scalar says whether values of a schema have no members that we know.
func scalar(schema *huma.Schema) bool {
	return schema == nil || schema.Type != huma.TypeObject && schema.Type != huma.TypeArray
}

// value reads a cell by a schema. What does not fit stays text, and is refused with the row.
func value(registry huma.Registry, schema *huma.Schema, cell string) any {
	kind := ""
	if schema != nil {
		kind = schema.Type
	}
	switch kind {
	case huma.TypeString:
		return cell
	case huma.TypeInteger, huma.TypeNumber:
		if n := json.Number(strings.TrimSpace(cell)); isNumber(n) {
			return n
		}
		return cell
	case huma.TypeBoolean:
		switch strings.ToLower(strings.TrimSpace(cell)) {
		case "true":
			return true
		case "false":
			return false
		}
		return cell
	case huma.TypeArray:
		if items := Resolve(registry, schema.Items); items != nil && items.Type == huma.TypeString {
			parts := []any{}
			for _, part := range strings.Split(cell, ";") {
				if part = strings.TrimSpace(part); part != "" {
					parts = append(parts, part)
				}
			}
			return parts
		}
	}
	dec := json.NewDecoder(strings.NewReader(cell))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err == nil && v != nil {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return v
		}
	}
	return cell
}

// isNumber says whether a text is a number as JSON writes it.
func isNumber(n json.Number) bool {
	var v float64
	return json.Unmarshal([]byte(n), &v) == nil
}

// lists makes lists of the numbered members that stand for them, with gaps closed.
func (s *Reader) lists(v any, schema *huma.Schema) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if schema == nil || schema.Type != huma.TypeArray {
		for name, member := range object {
			object[name] = s.lists(member, Inner(s.registry, schema, name))
		}
		return object
	}
	var numbers []int
	for name := range object {
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 {
			return object // no list, and refused as none
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	list := []any{}
	for _, n := range slices.Compact(numbers) {
		if member, ok := object[strconv.Itoa(n)]; ok {
			list = append(list, s.lists(member, Inner(s.registry, schema, "")))
		}
	}
	return list
}

// formula are the characters with which a formula begins.
const formula = "=+-@\t\r"

// plainCell takes off the apostrophe that keeps text from being a formula.
func plainCell(cell string) string {
	if at := strings.TrimLeft(cell, "'"); at != cell && at != "" && strings.IndexByte(formula, at[0]) >= 0 {
		return cell[1:]
	}
	return cell
}

// InertCell is its opposite.
func InertCell(text string) string {
	if at := strings.TrimLeft(text, "'"); at != "" && strings.IndexByte(formula, at[0]) >= 0 {
		return "'" + text
	}
	return text
}

// Flatten gives the cells of an object, by column.
func Flatten(registry huma.Registry, schema *huma.Schema, object any, prefix string, give func(column, cell string)) {
	switch v := object.(type) {
	case map[string]any:
		for name, member := range v {
			within := Inner(registry, schema, name)
			if schema != nil && within == nil && schema.Properties[name] == nil {
				give(prefix+name, FreeCell(member))
				continue
			}
			flattenMember(registry, within, member, prefix+name, give)
		}
	case []any:
		for i, member := range v {
			flattenMember(registry, Inner(registry, schema, ""), member, prefix+strconv.Itoa(i), give)
		}
	}
}

func flattenMember(registry huma.Registry, schema *huma.Schema, member any, column string,
	give func(column, cell string)) {
	switch v := member.(type) {
	case nil:
	case map[string]any, []any:
		if schema != nil && (schema.Type == huma.TypeObject || schema.Type == huma.TypeArray) {
			Flatten(registry, schema, v, column+".", give)
		} else if schema != nil && len(schema.AnyOf) > 0 {
			Flatten(registry, Resolve(registry, schema.AnyOf[0]), v, column+".", give)
		} else {
			give(column, FreeCell(v))
		}
	case string:
		if schema == nil || schema.Type == "" {
			give(column, FreeCell(v))
		} else {
			give(column, InertCell(v))
		}
	default:
		give(column, FreeCell(v))
	}
}

// FreeCell writes a value that has no schema: text as it is, unless it could be read as something else.
func FreeCell(v any) string {
	if text, ok := v.(string); ok && text != "" {
		if _, same := value(nil, nil, text).(string); same && !strings.HasPrefix(text, `"`) {
			return InertCell(text)
		}
	}
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from JSON
	}
	return string(text)
}

// ColumnOrder compares columns: by the order of the members of a type, then by name, with numbers as numbers.
func ColumnOrder(view reflect.Type) func(a, b string) int {
	order := map[string]int{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
				walk(f.Type)
			} else if _, ok := order[name]; !ok && name != "" {
				order[name] = len(order)
			}
		}
	}
	walk(view)
	return func(a, b string) int {
		left, right := strings.Split(a, "."), strings.Split(b, ".")
		if n := cmp.Compare(order[left[0]], order[right[0]]); n != 0 {
			return n
		}
		return slices.CompareFunc(left, right, func(a, b string) int {
			m, errA := strconv.Atoi(a)
			n, errB := strconv.Atoi(b)
			if errA == nil && errB == nil {
				return cmp.Compare(m, n)
			}
			return cmp.Compare(a, b)
		})
	}
}
