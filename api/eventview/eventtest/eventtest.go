// Package eventtest holds the events that a test makes against their schemas.
package eventtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/eventview"
)

// Check holds events against the schemas of their types, in which every member must be described.
type Check struct {
	r  *eventview.Renderer
	c  *eventview.Catalogue
	mu sync.Mutex
	of map[string]*jsonschema.Schema
}

// New makes a check of what a renderer shows.
func New(r *eventview.Renderer) *Check {
	return &Check{r: r, c: r.Catalogue(false), of: map[string]*jsonschema.Schema{}}
}

// Event says what is wrong with an event as it is shown, in full and thin.
func (k *Check) Event(e *fleet.Event) error {
	schema, err := k.schema(e.Type)
	if err != nil {
		return err
	}
	for _, form := range []eventview.Form{{}, {Thin: true}} {
		text, err := k.r.JSON(e, 1, form)
		if err != nil {
			return err
		}
		if err := fits(schema, text); err != nil {
			return fmt.Errorf("an event %s does not fit its schema: %w\n%s", e.Type, err, text)
		}
	}
	return nil
}

// Example says what is wrong with the example of a type.
func (k *Check) Example(eventType string) error {
	schema, err := k.schema(eventType)
	if err != nil {
		return err
	}
	text, err := json.Marshal(k.c.Example(eventType))
	if err != nil {
		return err
	}
	if err := fits(schema, text); err != nil {
		return fmt.Errorf("the example of %s does not fit its schema: %w\n%s", eventType, err, text)
	}
	return nil
}

func fits(schema *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func (k *Check) schema(eventType string) (*jsonschema.Schema, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.of[eventType]; s != nil {
		return s, nil
	}
	if k.c.Of(eventType) == nil {
		return nil, fmt.Errorf("%s is no type of events", eventType)
	}
	whole, err := k.c.Schema(eventType)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(eventType+".json", doc); err != nil {
		return nil, err
	}
	k.of[eventType], err = compiler.Compile(eventType + ".json")
	return k.of[eventType], err
}

// TB is what a test is told by.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Publisher holds what is published against its schema, and hands it on to whoever else takes it.
type Publisher struct {
	T     TB
	Check func() *Check // asked when an event comes; nil if what the test writes no request could, and so fits no schema
	To    interface {   // nil if nobody does
		PublishEvents(ctx context.Context, events []fleet.Event) error
	}
}

// PublishEvents implements event.Publisher.
func (p *Publisher) PublishEvents(ctx context.Context, events []fleet.Event) error {
	p.T.Helper()
	for i := range events {
		check := p.Check()
		if check == nil {
			continue
		}
		if err := check.Event(&events[i]); err != nil {
			p.T.Errorf("%v", err)
		}
	}
	if p.To == nil {
		return nil
	}
	return p.To.PublishEvents(ctx, events)
}
