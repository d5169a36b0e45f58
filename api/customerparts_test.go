//go:build long

package api

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rent"
)

func TestCustomersAreMerged(t *testing.T) {
	w := newWorld(t)
	old := w.customer(`{"first_name":"Ada","last_name":"L","email":"ada@example.com","tags":["a"],"external_refs":[{"system":"crm","id":"old"}],"risk_level":"watch","date_of_birth":"1985-12-10"}`)
	stays := w.customer(`{"first_name":"Ada","last_name":"Lovelace","tags":["b"],"external_refs":[{"system":"crm","id":"new"}]}`)
	w.do("POST", "/v1/customers/"+old+"/notes", `{"text":"likes red cars"}`).ok(201)
	w.do("POST", "/v1/customers/"+old+"/do_not_rent", `{"active":true,"reason_code":"debt"}`).ok(200)
	merged := w.do("POST", "/v1/customers/"+old+"/merge", `{"into":"`+stays+`"}`).ok(200)
	wantEqual(t, "merged into", merged.member("merged_into"), stays)
	again := w.do("POST", "/v1/customers/"+old+"/merge", `{"into":"`+stays+`"}`).ok(200)
	wantEqual(t, "once", again.member("revision"), merged.member("revision"))
	one := w.do("GET", "/v1/customers/"+stays, "").ok(200)
	for member, want := range map[string]any{"email": "ada@example.com", "last_name": "Lovelace", "tags": []any{"b", "a"},
		"risk_level": "watch", "date_of_birth": "1985-12-10", "is_rentable": false} {
		wantEqual(t, member, one.member(member), want)
	}
	wantEqual(t, "barred", one.member("do_not_rent", "reason_code"), "debt")
	for _, ref := range []string{"old", "new"} {
		wantEqual(t, ref, w.do("GET", "/v1/customers?external_ref="+ref, "").listed("id"), stays)
	}
	wantEqual(t, "listed", w.do("GET", "/v1/customers", "").listed("id"), stays)
	// Notes are found through both, and a new one belongs to the one that counts.
	w.do("POST", "/v1/customers/"+old+"/notes", `{"text":"second"}`).ok(201)
	for _, id := range []string{old, stays} {
		wantEqual(t, "notes of "+id, w.do("GET", "/v1/customers/"+id+"/notes", "").listed("text"), "second|likes red cars")
	}
	wantEqual(t, "the old one",
		w.do("POST", "/v1/customers/check", `{"email":"ada@example.com"}`).member("do_not_rent_check"), "do_not_rent")
	// Chains and rings.
	last := w.customer(`{"first_name":"Last"}`)
	// itself, in the end
	w.do("POST", "/v1/customers/"+stays+"/merge", `{"into":"`+old+`"}`).problem(422, "validation_failed")
	w.do("POST", "/v1/customers/"+stays+"/merge", `{"into":"`+last+`"}`).ok(200)
	w.do("POST", "/v1/customers/"+last+"/merge", `{"into":"`+old+`"}`).problem(422, "validation_failed")
	w.do("POST", "/v1/customers/"+old+"/merge", `{"into":"`+last+`"}`).ok(200) // it is there already
	wantEqual(t, "notes of the last", len(w.do("GET", "/v1/customers/"+last+"/notes", "").data()), 2)
	other := w.customer(`{"first_name":"Other"}`)
	w.do("POST", "/v1/customers/"+old+"/merge", `{"into":"`+other+`"}`).problem(409, "conflict")
	w.do("POST", "/v1/customers/"+other+"/merge", `{"into":"cus_1"}`).problem(422, "validation_failed")
	w.do("POST", "/v1/customers/"+other+"/merge", `{"into":"nobody"}`).problem(422, "validation_failed")
	w.do("POST", "/v1/customers/cus_1/merge", `{"into":"`+other+`"}`).problem(404, "not_found")
	w.do("PATCH", "/v1/customers/"+old, `{"first_name":"X"}`).problem(409, "conflict")
	w.do("DELETE", "/v1/customers/"+other, "").ok(204)
	w.do("POST", "/v1/customers/"+other+"/merge", `{"into":"`+last+`"}`).problem(409, "conflict")
}

// Merges made at once, each into the next of a ring, never close it.
func TestMergesNeverLeadInARing(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		var ids []uint64
		for i := range 3 {
			id, err := fleet.ParseID(fleet.CustomerPrefix, w.customer(fmt.Sprintf(`{"first_name":"C%d"}`, i)))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		var all sync.WaitGroup
		for i, id := range ids {
			all.Go(func() {
				_, err := w.api.desk.Persons.MergeCustomer(t.Context(), record.Author{Actor: "test"}, w.account, id, ids[(i+1)%3])
				if err != nil && fleet.CodeOf(err) == "" {
					t.Error(err)
				}
			})
		}
		all.Wait()
		ends := 0
		for _, id := range ids {
			end, err := w.api.desk.Persons.Customer(t.Context(), w.account, id)
			if err != nil {
				t.Fatal(err)
			}
			if len(end.Body.Merging) > 0 {
				t.Errorf("%d still waits for %v", end.ID, end.Body.Merging)
			}
			if end.ID == id {
				ends++
			}
		}
		if ends == 0 {
			t.Fatal("they lead in a ring")
		}
	}
}

func TestNotesOfACustomer(t *testing.T) {
	w := newWorld(t)
	customer := w.customer(`{"first_name":"A"}`)
	path := "/v1/customers/" + customer + "/notes"
	made := w.do("POST", path, `{"text":"first","pinned":true}`, "Idempotency-Key", "n1").ok(201)
	wantEqual(t, "location", made.header.Get("Location"), path+"/"+made.id())
	wantEqual(t, "again",
		w.do("POST", path, `{"text":"first","pinned":true}`, "Idempotency-Key", "n1").ok(201).id(), made.id())
	if actor := fmt.Sprint(made.member("author")); !strings.HasPrefix(actor, "key_") {
		t.Errorf("written by %s", actor)
	}
	w.do("POST", path, `{"text":"second","author":"Sam"}`).ok(201)
	wantEqual(t, "newest first", w.do("GET", path, "").listed("text"), "second|first")
	page := w.do("GET", path+"?per_page=1", "").ok(200)
	wantEqual(t, "next", w.do("GET", path+"?per_page=1&cursor="+page.pagination().NextCursor, "").listed("text"), "first")
	one := path + "/" + made.id()
	changed := w.do("PATCH", one, `{"text":"changed","pinned":null}`, "If-Match", made.header.Get("ETag")).ok(200)
	wantEqual(t, "text", changed.member("text"), "changed")
	w.do("PATCH", one, `{"text":"x"}`, "If-Match", `"r1"`).problem(412, "precondition_failed")
	wantEqual(t, "empty", w.do("PATCH", one, `{"text":""}`).faults(), "/text")
	wantEqual(t, "moved", w.do("PATCH", one, `{"customer_id":"cus_1"}`).faults(), "/customer_id")
	other := w.customer(`{"first_name":"B"}`)
	w.do("GET", strings.Replace(one, customer, other, 1), "").problem(404, "not_found")
	w.do("GET", path+"/not_1", "").problem(404, "not_found")
	w.do("GET", "/v1/customers/cus_1/notes", "").problem(404, "not_found")
	w.do("DELETE", one, "").ok(204)
	w.do("GET", one, "").problem(404, "not_found")
	wantEqual(t, "left", w.do("GET", path, "").listed("text"), "second")
	w.key = w.newKey(w.newAccount("Other"), auth.Admin)
	w.do("GET", path, "").problem(404, "not_found")
}

func TestTheFileOfADocument(t *testing.T) {
	w := newWorld(t)
	path := "/v1/customers/" + w.customer(`{"first_name":"A"}`) + "/documents"
	made := w.do("POST", path, `{"kind":"license_front","name":"Führerschein/vorn","expires_on":"2020-01-01"}`).ok(201)
	wantEqual(t, "expired", made.member("expired"), true)
	one := path + "/" + made.id()
	w.do("GET", one+"/file", "").problem(404, "not_found")
	noise := make([]byte, 700<<10)
	rand.Read(noise)
	pdf := "%PDF-1.7\n" + string(noise)
	for contentType, content := range map[string]string{"application/pdf": "hello", "image/png": pdf, "image/jpeg": "",
		"text/html": "<html>", "application/json": "{}", "image/heic": "\x00\x00\x00\x18ftypmp42"} {
		if r := w.do("PUT", one+"/file", content, "Content-Type", contentType); r.status != 415 {
			t.Errorf("%s: %d %s", contentType, r.status, r.body)
		}
	}
	w.do("PUT", one+"/file", "%PDF-"+strings.Repeat("x", rent.FileLimit), "Content-Type", "application/pdf").problem(413,
		"payload_too_large")
	put := w.do("PUT", one+"/file", pdf, "Content-Type", "application/pdf", "If-Match", made.header.Get("ETag")).ok(200)
	wantEqual(t, "size", put.member("size_bytes"), float64(len(pdf)))
	got := w.do("GET", one+"/file", "").ok(200)
	if !bytes.Equal(got.body, []byte(pdf)) {
		t.Errorf("%d bytes came back", len(got.body))
	}
	for name, want := range map[string]string{"Content-Type": "application/pdf", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": "attachment; filename*=utf-8''F%C3%BChrerschein_vorn.pdf"} {
		wantEqual(t, name, got.header.Get(name), want)
	}
	// The next one takes its place, and the bytes of the first are gone.
	heic := "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"
	w.do("PUT", one+"/file", heic, "Content-Type", "image/heic").ok(200)
	wantEqual(t, "second", string(w.do("GET", one+"/file", "").ok(200).body), heic)
	rows := func() (n uint64) {
		if err := w.db.QueryRow(t.Context(), "SELECT count() FROM document_files").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	wantEqual(t, "chunks", rows(), uint64(1))
	w.do("PUT", one+"/file", pdf, "Content-Type", "application/pdf", "If-Match", `"r1"`).problem(412,
		"precondition_failed")
	wantEqual(t, "chunks after a refusal", rows(), uint64(1))
	bare := w.key
	w.key = w.newKey(w.account, auth.CustomersRead, auth.CustomersWrite)
	w.do("GET", one+"/file", "").problem(403, "insufficient_scope")
	w.key = bare
	w.do("DELETE", one, "").ok(204)
	wantEqual(t, "chunks after deletion", rows(), uint64(0))
	w.do("GET", one+"/file", "").problem(404, "not_found")
	wantEqual(t, "kinds", w.do("POST", path, `{"kind":"selfie"}`).faults(), "/kind")
}
