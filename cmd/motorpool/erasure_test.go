package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/query"
)

// person is somebody of whom every value is unmistakable, as JSON and as the line of an import; the values are
// personWords.
const (
	person = `{"first_name":"Xantippe","last_name":"Quuxington","email":"xantippe.q@quux.example","phone":"+19995550123",
		"date_of_birth":"1971-03-29","address":{"line1":"77 Zyzzyva \"Lane\"","line2":"Flat Zed","city":"Xanadu","postal_code":"ZQ9 9QZ",
		"country":"GB"},"tax_id":"TAXQ-778",
		"licence":{"number":"ZZLIC998877","country":"GB","region":"Zregion","expires_on":"2039-01-01"},
		"tags":["ztagged"],"metadata":{"m":"zmetadata"},"custom_fields":{"c":"zcustom"},"external_refs":[{"system":"crm","id":"zref-4711"}],
		"consents":{"marketing":true,"source":"zsource"}}`
	personImport = "first_name,last_name,email,phone,tags,custom_fields.c,address.city,date_of_birth\n" +
		"Xantippe,Quuxington,xantippe.q@quux.example,+19995550123,zimporttag,zimportcustom,Zimportcity,1971-03-29\n" +
		"Xantippe,Quuxington,xantippe.q@quux.example,+19995550123,zimporttag,zimportcustom,Zimportcity,zbadbirthday\n" +
		"xantippe,QUUXINGTON,,,zimporttag,zimportcustom,Znamesake,\n"
)

var personWords = []string{
	"Xantippe", "Quuxington", "xantippe.q@quux.example", "19995550123", "1971-03-29", "Zyzzyva", "Flat Zed",
	"Xanadu", "ZQ9 9QZ", "TAXQ-778", "ZZLIC998877", "Zregion", "ztagged", "zmetadata", "zcustom", "zref-4711",
	"zsource", "Quuxold", "old@quux.example", "znote the first", "zdocname", "zfilecontent", "zbarnote", "Zalias",
	"zbookingnote", "zimporttag", "zimportcustom", "Zimportcity", "zbadbirthday", "Znamesake",
}

// caller calls an interface with a key.
type caller struct {
	m   *machine
	key string
}

// do calls and returns the id in the answer, which must have a status, 0 for any.
func (c caller) do(method, path, body string, status int, headers ...string) string {
	c.m.t.Helper()
	request, err := http.NewRequest(method, c.m.base+path, strings.NewReader(body))
	if err != nil {
		c.m.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.m.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		c.m.t.Fatal(err)
	}
	if status != 0 && response.StatusCode != status {
		c.m.t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	var told struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(answer, &told)
	return told.ID
}

// eventually waits until an answer holds a text.
func (c caller) eventually(path, text string) {
	c.m.t.Helper()
	c.m.within(3*time.Minute, path, func() error { // an erasure looks through every table
		status, body, err := get(c.m.base+path, c.key)
		if err == nil && (status != http.StatusOK || !bytes.Contains(body, []byte(text))) {
			err = fmt.Errorf("%d %s", status, body)
		}
		return err
	})
}

// job waits for a job to be done.
func (c caller) job(id string) {
	c.m.t.Helper()
	c.eventually("/v1/jobs/"+id, `"status":"done"`)
}

// legible has ClickHouse write all text as it is, and remove the parts that are no longer read at once, so that a
// search of the files is honest.
func legible(t *testing.T, db driver.Conn) {
	t.Helper()
	var columns []struct {
		Table string `ch:"table"`
		Name  string `ch:"name"`
		Type  string `ch:"type"`
	}
	if err := db.Select(t.Context(), &columns, `SELECT table, name, type FROM system.columns
		WHERE database = currentDatabase() AND default_kind NOT IN ('ALIAS', 'EPHEMERAL') AND type LIKE '%String%'
			AND table IN (SELECT name FROM system.tables
				WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`); err != nil {
		t.Fatal(err)
	}
	plain := map[string][]string{}
	for _, c := range columns {
		plain[c.Table] = append(plain[c.Table], "MODIFY COLUMN `"+c.Name+"` CODEC(NONE)")
	}
	for table, changes := range plain {
		settings := "MODIFY SETTING old_parts_lifetime = 1, primary_key_compression_codec = 'NONE'"
		for _, change := range []string{strings.Join(changes, ", "), settings} {
			if err := db.Exec(t.Context(), "ALTER TABLE "+table+" "+change); err != nil {
				t.Fatal(table, err)
			}
		}
	}
}

// holding returns where some words stand in the files of a folder, in whatever case, by word; but not
// below some folders.
func holding(t *testing.T, folder string, words []string, but map[string]bool) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && but[filepath.Clean(path)] {
			return fs.SkipDir
		}
		if err != nil || !entry.Type().IsRegular() {
			return ignoreGone(err)
		}
		content, err := os.ReadFile(path)
		content = bytes.ToLower(content)
		for _, word := range words {
			if bytes.Contains(content, []byte(strings.ToLower(word))) {
				found[word] = append(found[word], strings.TrimPrefix(path, folder))
			}
		}
		return ignoreGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unread returns the folders of the parts that nothing reads any more, which ClickHouse removes when it finds the time.
func unread(t *testing.T, db driver.Conn) map[string]bool {
	t.Helper()
	var parts []struct {
		Path string `ch:"path"`
	}
	if err := db.Select(t.Context(), &parts, "SELECT path FROM system.parts WHERE NOT active"); err != nil {
		t.Fatal(err)
	}
	folders := make(map[string]bool, len(parts))
	for _, part := range parts {
		folders[filepath.Clean(part.Path)] = true
	}
	return folders
}

// ignoreGone makes no error of a file that was removed while it was looked for.
func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// An erasure leaves nothing of a person in any file of the data folder: tables, what ClickHouse keeps of the
// statements it was given, uploads and results of jobs, logs, and the broker's log. Parts that nothing reads any more
// go later: make test-long waits for them.
func TestAnErasureLeavesNothingInAnyFile(t *testing.T) {
	m := newMachine(t)
	m.up()
	cli, err := parse(t, "version", "--data", m.data, "--clickhouse", m.setting("MOTORPOOL_CLICKHOUSE"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := query.Open(t.Context(), cli.store())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	legible(t, db)
	c := caller{m, strings.TrimSpace(m.must("key", "create", "--account", "Erasing", "--scopes", "admin"))}
	id := c.writeOf(person)
	before := holding(t, m.data, personWords, nil)
	for _, word := range personWords {
		if len(before[word]) == 0 {
			t.Errorf("%s stands nowhere before: the test proves nothing", word)
		}
	}
	c.do("POST", "/v1/customers/"+id+"/erase", `{"reason":"asked","force":true}`, 0)
	c.eventually("/v1/customers/"+id, `"erased_at":"`)
	m.within(erasedFilesGo, "nothing is left", func() error {
		var but map[string]bool
		if !partsMustGo {
			but = unread(t, db)
		}
		var left []string
		for word, places := range holding(t, m.data, personWords, but) {
			left = append(left, fmt.Sprintf("%s in %v", word, places))
		}
		if len(left) > 0 {
			slices.Sort(left)
			return fmt.Errorf("%s", strings.Join(left, "\n"))
		}
		return nil
	})
}

// writeOf makes a customer and everything about it that there can be, and returns its id.
func (c caller) writeOf(person string) string {
	c.m.t.Helper()
	before := strings.Replace(person, "Quuxington", "Quuxold", 1)
	id := c.do("POST", "/v1/customers", before, 201, "Idempotency-Key", "quux")
	path := "/v1/customers/" + id
	c.do("PATCH", path, `{"email":"old@quux.example"}`, 200)
	c.do("PUT", path, person, 200)
	c.do("POST", path+"/notes", `{"text":"znote the first"}`, 201, "Idempotency-Key", "note")
	document := c.do("POST", path+"/documents", `{"kind":"id","name":"zdocname"}`, 201)
	c.do("PUT", path+"/documents/"+document+"/file", "%PDF-1.7 zfilecontent", 200, "Content-Type", "application/pdf")
	c.do("POST", "/v1/customers/check", `{"email":"xantippe.q@quux.example"}`, 200, "Idempotency-Key", "check")
	alias := c.do("POST", "/v1/customers", `{"display_name":"Zalias","email":"xantippe.q@quux.example"}`, 201)
	c.do("POST", "/v1/customers/"+alias+"/merge", `{"into":"`+id+`"}`, 200, "Idempotency-Key", "merge")

	place := c.do("POST", "/v1/locations", `{"name":"Airport","timezone":"America/Chicago"}`, 201)
	plan := c.do("POST", "/v1/rate_plans", `{"name":"Standard","currency":"USD",
		"daily_rate":{"amount":5000,"currency":"USD"}}`, 201)
	class := c.do("POST", "/v1/vehicle_classes", `{"name":"Compact","rate_plan_id":"`+plan+`"}`, 201)
	vehicle := c.do("POST", "/v1/vehicles", `{"make":"A","model":"B","vehicle_class_id":"`+class+`",
		"home_location_id":"`+place+`"}`, 201)
	c.do("POST", "/v1/bookings", `{"vehicle_id":"`+vehicle+`","customer_id":"`+id+`","pickup_at":"2032-01-01T00:00:00Z",
		"return_at":"2032-01-04T00:00:00Z","notes":"zbookingnote of Xantippe Quuxington"}`, 201, "Idempotency-Key", "book")
	c.do("POST", path+"/do_not_rent", `{"active":true,"reason_code":"debt","note":"zbarnote about her"}`, 200,
		"Idempotency-Key", "bar")
	for _, format := range []string{"csv", "jsonl"} {
		c.job(c.do("POST", "/v1/exports?kind=customers&format="+format, "", 202))
		c.job(c.do("POST", "/v1/exports?kind=bookings&format="+format, "", 202))
	}
	c.job(c.do("POST", "/v1/imports?kind=customers&format=csv&dry_run=true", personImport, 202,
		"Content-Type", "text/csv"))
	return id
}
