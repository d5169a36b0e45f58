package eventview

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Schema is the JSON Schema (2020-12) of the events of a type, which needs no other document.
func (c *Catalogue) Schema(eventType string) (map[string]any, error) {
	defs := map[string]any{}
	var bring func(name string) error
	var visit func(value any) error
	read := func(v any) (any, error) {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write the schema of %s: %w", eventType, err)
		}
		var made any
		if err := json.Unmarshal(text, &made); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", eventType, err)
		}
		return made, visit(made)
	}
	bring = func(name string) (err error) {
		if _, ok := defs[name]; ok {
			return nil
		}
		defs[name] = nil // it may refer to itself
		defs[name], err = read(c.registry.Map()[name])
		return err
	}
	visit = func(value any) error {
		switch v := value.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, componentPath)
				v["$ref"] = "#/$defs/" + name
				return bring(name)
			}
			for _, inner := range v {
				if err := visit(inner); err != nil {
					return err
				}
			}
		case []any:
			for _, inner := range v {
				if err := visit(inner); err != nil {
					return err
				}
			}
		}
		return nil
	}
	made, err := read(c.types[eventType])
	if err != nil {
		return nil, err
	}
	schema := made.(map[string]any)
	schema["$schema"], schema["title"], schema["$defs"] = "https://json-schema.org/draft/2020-12/schema", eventType, defs
	return schema, nil
}
