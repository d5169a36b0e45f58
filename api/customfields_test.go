package api

import (
	"fmt"
	"strings"
	"testing"
)

// The store cannot read a document that has a whole number of more digits than it has room for, or that nests without
// end: a record that had one in its custom fields would show nothing in lists, once its row was made from the log. Such
// a value is refused, and the member that has it is named; so is a number beyond those of which JSON keeps every digit.
func TestCustomFieldsThatTheStoreCannotReadAreRefused(t *testing.T) {
	w := newWorld(t)
	deep := strings.Repeat("[", 1200) + strings.Repeat("]", 1200)
	for value, at := range map[string]string{
		"100000000000000000000":  "/custom_fields/x",
		"18446744073709551616":   "/custom_fields/x",
		"-9223372036854775809":   "/custom_fields/x",
		"9007199254740993":       "/custom_fields/x",
		"1e300":                  "/custom_fields/x",
		`{"a":[1,{"b/c":1e20}]}`: "/custom_fields/x/a/1/b~1c",
		deep:                     "/custom_fields/x" + strings.Repeat("/0", 98),
	} {
		body := fmt.Sprintf(`{"make":"Kia","model":"Niro","custom_fields":{"x":%s}}`, value)
		problem := w.do("POST", "/v1/vehicles", body).ok(422).object()
		faults := problem["errors"].([]any)
		if fault := faults[0].(map[string]any); len(faults) != 1 || fault["pointer"] != at {
			t.Errorf("%.40s: %v, want the pointer %s", value, faults, at)
		}
		batch := w.do("POST", "/v1/vehicles/batch", `{"data":[{"make":"Fiat","model":"500"},`+body+`]}`).ok(200).data()
		if batch[0]["status"] != 201.0 || batch[1]["status"] != 422.0 {
			t.Errorf("%.40s in a batch: %v", value, batch)
		}
	}
	for _, value := range []string{"9007199254740991", "-9007199254740991", "0.1", "5e-324", "-0", "1.5e15",
		`"100000000000000000000"`, strings.Repeat("[", 90) + strings.Repeat("]", 90)} {
		car := w.vehicle(fmt.Sprintf(`{"make":"Kia","model":"Niro","custom_fields":{"x":%s}}`, value))
		// The row as it would be made from the log.
		made := ""
		if err := w.db.QueryRow(t.Context(), `SELECT JSONExtractString(body, 'make') FROM record_log WHERE kind = 'vehicle'
			AND id = $1`, strings.TrimPrefix(car, "veh_")).Scan(&made); err != nil || made != "Kia" {
			t.Errorf("of a vehicle with %.40s the store reads %q: %v", value, made, err)
		}
	}
}
