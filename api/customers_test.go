package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rent"
)

// customer creates one and returns its id.
func (w *world) customer(body string) string {
	w.t.Helper()
	return w.do("POST", "/v1/customers", body).ok(201).id()
}

// member is a member of an object in the answer, by the names that lead to it.
func (r *reply) member(names ...string) any {
	r.t.Helper()
	var v any = r.object()
	for _, name := range names {
		inner, _ := v.(map[string]any)
		v = inner[name]
	}
	return v
}

func TestACustomerIsWrittenAndFound(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", "/v1/customers",
		`{"first_name":" Ada ","last_name":"Lovelace","email":"ada@example.com","phone":"+1 (512) 555-0100","date_of_birth":"1985-12-10",
		"address":{"line1":"12 St James Square","city":"Austin","country":"US"},"licence":{"number":"D1234567","country":"US","region":"TX","issued_on":"2020-01-01","expires_on":"2031-01-01"},
		"consents":{"marketing":true,"source":"web"},"tags":["vip"],"external_refs":[{"system":"crm","id":"c-1"}],"lifecycle":"lead"}`).ok(201)
	path := "/v1/customers/" + made.id()
	wantEqual(t, "location", made.header.Get("Location"), path)
	for _, c := range []struct {
		want any
		at   []string
	}{
		{"Ada Lovelace", []string{"display_name"}}, {"person", []string{"type"}}, {"normal", []string{"risk_level"}},
		{"+15125550100", []string{"phone"}}, {"unverified", []string{"licence_verification", "status"}},
		{true, []string{"is_rentable"}}, {"D1234567", []string{"licence", "number"}}, {"customer", []string{"object"}},
	} {
		wantEqual(t, strings.Join(c.at, "."), made.member(c.at...), c.want)
	}
	if made.member("consents", "granted_at") == nil {
		t.Error("nobody knows when consent was given")
	}
	w.customer(`{"type":"company","company_name":"Analytical Engines","lifecycle":"active"}`)
	for query, want := range map[string]string{
		"": "Ada Lovelace|Analytical Engines", "?sort=-display_name": "Analytical Engines|Ada Lovelace",
		"?q=love": "Ada Lovelace", "?email=ada@example.com": "Ada Lovelace",
		"?type=company": "Analytical Engines", "?tags=vip,x": "Ada Lovelace", "?external_ref=c-1": "Ada Lovelace",
		"?lifecycle=lead,dormant": "Ada Lovelace",
		"?licence_expires_on[lt]=2031-01-02&licence_expires_on[gt]=2000-01-01": "Ada Lovelace",
		"?possible_duplicates=true": "", "?do_not_rent=true": "", "?q=512555": "Ada Lovelace",
	} {
		wantEqual(t, query, w.do("GET", "/v1/customers"+query, "").listed("display_name"), want)
	}
	// The name that was made follows; one that was given stays.
	wantEqual(t, "married", w.do("PATCH", path, `{"last_name":"King"}`).ok(200).member("display_name"), "Ada King")
	w.do("PATCH", path, `{"display_name":"Countess"}`).ok(200)
	wantEqual(t, "given", w.do("PATCH", path, `{"last_name":"Byron"}`).ok(200).member("display_name"), "Countess")
	// What was read can be written back.
	read := w.do("GET", path, "").ok(200)
	wantEqual(t, "revision", w.do("PUT", path, string(read.body)).ok(200).member("revision"), 4.0)
	w.do("GET", path, "", "If-None-Match", read.header.Get("ETag")).ok(304)
	history := string(w.do("GET", path+"/history", "").ok(200).body)
	if strings.Contains(history, "D1234567") || !strings.Contains(history, "Lovelace") {
		t.Errorf("history: %s", history)
	}
}

// listed is a member of each record of a list, in its order.
func (r *reply) listed(member string) string {
	r.t.Helper()
	var all []string
	for _, v := range r.data() {
		all = append(all, fmt.Sprint(v[member]))
	}
	return strings.Join(all, "|")
}

func TestACustomerIsRefused(t *testing.T) {
	w := newWorld(t)
	tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	for body, want := range map[string]string{
		`{}`: "/last_name", `{"first_name":"  "}`: "/last_name", `{"type":"company","first_name":"A"}`: "/company_name",
		`{"type":"robot","first_name":"A"}`: "/type",
		`{"first_name":"A","email":"a"}`:    "/email", `{"first_name":"A","email":"A <a@b.c>"}`: "/email",
		`{"first_name":"A","email":"a@b"}`:    "/email",
		`{"first_name":"A","phone":"512555"}`: "/phone", `{"first_name":"A","phone":"+0125550100"}`: "/phone",
		`{"first_name":"A","date_of_birth":"` + tomorrow + `"}`:                             "/date_of_birth",
		`{"first_name":"A","date_of_birth":"1899-12-31"}`:                                   "/date_of_birth",
		`{"first_name":"A","date_of_birth":"soon"}`:                                         "/date_of_birth",
		`{"first_name":"A","locale":"english please"}`:                                      "/locale",
		`{"first_name":"A","licence":{"issued_on":"2020-01-02","expires_on":"2020-01-02"}}`: "/licence/expires_on",
		`{"first_name":"A","licence":{"issued_on":"` + tomorrow + `"}}`:                     "/licence/issued_on",
		`{"first_name":"A","licence":{"number":"•••• 4567"}}`:                               "/licence/number",
		`{"first_name":"A","default_deposit":{"amount":-1,"currency":"USD"}}`:               "/default_deposit/amount",
		`{"first_name":"A","tags":[" "]}`:                                                   "/tags/0",
		`{"first_name":"A","merged_into":"cus_1"}`:                                          "/merged_into",
		`{"first_name":"A","nickname":"B"}`:                                                 "/nickname",
	} {
		wantEqual(t, body, w.do("POST", "/v1/customers", body).faults(), want)
	}
}

func TestALicenceNumberIsMasked(t *testing.T) {
	w := newWorld(t)
	path := "/v1/customers/" + w.customer(
		`{"first_name":"A","last_name":"B","licence":{"number":"D1234567","country":"US","expires_on":"2031-01-01"}}`)
	w.do("POST", path+"/verify_licence", `{"method":"visual","result":"verified"}`).ok(200)
	admin := w.key
	w.key = w.newKey(w.account, auth.CustomersRead, auth.CustomersWrite)
	read := w.do("GET", path, "").ok(200)
	wantEqual(t, "masked", read.member("licence", "number"), "•••• 4567")
	if list := string(w.do("GET", "/v1/customers", "").ok(200).body); strings.Contains(list, "D1234567") {
		t.Errorf("the list shows it: %s", list)
	}
	if tag := read.header.Get("ETag"); w.do("GET", path, "", "If-None-Match", tag, "Authorization",
		"Bearer "+admin).status != 200 {
		t.Error("a masked answer counts as the plain one")
	}
	// Written back, masked, it stays; another member of the licence changes, and with it what somebody has seen.
	w.do("PUT", path, string(read.body)).ok(200)
	wantEqual(t, "still verified", w.do("GET", path, "").member("licence_verification", "status"), "verified")
	changed := w.do("PATCH", path, `{"licence":{"number":"•••• 4567","class":"C"}}`).ok(200)
	wantEqual(t, "unverified", changed.member("licence_verification", "status"), "unverified")
	wantEqual(t, "other mask", w.do("PATCH", path, `{"licence":{"number":"•••• 9999"}}`).faults(), "/licence/number")
	wantEqual(t, "short", w.do("PATCH", path, `{"licence":{"number":"12345"}}`).ok(200).member("licence", "number"),
		"••••")
	w.key = admin
	wantEqual(t, "plain", w.do("GET", path, "").member("licence", "number"), "12345")
}

func TestALicenceIsVerified(t *testing.T) {
	w := newWorld(t)
	path := "/v1/customers/" + w.customer(`{"first_name":"A"}`)
	look := path + "/verify_licence"
	w.do("POST", look, `{"method":"visual","result":"verified"}`).problem(409, "conflict")
	w.do("PATCH", path, `{"licence":{"number":"X12345","expires_on":"`+
		time.Now().AddDate(0, 0, 3).Format(time.DateOnly)+`"}}`).ok(200)
	seen := w.do("POST", look, `{"method":"scan","result":"verified"}`).ok(200)
	if seen.member("licence_verification", "verified_by") == nil ||
		seen.member("licence_verification", "verified_at") == nil {
		t.Errorf("who and when: %s", seen.body)
	}
	w.clock.Store(int64(5 * 24 * time.Hour))
	read := w.do("GET", path, "").ok(200)
	wantEqual(t, "expired", read.member("licence_verification", "status"), "expired")
	wantEqual(t, "rentable", read.member("is_rentable"), false)
	wantEqual(t, "why", read.member("not_rentable_reason"), "licence_expired")
	w.do("GET", path, "", "If-None-Match", seen.header.Get("ETag")).ok(200)
	w.do("PUT", path, string(seen.body)).ok(200) // read back before it expired
	w.do("POST", look, `{"method":"scan","result":"verified"}`).problem(409, "conflict")
	wantEqual(t, "rejected",
		w.do("POST", look, `{"method":"scan","result":"rejected"}`).ok(200).member("not_rentable_reason"), "licence_rejected")
	w.do("POST", look, `{"method":"guess","result":"verified"}`).problem(422, "validation_failed")
}

func TestDoNotRentIsSetAndLifted(t *testing.T) {
	w := newWorld(t)
	id := w.customer(`{"first_name":"A"}`)
	path := "/v1/customers/" + id
	may := func() any { return w.do("GET", path, "").member("not_rentable_reason") }
	wantEqual(t, "may", may(), nil)
	wantEqual(t, "reason", w.do("POST", path+"/do_not_rent", `{"active":true}`).faults(), "/reason_code")
	wantEqual(t, "past", w.do("POST", path+"/do_not_rent",
		`{"active":true,"reason_code":"debt","expires_at":"2020-01-01T00:00:00Z"}`).faults(), "/expires_at")
	until := time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)
	set := w.do("POST", path+"/do_not_rent",
		`{"active":true,"reason_code":"debt","note":"owes 200","expires_at":"`+until+`"}`).ok(200)
	wantEqual(t, "rentable", set.member("is_rentable"), false)
	wantEqual(t, "listed", w.do("GET", "/v1/customers?do_not_rent=true", "").listed("id"), id)
	wantEqual(t, "may not", may(), "do_not_rent")
	w.clock.Store(int64(80 * time.Hour))
	wantEqual(t, "expired", may(), nil)
	w.clock.Store(0)
	lifted := w.do("POST", path+"/do_not_rent", `{"active":false}`).ok(200)
	wantEqual(t, "lifted", lifted.member("do_not_rent", "active"), false)
	wantEqual(t, "may again", may(), nil)
	wantEqual(t, "once more", w.do("POST", path+"/do_not_rent", `{"active":false}`).ok(200).member("revision"),
		lifted.member("revision"))
}

func TestSomebodyIsFoundWhoIsACustomerAlready(t *testing.T) {
	w := newWorld(t)
	ada := w.customer(`{"first_name":"Ada","last_name":"Lovelace","email":"Ada@Example.com","phone":"+15125550100","date_of_birth":"1985-12-10","licence":{"number":"D 123-4567","country":"US","region":"TX"}}`)
	w.do("POST", "/v1/customers/"+ada+"/do_not_rent", `{"active":true,"reason_code":"damage"}`).ok(200)
	bob := w.customer(`{"first_name":"Bob","date_of_birth":"1985-12-10","email":"bob@example.com"}`)
	for body, want := range map[string]string{
		`{"licence":{"number":"d1234567","country":"US","region":"tx"},"date_of_birth":"1985-12-10"}`: "do_not_rent: " +
			ada + " licence",
		`{"licence":{"number":"D 1234-567","country":"US","region":"US-TX"}}`: "do_not_rent: " +
			ada + " licence",
		`{"licence":{"number":"d1234567","country":"US","region":"tx"},"date_of_birth":"1985-12-11"}`: "unsure: " +
			ada + " licence",
		`{"licence":{"number":"d1234567","country":"US","region":"CA"},"date_of_birth":"1985-12-10"}`: "unsure: " +
			ada + " licence",
		`{"licence":{"number":"d1234567","country":"US","region":"CA"},"date_of_birth":"1985-12-11"}`: "clear: ",
		`{"licence":{"number":"d1234567","country":"DE"},"date_of_birth":"1985-12-10"}`:               "clear: ",
		`{"licence":{"number":"d1234567"}}`:                                                           "unsure /date_of_birth /licence/country /licence/region: " + ada + " licence",
		`{"licence":{"number":"X1","country":"US"}}`:                                                  "clear: ",
		`{"email":" ada@example.COM"}`: "do_not_rent: " +
			ada + " email",
		`{"phone":"+1 512 555 0100"}`: "do_not_rent: " +
			ada + " phone",
		`{"phone":"(512) 555-0100"}`: "do_not_rent: " +
			ada + " phone",
		`{"phone":"512.555.0100","date_of_birth":"1999-01-01"}`: "unsure /licence /licence/number /name: " + ada + " phone",
		`{"phone":"555-0100"}`:                                  "unsure /date_of_birth /licence /licence/number /name /phone: " + ada + " phone_end",
		`{"phone":"555-0100","date_of_birth":"1999-01-01"}`:     "unsure /licence /name: ",
		`{"phone":"555-0101"}`:                                  "unsure /date_of_birth /licence /name: ",
		`{"phone":"abc"}`:                                       "unsure /date_of_birth /licence /name: ",
		`{"name":"lovelace, ada","date_of_birth":"1985-12-10"}`: "unsure /licence/number: " + ada + " name_and_date_of_birth",
		`{"name":"Ada Lovelave","date_of_birth":"1985-12-10"}`:  "unsure /licence/number: " + ada + " name_and_date_of_birth",
		`{"name":"Ada Smith","date_of_birth":"1985-12-10"}`:     "clear: ",
		`{"name":"Ada Lovelace","date_of_birth":"1985-12-11"}`:  "clear: ",
		`{"name":"Ada Lovelace"}`: "unsure /date_of_birth /licence /licence/number: " + ada +
			" name",
		`{"email":"bob@example.com","phone":"+15125550100"}`: "do_not_rent: " + ada + " phone;" + bob + " email",
		`{"email":"ada@example.com","phone":"+15125550100"}`: "do_not_rent: " + ada + " email,phone",
		`{"email":"nobody@example.com"}`:                     "unsure /date_of_birth /licence /name: ",
	} {
		answer := w.do("POST", "/v1/customers/check", body).ok(200)
		var got rent.CustomerMatches
		if err := json.Unmarshal(answer.body, &got); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range got.Matches {
			all = append(all, m.CustomerID+" "+strings.Join(m.Reasons, ","))
		}
		wantEqual(t, body, strings.Join(append([]string{got.Check}, got.Missing...), " ")+": "+strings.Join(all, ";"), want)
	}
	for phone, want := range map[string]string{"abc": "[/phone]", "555-0100": "[/phone]", "512 555 0100": "[]"} {
		got := w.do("POST", "/v1/customers/check", fmt.Sprintf(`{"phone":%q}`, phone)).ok(200)
		wantEqual(t, phone+" is not usable", fmt.Sprint(got.member("unusable")), want)
	}
	for _, phone := range []string{"555-0100", "+15550100", "abc"} {
		wantEqual(t, "not written",
			w.do("POST", "/v1/customers", fmt.Sprintf(`{"first_name":"A","phone":%q}`, phone)).faults(), "/phone")
	}
	w.do("POST", "/v1/customers/check", `{"date_of_birth":"1985-12-10"}`).problem(422, "validation_failed")
	wantEqual(t, "nobody was created", len(w.do("GET", "/v1/customers", "").data()), 2)

	// The same at writing: it is noted, not refused.
	twin := w.do("POST", "/v1/customers", `{"first_name":"A","phone":"+15125550100","email":"bob@example.com"}`).ok(201)
	wantEqual(t, "email before phone", twin.member("possible_duplicate_of"), bob)
	wantEqual(t, "listed", w.do("GET", "/v1/customers?possible_duplicates=true", "").listed("id"), twin.id())
	licence := w.do("PATCH", "/v1/customers/"+twin.id(),
		`{"date_of_birth":"1985-12-10","licence":{"number":"D1234567","country":"US","region":"TX"}}`).ok(200)
	wantEqual(t, "licence before email", licence.member("possible_duplicate_of"), ada)
	wantEqual(t, "no longer", w.do("PATCH", "/v1/customers/"+twin.id(),
		`{"licence":null,"email":null,"phone":null}`).ok(200).member("possible_duplicate_of"), nil)
	other := w.key
	w.key = w.newKey(w.newAccount("Other"), auth.Admin)
	wantEqual(t, "another account", w.do("POST", "/v1/customers",
		`{"first_name":"A","phone":"+15125550100"}`).ok(201).member("possible_duplicate_of"), nil)
	w.key = other
}
