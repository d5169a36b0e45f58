package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
)

// anyValue is a value as records hold them, in which what may be about a person has a text that is nowhere else.
func anyValue(rng *rand.Rand, depth int) any {
	switch n := rng.IntN(8); {
	case n < 2 && depth > 0:
		object := map[string]any{}
		for range rng.IntN(5) {
			names := []string{"status", "amount", "lines", "a b", `q"uo\te`, "ü", "", "<&>", "\u2028"}
			object[names[rng.IntN(len(names))]] = anyValue(rng, depth-1)
			if rng.IntN(3) == 0 {
				name := "licence_" + fmt.Sprint(rng.IntN(3))
				if rng.IntN(2) == 0 {
					name = slices.Sorted(maps.Keys(personal))[rng.IntN(len(personal))]
				}
				object[name] = []any{map[string]any{"status": "a secret"}, "a secret"}
			}
		}
		return object
	case n == 2 && depth > 0:
		list := []any{}
		for range rng.IntN(4) {
			list = append(list, anyValue(rng, depth-1))
		}
		return list
	case n == 3:
		return json.Number([]string{"0", "-17", "9007199254740993", "1.50", "1e3"}[rng.IntN(5)])
	case n == 4:
		return []any{nil, true, false}[rng.IntN(3)]
	default:
		return []string{"", "a", `say "x", {[y`, `\`, "ü\n", "]}", "<b>&\u2028"}[rng.IntN(7)]
	}
}

// without is a value as events may tell it.
func without(value any) any {
	switch v := value.(type) {
	case map[string]any:
		told := map[string]any{}
		for name, inner := range v {
			if !TakesOut(name) {
				told[name] = without(inner)
			}
		}
		return told
	case []any:
		told := []any{}
		for _, inner := range v {
			told = append(told, without(inner))
		}
		return told
	}
	return value
}

// What is told of random bodies, and of what they were, is what is left of them when they are decoded.
func TestEventsTellWhatIsLeftOfABody(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() map[string]any {
		object := map[string]any{"name": "x"}
		for i := range rng.IntN(6) {
			object[fmt.Sprint("m", i)] = anyValue(rng, 3)
		}
		if rng.IntN(3) == 0 {
			object["notes"] = "a secret"
		}
		return object
	}
	encoded := func(object map[string]any) string {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	secrets := 0
	for range 2000 {
		before, after := random(), random()
		if rng.IntN(2) == 0 {
			for name, value := range before {
				after[name] = value
			}
		}
		w := written("vehicle", "update", encoded(before), encoded(after))
		if w.Before = nil; rng.IntN(2) == 0 {
			w.Before = []byte(" " + strings.ReplaceAll(encoded(before), `{"`, "{\n\""))
		}
		want := without(after).(map[string]any)
		if w.Before != nil {
			was := map[string]any{}
			for name, value := range without(before).(map[string]any) {
				if now, ok := want[name]; !ok || !reflect.DeepEqual(now, value) {
					was[name] = value
				}
			}
			for name := range want {
				if _, ok := without(before).(map[string]any)[name]; !ok {
					was[name] = nil
				}
			}
			if len(was) > 0 {
				want[PreviousAttributes] = was
			}
		}
		want["id"], want["object"] = fleet.FormatID(w.Prefix, w.ID), "vehicle"
		want["revision"] = json.Number(fmt.Sprint(w.Revision))
		body, err := eventBody(w)
		if err != nil {
			t.Fatal(err)
		}
		if got := decoded(string(body)); !reflect.DeepEqual(got, any(want)) {
			t.Fatalf("of %s, which was %s, is told\n%s, want\n%s", w.After, w.Before, body, encoded(want))
		}
		if strings.Contains(string(w.After)+string(w.Before), "a secret") {
			secrets++
		}
		if strings.Contains(string(body), "a secret") {
			t.Fatalf("of %s is told %s", w.After, body)
		}
	}
	if secrets < 500 {
		t.Errorf("only %d bodies had a secret", secrets)
	}
	for _, broken := range []string{"", "[]", `{"a":`, `{"a":1}}`, `"x"`} {
		if _, err := eventBody(written("vehicle", "create", "", broken)); err == nil {
			t.Errorf("%q is told", broken)
		}
	}
}

// What events add stands in no body.
func TestNoBodyHasWhatEventsAdd(t *testing.T) {
	for _, b := range Bodies {
		for _, field := range reflect.VisibleFields(b.Type) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if slices.Contains([]string{"id", "object", "revision", PreviousAttributes}, name) {
				t.Errorf("%s of %s", name, b.Kind)
			}
		}
	}
}
