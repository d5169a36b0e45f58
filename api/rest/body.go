package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	messages "github.com/danielgtaylor/huma/v2/validation"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/sheet"
)

// ParseObject reads a body that must be one JSON object: a syntax error is a 400, another value a 422.
func ParseObject(body []byte) (map[string]any, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&v); err != nil {
		return nil, BadJSON(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fleet.NewError(fleet.CodeInvalid, "The body holds more than one JSON value.")
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "type", Detail: "the body must be a JSON object"})
	}
	return object, nil
}

// BadJSON is the 400 that says where a body stops being JSON.
func BadJSON(err error) error {
	detail := "The body is not JSON."
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		detail = fmt.Sprintf("The body is not JSON: %s at byte %d.", e.Error(), e.Offset)
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		detail = "The body is not JSON: it ends too early."
	}
	return fleet.NewError(fleet.CodeInvalid, detail)
}

// DecodeBody reads the request's body into v, a pointer, and holds it against the schema of v's type: 400 for what is
// not JSON, 422 naming the members for what does not fit. A body that may be left out, and is, leaves v as it is.
func (a *Server) DecodeBody(r *http.Request, v any) error {
	if x := ExchangeOf(r.Context()); len(x.Body) == 0 && x.route != nil && x.route.Optional {
		return nil
	}
	object, err := ParseObject(RequestBody(r))
	if err != nil {
		return err
	}
	return a.DecodeObject(object, v)
}

// DecodeObject is DecodeBody for an object that was read already, which it may change: 422 for what does not fit v's
// schema.
func (a *Server) DecodeObject(object map[string]any, v any) error {
	if err := a.knownNulls(object, v); err != nil {
		return err
	}
	dropNulls(object)
	if err := a.validate(reflect.TypeOf(v).Elem(), object); err != nil {
		return err
	}
	if faults := unkept("", object, 1, nil); faults != nil {
		return fleet.Invalid(faults...)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode a validated body: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		// The schema allows what the type cannot hold: a number like 1e300, a time that no calendar has.
		pointer := ""
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			for _, part := range strings.Split(e.Field, ".") {
				if part != "" && !unicode.IsUpper(rune(part[0])) { // an embedded struct is no member
					pointer += "/" + part
				}
			}
		}
		return fleet.Invalid(fleet.FieldError{Pointer: pointer, Code: "invalid",
			Detail: "a value is out of range or malformed"})
	}
	return nil
}

const (
	// mostWhole is the largest number up to which JSON keeps every whole one.
	mostWhole = 1<<53 - 1
	// mostNested is how deep a document may nest. The store cannot read one that nests a thousand deep.
	mostNested = 100
)

// unkept appends what of a value is not kept as it was sent, or has the store read nothing of its whole document, as a
// whole number does for which it has no room: a member of custom_fields may be anything.
func unkept(pointer string, value any, depth int, faults []fleet.FieldError) []fleet.FieldError {
	if len(faults) == MaxFindings {
		return faults
	}
	fault := func(code, detail string) []fleet.FieldError {
		return append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	switch v := value.(type) {
	case float64:
		if math.Abs(v) > mostWhole {
			return fault("out_of_range", fleet.Between(-mostWhole, mostWhole)+"; send it as a text")
		}
	case []any:
		if depth > mostNested {
			return fault("too_deep", fmt.Sprintf("nests more than %d deep", mostNested))
		}
		for i, inner := range v {
			faults = unkept(pointer+"/"+strconv.Itoa(i), inner, depth+1, faults)
		}
	case map[string]any:
		if depth > mostNested {
			return fault("too_deep", fmt.Sprintf("nests more than %d deep", mostNested))
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			faults = unkept(pointer+"/"+fleet.PointerPart(name), v[name], depth+1, faults)
		}
	}
	return faults
}

// knownNulls refuses members that are null and that no type of some values (or pointers to such) has: dropNulls would
// take a slip of the fingers for nothing.
func (a *Server) knownNulls(object map[string]any, of ...any) error {
	registry := a.Docs.OpenAPI().Components.Schemas
	var names []string
	for _, v := range of {
		t := reflect.TypeOf(v)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		s := sheet.Resolve(registry, registry.Schema(t, true, ""))
		if s.Properties == nil {
			return nil // it has whatever members there are
		}
		names = slices.AppendSeq(names, maps.Keys(s.Properties))
	}
	var unknown []fleet.FieldError
	for name, value := range object {
		if value == nil && !slices.Contains(names, name) {
			unknown = append(unknown, fleet.FieldError{Pointer: "/" + name, Code: "unknown_field",
				Detail: "there is no such member" + DidYouMean(name, names)})
		}
	}
	if unknown == nil {
		return nil
	}
	slices.SortFunc(unknown, func(x, y fleet.FieldError) int { return strings.Compare(x.Pointer, y.Pointer) })
	return fleet.Invalid(unknown[:min(len(unknown), MaxFindings)]...)
}

// dropNulls removes members that are null, which says that they are absent; custom_fields are the caller's own.
func dropNulls(object map[string]any) {
	for name, value := range object {
		if value == nil {
			delete(object, name)
		} else if inner, ok := value.(map[string]any); ok && name != "custom_fields" {
			dropNulls(inner)
		}
	}
}

// Members are told apart by case, as in JSON; the library would take "MAKE" for "make". Its messages are made to read
// on from the name of a member, and to show numbers as people write them: 1000000, not 1e+06.
func init() {
	huma.ValidateStrictCasing = true
	huma.ErrorFormatter = func(format string, args ...any) string {
		for i, arg := range args {
			if number, ok := arg.(float64); ok {
				args[i] = strconv.FormatFloat(number, 'f', -1, 64)
			}
		}
		return fmt.Sprintf(format, args...)
	}
	messages.MsgExpectedMinimumNumber, messages.MsgExpectedMaximumNumber = "must be at least %v", "must be at most %v"
	messages.MsgExpectedExclusiveMinimumNumber, messages.MsgExpectedExclusiveMaximumNumber = "must be above %v",
		"must be below %v"
	messages.MsgExpectedMinLength, messages.MsgExpectedMaxLength = "must have at least %d characters",
		"must have at most %d characters"
	messages.MsgExpectedMinItems, messages.MsgExpectedMaxItems = "must have at least %d elements",
		"must have at most %d elements"
	messages.MsgExpectedOneOf = "must be one of %s"
	messages.MsgExpectedRFC3339DateTime = "must be a time with Z or an offset, such as 2026-12-31T10:00:00Z"
	messages.MsgExpectedRFC3339Date = "must be a date such as 2026-12-31"
	messages.MsgExpectedBoolean = "must be true or false"
}

// MaxFindings is how many faults of a body are told: a body of 80,000 unknown members took minutes to say so of each.
const MaxFindings = 100

// validate holds a document against the schema of a type.
func (a *Server) validate(t reflect.Type, document any) error {
	registry := a.Docs.OpenAPI().Components.Schemas
	res := &huma.ValidateResult{}
	schema := registry.Schema(t, true, "")
	huma.Validate(registry, schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, document, res)
	if len(res.Errors) == 0 {
		return nil
	}
	var fields []fleet.FieldError
	for _, err := range res.Errors[:min(len(res.Errors), MaxFindings)] {
		if detail, ok := err.(*huma.ErrorDetail); ok {
			f := fieldError(detail)
			if f.Code == "unknown_field" {
				f.Detail = "there is no such member" + meantMember(registry, schema, f.Pointer)
			}
			fields = append(fields, f)
		}
	}
	return fleet.Invalid(fields...)
}

// fieldError translates a finding of the validator, whose places read "a[0].b", into a JSON pointer and a code.
func fieldError(d *huma.ErrorDetail) fleet.FieldError {
	place := strings.NewReplacer("[", "/", "]", "", ".", "/").Replace(d.Location)
	code := "invalid"
	switch {
	case strings.HasPrefix(d.Message, "unexpected property"):
		code = "unknown_field"
	case strings.HasPrefix(d.Message, "expected required property"):
		code = "required"
		name := strings.Fields(strings.TrimPrefix(d.Message, "expected required property "))[0]
		if place != "" {
			place += "/"
		}
		place += name
		d.Message = "must be given"
	case strings.HasPrefix(d.Message, "expected string"), strings.HasPrefix(d.Message, "expected integer"),
		strings.HasPrefix(d.Message, "expected number"), strings.HasPrefix(d.Message, "expected array"),
		strings.HasPrefix(d.Message, "expected object"), d.Message == messages.MsgExpectedRFC3339DateTime,
		d.Message == messages.MsgExpectedRFC3339Date, d.Message == messages.MsgExpectedBoolean:
		code = "type"
	}
	return fleet.FieldError{Pointer: "/" + strings.TrimPrefix(place, "/"), Code: code, Detail: d.Message}
}

// MergePatch changes target as RFC 7396 says: null removes a member, objects merge, everything else replaces.
func MergePatch(target, patch map[string]any) {
	for name, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(target, name)
		case isObject:
			into, ok := target[name].(map[string]any)
			if !ok {
				into = map[string]any{}
			}
			MergePatch(into, inner)
			target[name] = into
		default:
			target[name] = value
		}
	}
}
