package api

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// This file adds a kind of record, stickers on vehicles, by the steps of the recipe in ARCHITECTURE.md and by nothing
// else, and then asks for all that a kind has by that. What the recipe writes into files of the tree, the test gives to
// its own database and server.

// Step 1: a prefix of its ids, which no other kind has.
const stickerPrefix = "stk_"

// Step 2: what callers write of it, the body that is stored, and its Kind, with what must be unique.

type StickerFields struct {
	Code  string `json:"code" minLength:"1" maxLength:"20" doc:"What is printed on it; unique within the account."`
	Color string `json:"color,omitempty" maxLength:"20" doc:"Of its ground."`
}

type storedSticker struct{ StickerFields }

var stickerKind = record.Kind[storedSticker]{Name: "sticker", Prefix: stickerPrefix,
	Claims: func(s *storedSticker) []record.Claim {
		return []record.Claim{{Field: "sticker.code", Value: s.Code, Says: "/code"}}
	},
}

// Step 3: its table, whose columns are taken from the record by their DEFAULT expressions.
const stickerTable = `CREATE TABLE stickers
(
    account      UInt64,
    id           UInt64,
    revision     UInt64,
    created_at   DateTime64(3, 'UTC'),
    updated_at   DateTime64(3, 'UTC'),
    archived_at  Nullable(DateTime64(3, 'UTC')),
    code         String DEFAULT JSONExtractString(body, 'code'),
    color        LowCardinality(String) DEFAULT JSONExtractString(body, 'color'),
    external_ids Array(String)
        DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    body         String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512`

// Step 4: its line in the list of feeds.
var stickerFeed = schemas.Feed{Table: "stickers", Kinds: []string{"sticker"},
	Columns: []string{"account", "id", "revision", "created_at", "updated_at", "archived_at", "body"}}

// Step 5: its Listing, by which callers may filter, sort and search.
var stickerListing = query.Listing{Table: "stickers", Search: []string{"code"}, Fields: []query.ListField{
	{Name: "code", Type: query.TextField, Sort: true},
	{Name: "color", Type: query.TextField},
	{Name: "updated_at", Type: query.TimeField, Range: true, Sort: true},
}}

// Step 6: its row in fleet.EventsOfRecords, so that it is told of.
var stickerEvents = fleet.RecordEvents{Kind: "sticker", Category: "fleet",
	Types: []string{"sticker.created", "sticker.updated", "sticker.archived"}}

// Step 7: its row in api/kinds.go, with the scope that it takes to be told of it, and what people call it.
var stickerRow = rest.Kind{Log: stickerKind.Name, Read: auth.VehiclesRead}

// Step 8: how it is answered, and its resource in a room.

type Sticker struct {
	ID string `json:"id" doc:"Identity." example:"stk_1234"`

	StickerFields

	Object string `json:"object" doc:"Always sticker." example:"sticker"`

	rest.Stamps
}

func stickerRoutes(s *rest.Server) {
	stickers := &rest.Resource[storedSticker]{
		Server: s, Log: record.NewLog(s.Store, stickerKind), Listing: &stickerListing,
		Titles:   rest.Titles{Path: "/v1/stickers", Tag: "Vehicles", Noun: "sticker", Nouns: "stickers"},
		Scope:    rest.Scopes{Read: auth.VehiclesRead, Write: auth.VehiclesWrite},
		Views:    rest.Views{View: Sticker{}, Fields: StickerFields{}},
		Writable: func(b *storedSticker) any { return &b.StickerFields },
		Show: rest.ShowEach(func(rec record.Record[storedSticker]) any {
			return Sticker{ID: fleet.FormatID(stickerPrefix, rec.ID), StickerFields: rec.Body.StickerFields,
				Object: "sticker", Stamps: rest.StampsOf(rec)}
		}),
	}
	stickers.Register()
}

// keptEvents keeps what is published.
type keptEvents struct {
	mu  sync.Mutex
	all []fleet.Event
}

func (k *keptEvents) PublishEvents(_ context.Context, events []fleet.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, events...)
	return nil
}

// withStickers follows the recipe and returns a world that has stickers, and what is told in it.
func withStickers(t *testing.T) (*world, *keptEvents) {
	records, types := fleet.EventsOfRecords, fleet.EventTypes
	fleet.EventsOfRecords = append(slices.Clone(records), stickerEvents)
	fleet.EventTypes = append(slices.Clone(types), stickerEvents.Types...)
	usual := kinds
	kinds = maps.Clone(kinds)
	kinds[stickerPrefix] = stickerRow
	t.Cleanup(func() { fleet.EventsOfRecords, fleet.EventTypes, kinds = records, types, usual })
	told := &keptEvents{}
	w := newWorld(t, func(c *rest.Config, d *Deps) {
		d.DB, d.Events = schematest.Open(t), told
		if err := d.DB.Exec(t.Context(), stickerTable); err != nil {
			t.Fatal(err)
		}
		c.Record.Feeds = append(schemas.Feeds(), stickerFeed)
	})
	stickerRoutes(w.api.Server)
	return w, told
}

func TestAKindOfRecordIsAddedByTheRecipe(t *testing.T) {
	w, told := withStickers(t)

	// It is created, its code is unique, and its members are held against their schema.
	made := w.do("POST", "/v1/stickers", `{"code":"A1","color":"red"}`, "Idempotency-Key", "k").ok(201)
	id := made.id()
	if !strings.HasPrefix(id, stickerPrefix) || made.header.Get("ETag") != `"r1"` || made.object()["object"] != "sticker" {
		t.Errorf("created %s with %v", made.body, made.header)
	}
	again := w.do("POST", "/v1/stickers", `{"code":"A1","color":"red"}`, "Idempotency-Key", "k").ok(201)
	wantEqual(t, "again", again.id(), id)
	w.do("POST", "/v1/stickers", `{"code":"A1"}`).problem(409, "conflict")
	w.do("POST", "/v1/stickers", `{"color":"red"}`).problem(422, "validation_failed")

	// A batch makes several.
	for i, one := range w.do("POST", "/v1/stickers/batch",
		`{"data":[{"code":"B1","color":"red"},{"code":"B2","color":"blue"},{"code":"A1"}]}`).data() {
		wantEqual(t, "status of an item", one["status"], []any{201.0, 201.0, 409.0}[i])
	}

	// They are listed, filtered, sought, sorted and paged.
	codes := func(query string) string {
		var all []string
		for _, one := range w.do("GET", "/v1/stickers?"+query, "").data() {
			all = append(all, one["code"].(string))
		}
		return strings.Join(all, " ")
	}
	wantEqual(t, "all", codes("sort=code"), "A1 B1 B2")
	wantEqual(t, "red", codes("color=red&sort=-code"), "B1 A1")
	wantEqual(t, "sought", codes("q=b2"), "B2")
	page := w.do("GET", "/v1/stickers?sort=code&per_page=2", "").ok(200).pagination()
	wantEqual(t, "total", page.Total, 3)
	wantEqual(t, "second page", codes("sort=code&per_page=2&cursor="+page.NextCursor), "B2")
	w.do("GET", "/v1/stickers?shape=round", "").problem(400, "invalid_request")

	// It is changed if it is what the caller has seen, and each change stands in its history.
	path := "/v1/stickers/" + id
	changed := w.do("PATCH", path, `{"color":null}`, "If-Match", `"r1"`).ok(200)
	if changed.header.Get("ETag") != `"r2"` || w.do("GET", path, "").ok(200).object()["revision"] != 2.0 {
		t.Errorf("changed %s with %v", changed.body, changed.header)
	}
	w.do("PATCH", path, `{"color":"green"}`, "If-Match", `"r1"`).problem(412, "precondition_failed")
	w.do("GET", path, "", "If-None-Match", `"r2"`).ok(304)
	history := w.do("GET", path+"/history", "").data()
	if len(history) != 2 || history[0]["action"] != "update" || history[1]["action"] != "create" {
		t.Errorf("history %v", history)
	}

	// It is archived, out of lists, still there by its id, and its code is free.
	w.do("DELETE", path, "", "If-Match", `"r2"`).ok(204)
	wantEqual(t, "not archived", codes("sort=code"), "B1 B2")
	if w.do("GET", path, "").ok(200).object()["archived_at"] == nil {
		t.Error("it is not archived")
	}
	w.do("POST", "/v1/stickers", `{"code":"A1"}`).ok(201)

	// Another account has none of them, and scopes are asked for.
	other := w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("GET", path, "", "Authorization", "Bearer "+other).problem(404, "not_found")
	w.do("GET", "/v1/stickers", "", "Authorization", "Bearer "+w.newKey(w.account, auth.BookingsRead)).
		problem(403, "insufficient_scope")

	told.check(t, id, stickerEvents.Types...)
	stickersAreDescribed(t, w)
}

// check holds what was told of a record against what is wanted.
func (k *keptEvents) check(t *testing.T, id string, want ...string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	var types []string
	for _, e := range k.all {
		var object struct{ ID string }
		if err := json.Unmarshal(e.Body, &object); err != nil {
			t.Fatal(err)
		}
		if object.ID == id {
			types = append(types, e.Type)
		}
	}
	wantEqual(t, "told", types, want)
}

// stickersAreDescribed looks for stickers in the OpenAPI document and among the types of events.
func stickersAreDescribed(t *testing.T, w *world) {
	t.Helper()
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(w.do("GET", "/v1/openapi.json", "").ok(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range map[string]int{"": 2, "/batch": 1, "/{id}": 4, "/{id}/history": 1} {
		wantEqual(t, "methods of "+path, len(doc.Paths["/v1/stickers"+path]), methods)
	}
	for _, name := range []string{"Sticker", "StickerFields", "StickerPatch"} {
		if doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	if !strings.Contains(string(w.do("GET", "/v1/event_types", "").ok(200).body), `"sticker.created"`) {
		t.Error("the event is no type")
	}
}
