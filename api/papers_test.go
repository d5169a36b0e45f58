package api

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

// An invoice is made of a booking's charges as a draft, issued, printed, and taken back.
func TestAnInvoiceIsIssuedPrintedAndTakenBack(t *testing.T) {
	w := newLot(t)
	w.do("PATCH", "/v1/account", `{"papers":{"legal_name":"Lone Star LLC","tax_id":"74-1","payment_terms_days":14,
		"number_prefixes":{"invoice":"RE-"},"bank_details":[{"name":"IBAN","value":"DE02"}]}}`).ok(200)
	booking := w.book(1, 49, `,"confirm":true`)
	id := strings.TrimPrefix(booking, "/v1/bookings/")
	draft := w.do("POST", "/v1/invoices", `{"booking_id":"`+id+`","notes":"Thank you"}`, "Idempotency-Key", "k").ok(201)
	path := "/v1/invoices/" + draft.id()
	wantEqual(t, "draft", fmt.Sprint(draft.member("status"), draft.member("number"), draft.member("object")),
		"draftinvoice")
	wantEqual(t, "again", w.do("POST", "/v1/invoices", `{"booking_id":"`+id+`","notes":"Thank you"}`,
		"Idempotency-Key", "k").ok(201).id(), draft.id())
	w.do("POST", "/v1/invoices", `{"booking_id":"`+id+`"}`).problem(409, "conflict")
	w.do("PATCH", path, `{"notes":"Thanks"}`).ok(200)
	issued := w.do("POST", path+"/issue", "").ok(200)
	year := issued.member("issued_on").(string)[:4]
	wantEqual(t, "number", issued.member("number"), "RE-"+year+"-00001")
	wantEqual(t, "status", issued.member("status"), "open")
	wantEqual(t, "total", minor(issued.member("total")), 11000.0)
	wantEqual(t, "tax", issued.member("taxes").([]any)[0].(map[string]any)["rate_bp"], 1000.0)
	wantEqual(t, "to", issued.member("recipient").(map[string]any)["name"], "Ada Smith")
	w.do("POST", path+"/issue", "").problem(409, "invalid_state_transition")
	w.do("DELETE", path, "").problem(409, "invalid_state_transition")
	wantEqual(t, "notes", w.do("PATCH", path, `{"notes":"x"}`).faults(), "/notes")
	w.do("PATCH", path, `{"metadata":{"a":"b"}}`).ok(200)

	file := w.do("GET", path+"/pdf", "").ok(200)
	if !bytes.HasPrefix(file.body, []byte("%PDF-")) || file.header.Get("Content-Type") != "application/pdf" ||
		!strings.Contains(file.header.Get("Content-Disposition"), "RE-"+year+"-00001.pdf") {
		t.Errorf("printed with %v", file.header)
	}
	if again := w.do("GET", path+"/pdf", "").ok(200); !bytes.Equal(file.body, again.body) {
		t.Error("another print is another file")
	}
	w.do("GET", path+"/pdf", "", "If-None-Match", file.header.Get("ETag")).ok(304)
	if again := w.do("GET", path, "", "Accept", "application/pdf").ok(200); !bytes.Equal(file.body, again.body) {
		t.Error("asked for as PDF it is another file")
	}

	w.do("POST", booking+"/payments", `{"method":"card","amount":{"amount":11000,"currency":"USD"}}`).ok(201)
	wantEqual(t, "paid", w.do("GET", path, "").member("status"), "paid")
	billing := w.do("GET", booking+"/billing", "").ok(200)
	wantEqual(t, "open", minor(billing.member("open")), 0.0)
	wantEqual(t, "invoiced", minor(billing.member("invoiced")), minor(billing.member("charged")))

	sums := func(of *reply) string {
		text := ""
		for _, s := range of.member("sums").([]any) {
			text += fmt.Sprint(" ", s.(map[string]any)["name"], " ", minor(s.(map[string]any)["amount"]))
		}
		return text[1:]
	}
	note := w.do("POST", "/v1/credit_notes", `{"invoice_id":"`+draft.id()+`"}`).ok(201)
	wantEqual(t, "credit note", note.member("number"), "CN-"+year+"-00001")
	wantEqual(t, "credited", w.do("GET", path, "").member("status"), "credited")
	w.do("POST", "/v1/credit_notes", `{"invoice_id":"`+draft.id()+`"}`).problem(409, "invalid_state_transition")
	next := w.do("POST", booking+"/invoices", `{"issue":true}`).ok(201)
	wantEqual(t, "of the booking", w.do("GET", booking+"/invoices?status=paid", "").listed("id"), next.id())
	wantEqual(t, "next", next.member("number"), "RE-"+year+"-00002")
	wantEqual(t, "paid at once", w.do("GET", "/v1/invoices/"+next.id(), "").member("status"), "paid")
	wantEqual(t, "the first asks for it all", sums(issued), "net 10000 tax 1000 total 11000 paid 0 amount_due 11000")
	wantEqual(t, "the next asks for nothing", sums(next), "net 10000 tax 1000 total 11000 paid 11000 amount_due 0")
	wantEqual(t, "what takes it back", sums(note), "net 10000 tax 1000 total 11000")
	wantEqual(t, "listed", w.do("GET", "/v1/invoices?sort=number", "").listed("number"),
		"RE-"+year+"-00001|RE-"+year+"-00002")
	wantEqual(t, "of a state", w.do("GET", "/v1/invoices?status=credited", "").listed("id"), draft.id())
	wantEqual(t, "credit notes", w.do("GET", "/v1/credit_notes", "").listed("number"), "CN-"+year+"-00001")

	w.key = w.newKey(w.account, auth.BookingsRead)
	w.do("GET", path, "").problem(403, "insufficient_scope")
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	for _, of := range []string{path, path + "/pdf", booking + "/billing", booking + "/invoices"} {
		w.do("GET", of, "").problem(404, "not_found")
	}
	w.do("POST", "/v1/invoices", `{"booking_id":"`+id+`"}`).problem(422, "validation_failed")
	w.do("POST", booking+"/invoices", "").problem(404, "not_found")
}

// Agreements, receipts and statements of deposits are made of what there is, and an agreement shows no whole licence.
func TestAgreementsReceiptsAndDeposits(t *testing.T) {
	w := newLot(t)
	w.do("PATCH", "/v1/customers/"+w.customer, `{"licence":{"number":"SMITH998877","expires_on":"2100-01-01"}}`).ok(200)
	for template, want := range map[string]string{
		"Hello {{customer.nam}}": "/papers/agreement_template", "{{customer.name": "/papers/agreement_template",
		"}}": "/papers/agreement_template",
	} {
		patch := `{"papers":{"agreement_template":"` + template + `"}}`
		wantEqual(t, template, w.do("PATCH", "/v1/account", patch).faults(), want)
	}
	wantEqual(t, "two alike", w.do("PATCH", "/v1/account", `{"papers":{"number_prefixes":{"receipt":"INV-"}}}`).faults(),
		"/papers/number_prefixes/receipt")
	wantEqual(t, "a language", w.do("PATCH", "/v1/account", `{"papers":{"language":"tlh"}}`).faults(), "/papers/language")
	w.do("PATCH", "/v1/account", `{"papers":{"agreement_template":"# {{customer.name}}\nLicence {{customer.licence}}, total {{booking.total}}, {{vehicle.condition}}, {{drivers}}"}}`).ok(200)
	booking := w.book(0.01, 24, `,"confirm":true`)
	id := strings.TrimPrefix(booking, "/v1/bookings/")
	w.do("PATCH", "/v1/customers/"+w.customer, `{"last_name":"{{booking.number}}"}`).ok(200)
	w.do("POST", booking+"/pickup", `{"inspection":{"items":[{"point":"front bumper","result":"fail","note":"scratch"}]}}`).ok(200)
	made := w.do("POST", "/v1/agreements", `{"booking_id":"`+id+`"}`).ok(201)
	wantEqual(t, "text", made.member("text"),
		"# Ada {{booking.number}}\nLicence •••• 8877, total $55.00, front bumper: not in order, scratch, ________")
	path := "/v1/agreements/" + made.id()
	signed := w.do("POST", path+"/sign", `{"signed_by":"Ada"}`).ok(200)
	wantEqual(t, "signed", signed.member("signed_by"), "Ada")
	w.do("POST", path+"/sign", `{"signed_by":"Eve"}`).problem(409, "invalid_state_transition")
	w.do("GET", path+"/pdf", "").ok(200)

	w.do("POST", booking+"/deposit/authorize", "").ok(200)
	w.do("POST", booking+"/deposit/capture", `{"amount":{"amount":15000,"currency":"USD"}}`).ok(200)
	statement := w.do("POST", "/v1/deposit_statements", `{"booking_id":"`+id+`"}`).ok(201)
	wantEqual(t, "held", minor(statement.member("total")), 15000.0)
	payment := w.do("POST", booking+"/payments", `{"method":"card","amount":{"amount":5500,"currency":"USD"}}`).ok(201).id()
	receipt := w.do("POST", "/v1/receipts", `{"payment_id":"`+payment+`"}`).ok(201)
	wantEqual(t, "received", minor(receipt.member("total")), 5500.0)
	pending := w.do("POST", booking+"/payments",
		`{"method":"card","pending":true,"amount":{"amount":1,"currency":"USD"}}`).ok(201).id()
	w.do("POST", "/v1/receipts", `{"payment_id":"`+pending+`"}`).problem(409, "conflict")
}

// Who is erased stays on issued papers for as long as the law wants, and nowhere else; and goes at once where an
// account keeps nothing.
func TestAnErasureLeavesWhatTheLawKeeps(t *testing.T) {
	for _, keep := range []string{"10", "0"} {
		w := newLot(t)
		w.do("PATCH", "/v1/account", `{"papers":{"keep_years":`+keep+`}}`).ok(200)
		w.customer = w.do("POST", "/v1/customers", `{"first_name":"Xantippe","last_name":"Quuxington",
			"address":{"line1":"77 Zyzzyva Lane","city":"Xanadu"}}`).ok(201).id()
		booking := strings.TrimPrefix(w.book(0.01, 24, `,"confirm":true`), "/v1/bookings/")
		invoice := w.do("POST", "/v1/invoices", `{"booking_id":"`+booking+`","issue":true}`).ok(201)
		w.do("POST", "/v1/agreements", `{"booking_id":"`+booking+`"}`).ok(201)
		words := []string{"Xantippe", "Quuxington", "Zyzzyva", "Xanadu"}
		w.do("POST", "/v1/customers/"+w.customer+"/erase", `{"reason":"asked","force":true}`).ok(200)
		path := "/v1/invoices/" + invoice.id()
		to := w.do("GET", path, "").ok(200).member("recipient")
		standing := w.standing(words)
		if keep == "0" {
			if to != nil || len(standing) > 0 {
				t.Errorf("left %v, standing in %v", to, standing)
			}
			w.do("GET", path+"/pdf", "").ok(200)
			continue
		}
		wantEqual(t, "to", to.(map[string]any)["name"], "Xantippe Quuxington")
		for word, places := range standing {
			wantEqual(t, word, fmt.Sprint(places), "[paper_persons.body]")
		}
		// What is given back is given back to whom the invoice was made out.
		note := w.do("POST", "/v1/credit_notes", `{"invoice_id":"`+invoice.id()+`"}`).ok(201)
		wantEqual(t, "note", note.member("recipient").(map[string]any)["name"], "Xantippe Quuxington")
		doDuty(t, w, "papers: forget who was erased")
		if w.do("GET", path, "").member("recipient") == nil {
			t.Error("forgotten too soon")
		}
		w.pass(12 * 366 * 24 * 3600e9)
		doDuty(t, w, "papers: forget who was erased")
		if left := w.standing(words); len(left) > 0 {
			t.Errorf("still stands: %v", left)
		}
	}
}
