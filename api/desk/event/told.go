package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// PreviousAttributes is the member of an event's body that has those members of the record that were others before, as
// they were; null if there was none.
const PreviousAttributes = "previous_attributes"

// member is one of a JSON object.
type member struct {
	name  string // as it stands there, in quotes
	value string
}

// eventBody is the object of the events of a revision; what it was before is a member of it, which whoever shows events
// takes out. The stored bodies are not decoded: what is told of them is copied, member by member.
func eventBody(w record.Written) (json.RawMessage, error) {
	var told []member
	switch {
	case w.Kind == record.Jobs.Name:
		var job stored
		if err := json.Unmarshal(w.After, &job); err != nil {
			return nil, fmt.Errorf("decode %s %d revision %d: %w", w.Kind, w.ID, w.Revision, err)
		}
		text, err := json.Marshal(Report{Kind: job.Kind, SubjectID: job.Subject, Records: job.Transfer.Records,
			Format: job.Transfer.Format, FinishedAt: job.Transfer.FinishedAt, Error: job.Error})
		if err != nil {
			return nil, fmt.Errorf("encode %s %d revision %d: %w", w.Kind, w.ID, w.Revision, err)
		}
		told = scrubbed(string(text))
	case !slices.Contains(thin, w.Kind):
		var err error
		if told, err = members(w, w.After); err != nil {
			return nil, err
		}
		if w.Before != nil {
			before, err := members(w, w.Before)
			if err != nil {
				return nil, err
			}
			if was := replaced(before, told); len(was) > 0 {
				told = append(told, member{`"` + PreviousAttributes + `"`, object(was)})
			}
		}
	}
	told = append(told, member{`"id"`, strconv.Quote(fleet.FormatID(w.Prefix, w.ID))},
		member{`"object"`, strconv.Quote(w.Kind)}, member{`"revision"`, strconv.FormatUint(w.Revision, 10)})
	return json.RawMessage(object(told)), nil
}

// members are those of a stored body that may be told.
func members(w record.Written, body []byte) ([]member, error) {
	text := string(body)
	if !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
		return nil, fmt.Errorf("decode %s %d revision %d: it is no JSON object", w.Kind, w.ID, w.Revision)
	}
	told := scrubbed(text)
	if w.Kind == record.TripDrivers.Name {
		if driver := gjson.Get(text, "driver"); strings.HasPrefix(driver.Str, fleet.CustomerPrefix) {
			told = append(told, member{`"driver_id"`, driver.Raw})
		}
	}
	return told, nil
}

// scrubbed are the members of an object, without what may be about a person, at any depth.
func scrubbed(text string) []member {
	var all []member
	gjson.Parse(text).ForEach(func(name, value gjson.Result) bool {
		if !TakesOut(name.Str) {
			var told strings.Builder
			scrub(&told, value)
			all = append(all, member{name.Raw, told.String()})
		}
		return true
	})
	return all
}

// scrub writes a value without what may be about a person.
func scrub(told *strings.Builder, value gjson.Result) {
	if !value.IsObject() && !value.IsArray() {
		told.WriteString(value.Raw)
		return
	}
	open, end := byte('{'), byte('}')
	if value.IsArray() {
		open, end = '[', ']'
	}
	told.WriteByte(open)
	first := true
	value.ForEach(func(name, inner gjson.Result) bool {
		if open == '{' && TakesOut(name.Str) {
			return true
		}
		if !first {
			told.WriteByte(',')
		}
		if first = false; open == '{' {
			told.WriteString(name.Raw)
			told.WriteByte(':')
		}
		scrub(told, inner)
		return true
	})
	told.WriteByte(end)
}

// replaced are the members that were others before, as they were.
func replaced(before, after []member) []member {
	var was []member
	for _, m := range before {
		i := slices.IndexFunc(after, m.sameName)
		if i < 0 || !m.sameValue(after[i]) {
			was = append(was, m)
		}
	}
	for _, m := range after {
		if !slices.ContainsFunc(before, m.sameName) {
			was = append(was, member{m.name, "null"})
		}
	}
	return was
}

func (m member) sameName(o member) bool { return m.name == o.name }

// sameValue says whether two values say the same; an earlier version may have written the same with its members in
// another order.
func (m member) sameValue(o member) bool {
	return m.value == o.value || reflect.DeepEqual(decoded(m.value), decoded(o.value))
}

func decoded(text string) (value any) {
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	if in.Decode(&value) != nil {
		return nil
	}
	return value
}

// object writes members as an object.
func object(all []member) string {
	var text strings.Builder
	text.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(m.name)
		text.WriteByte(':')
		text.WriteString(m.value)
	}
	text.WriteByte('}')
	return text.String()
}

// TakesOut says whether events leave out a member of a stored body, at any depth, because it may be about a person.
func TakesOut(member string) bool { return personal[member] || strings.HasPrefix(member, "licence") }
