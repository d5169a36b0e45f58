//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// read has an answer of the interface in JSON.
func (m *machine) read(key, path string, into any) {
	m.t.Helper()
	status, body, err := get(m.base+path, key)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil || status != http.StatusOK {
		m.t.Fatalf("GET %s: %d %v\n%s", path, status, err, body)
	}
}

// eventsFit holds the first events of each type that an account was told of against the schema that the server
// publishes, and returns how many there are of each type that there is.
func (m *machine) eventsFit(key string) map[string]int {
	m.t.Helper()
	var types struct{ Data []struct{ Type string } }
	m.read(key, "/v1/event_types", &types)
	found := map[string]int{}
	for _, one := range types.Data {
		var events struct{ Data []json.RawMessage }
		m.read(key, "/v1/events?per_page=100&types="+one.Type, &events)
		if found[one.Type] = len(events.Data); len(events.Data) == 0 {
			delete(found, one.Type)
			continue
		}
		var described struct{ Schema json.RawMessage }
		m.read(key, "/v1/event_types/"+one.Type, &described)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(described.Schema))
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := errors.Join(err, compiler.AddResource("event.json", document)); err != nil {
			m.t.Fatal(err)
		}
		schema, err := compiler.Compile("event.json")
		if err != nil {
			m.t.Fatal(err)
		}
		for _, event := range events.Data {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(event))
			if err = errors.Join(err, schema.Validate(value)); err != nil {
				m.t.Errorf("an event %s does not fit its schema: %v\n%s", one.Type, err, event)
			}
		}
	}
	return found
}

// What the accounts of the demo are told of, its fleet for rent among them, is as the published schemas say.
func TestWhatTheDemoIsToldOfFitsItsSchemas(t *testing.T) {
	m := newMachine(t)
	m.up("--demo")
	for file, wanted := range map[string][]string{
		trackingKeyFile: {"vehicle.trip.started", "vehicle.trip.ended", "vehicle.stop.started", "vehicle.stop.ended"},
		demoKeyFile:     {"vehicle.created", "vehicle.status_changed", "vehicle.trip.ended", "vehicle.stop.ended"},
	} {
		key := m.keyIn(file)
		m.eventually("there are events of "+file, func() error {
			found := m.eventsFit(key)
			for _, name := range wanted {
				if found[name] == 0 {
					return fmt.Errorf("none of %s; there are %v", name, found)
				}
			}
			t.Logf("%s: %v", file, found)
			return nil
		})
	}
	m.interrupt()
}
