package person

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/motorpool/fleet/api/record"
)

// erasedText stands where words of an erased person stood, and emptied where a row of a file did.
const erasedText, emptied = "[erased]", "{}"

// traces are what a person may be recognised by in texts outside of its own records.
type traces struct {
	ids     map[string]bool // of the customer and those merged into it
	strong  []string        // in small letters: a text that holds one is about the person
	numbers []string        // by which texts for people call them, beside their names: "Bo Qy (C-1002)"
	names   map[string]bool // in small letters: what is taken out of such a text where it stands alone
	lasts   []string        // in small letters: last names, by which rows of files are found
	members map[string]bool // members of records about the person that hold free text
}

// FreeText are the members in which staff write about the customer of a record. A test holds the texts of bodies
// against it, as it does against those that events leave out.
var FreeText = map[string]bool{"delivery_address": true, "notes": true, "note": true, "signed_by": true, "reason": true,
	"fail_reason": true,
	"void_reason": true, "cancel_reason": true, "status_reason": true}

// tracesOf collects what was ever written of customers and in their notes and documents.
func tracesOf(ids []string, customers []record.Customer, notes []record.Note, documents []record.Document) *traces {
	t := &traces{ids: map[string]bool{}, names: map[string]bool{}, members: FreeText}
	for _, id := range ids {
		t.ids[id] = true
	}
	for i := range customers {
		c := &customers[i]
		if called := "(" + c.Number + ")"; c.Number != "" && !slices.Contains(t.numbers, called) {
			t.numbers = append(t.numbers, called)
		}
		full := strings.TrimSpace(c.FirstName + " " + c.LastName)
		t.find(5, c.Email, c.Phone, c.TaxID)
		for _, name := range []string{c.DisplayName, full, c.CompanyName, c.LastName + ", " + c.FirstName} {
			if strings.Contains(strings.TrimSpace(name), " ") {
				t.find(7, name)
			}
			t.drop(name)
		}
		if last := strings.ToLower(strings.TrimSpace(c.LastName)); last != "" && !slices.Contains(t.lasts, last) {
			t.lasts = append(t.lasts, last)
		}
		t.drop(c.FirstName, c.LastName, c.DateOfBirth, c.Email, c.Phone, c.TaxID)
		if l := c.Licence; l != nil {
			t.find(5, l.Number)
			t.drop(l.Number)
		}
		if a := c.Address; a != nil {
			t.find(8, a.Line1, a.Line2)
			t.drop(a.Line1, a.Line2, a.City, a.PostalCode)
		}
		for _, ref := range c.ExternalRefs {
			t.find(6, ref.ID)
			t.drop(ref.ID)
		}
		if n := c.DoNotRent; n != nil {
			t.find(12, n.Note)
		}
	}
	for i := range notes {
		t.find(12, notes[i].Text)
	}
	for i := range documents {
		t.find(8, documents[i].Name)
	}
	return t
}

// find adds texts that are enough to recognise the person by, if they are long enough.
func (t *traces) find(least int, texts ...string) {
	for _, text := range texts {
		if text = strings.ToLower(strings.TrimSpace(text)); utf8.RuneCountInString(text) >= least {
			t.strong = append(t.strong, text)
		}
	}
}

// drop adds texts that go where the person was recognised.
func (t *traces) drop(texts ...string) {
	for _, text := range texts {
		if text = strings.ToLower(strings.TrimSpace(text)); text != "" {
			t.names[text] = true
		}
	}
}

// forgive leaves out what other customers have too: it does not tell the person.
func (t *traces) forgive(shared map[string]bool) {
	var strong []string
	seen := map[string]bool{}
	for _, text := range t.strong {
		if !shared[text] && !seen[text] {
			strong = append(strong, text)
			seen[text] = true
		}
	}
	t.strong = strong
}

// words are what is sought in the store: strong texts, also as they are written in JSON, ids, and last names as rows
// of files have them.
func (t *traces) words() []string {
	var all []string
	for _, text := range t.strong {
		all = append(all, text, quotedInside(text), plainInside(text))
	}
	for id := range t.ids {
		all = append(all, id)
	}
	for _, last := range t.lasts {
		all = append(all, `"last_name":"`+quotedInside(last)+`"`, `"last_name":"`+plainInside(last)+`"`)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quotedInside is a text as it stands between the quotes of JSON that is kept.
func quotedInside(text string) string { return inside(text, true) }

// plainInside is a text as it stands between the quotes of JSON that is shown, in which &, < and > are not escaped.
func plainInside(text string) string { return inside(text, false) }

func inside(text string, escape bool) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escape)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string
	}
	return out.String()[1 : out.Len()-2] // without the quotes, and the line's end
}

// copies are tables of what was brought and fetched as files. A row of theirs that tells the person is emptied as a
// whole, since it may hold anything that the person's own record held.
var copies = map[string]bool{"job_input": true, "job_output": true}

// rewrite takes the person out of a text of a table: out of the strings of a JSON object, and with whole lines out of
// tables of many lines. The lines stay, empty, so that what counts them still fits.
func (t *traces) rewrite(table, text string) string {
	if copies[table] && (t.knows(text) || t.namesake(text)) {
		return emptied
	}
	if next, ok := t.object(text); ok {
		return next
	}
	if !strings.Contains(text, "\n") {
		if t.knows(text) {
			return erasedText
		}
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !t.knows(line) && !t.named(line) {
			continue
		}
		if next, ok := t.object(line); ok && !t.knows(next) {
			lines[i] = next
		} else {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// namesake says whether a row of a file is of somebody of the person's first and last name.
func (t *traces) namesake(row string) bool {
	var of struct {
		First string `json:"first_name"`
		Last  string `json:"last_name"`
	}
	if json.Unmarshal([]byte(row), &of) != nil {
		return false
	}
	first, last := strings.ToLower(strings.TrimSpace(of.First)), strings.ToLower(strings.TrimSpace(of.Last))
	return first != "" && last != "" && t.names[first] && t.names[last]
}

// named says whether a line names the customer.
func (t *traces) named(line string) bool {
	for id := range t.ids {
		if strings.Contains(line, id) {
			return true
		}
	}
	return false
}

// knows says whether a text holds something that tells the person.
func (t *traces) knows(text string) bool {
	text = strings.ToLower(text)
	for _, s := range t.strong {
		if strings.Contains(text, s) || strings.Contains(text, quotedInside(s)) {
			return true
		}
	}
	return false
}

// object takes the person out of a JSON object or array; the second result says whether the text is one.
func (t *traces) object(text string) (string, bool) {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return "", false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return "", false
	}
	changed := false
	about := false
	if o, ok := v.(map[string]any); ok {
		id, _ := o["customer_id"].(string)
		about = t.ids[id]
	}
	v = t.value(v, "", about, &changed)
	if !changed {
		return text, true
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	if err := enc.Encode(v); err != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// value takes the person out of a JSON value that is a member of a name. about says that the record is the person's.
func (t *traces) value(v any, name string, about bool, changed *bool) any {
	switch v := v.(type) {
	case map[string]any:
		if id, _ := v["id"].(string); t.ids[id] && len(v) > 1 { // the person's own record, as it was shown
			*changed = true
			return map[string]any{"id": id}
		}
		known := about
		for _, inner := range v {
			if text, ok := inner.(string); ok && t.knows(text) {
				known = true
			}
		}
		// Why somebody took a line of a bill back is what that person wrote; how a sum came to be is part of the books.
		if text, ok := v["explanation"].(string); ok && about && text != erasedText && v["source"] == "manual" &&
			v["reversal_of"] != nil {
			v["explanation"], *changed = erasedText, true
		}
		for member, inner := range v {
			if text, ok := inner.(string); ok && known && t.names[strings.ToLower(strings.TrimSpace(text))] {
				v[member], *changed = erasedText, true
				continue
			}
			v[member] = t.value(inner, member, known, changed)
		}
	case []any:
		for i := range v {
			v[i] = t.value(v[i], name, about, changed)
		}
	case string:
		if v != "" && v != erasedText && (about && t.members[name] || t.knows(v)) {
			*changed = true
			return erasedText
		}
	}
	return v
}
