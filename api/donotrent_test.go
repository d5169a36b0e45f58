package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// entries are the texts of a kind in a booking's timeline, newest first.
func (w *lotWorld) entries(path, kind string) string {
	w.t.Helper()
	var all []string
	for _, entry := range w.do("GET", path+"/timeline", "").data() {
		if entry["kind"] == kind {
			all = append(all, fmt.Sprint(entry["text"]))
		}
	}
	return strings.Join(all, "|")
}

// checked lists the bookings that are marked in a way.
func (w *lotWorld) checked(how string) string {
	w.t.Helper()
	return w.do("GET", "/v1/bookings?do_not_rent_check="+how, "").listed("id")
}

// called is how texts speak of a customer.
func (w *lotWorld) called(id string) string {
	w.t.Helper()
	c := w.do("GET", "/v1/customers/"+id, "").ok(200)
	name := c.member("display_name")
	if name == nil {
		name = c.member("first_name")
	}
	return fmt.Sprintf("%s (%s)", name, c.member("number"))
}

// A clerk bans a customer. Who comes back under another name, with the same phone written otherwise, gets no car, as
// renter or as driver; the clerk who finds that two are different people says so, and the account may have it that a
// warning is enough.
func TestWhoIsBannedDoesNotComeBackUnderAnotherName(t *testing.T) {
	w := newLot(t)
	villain := w.do("POST", "/v1/customers",
		`{"first_name":"Vic","last_name":"Villain","phone":"512-555-0100","date_of_birth":"1980-02-03","licence":{"number":"TX 123-456","country":"US","region":"TX"}}`).ok(201)
	wantEqual(t, "as kept", villain.member("phone"), "+15125550100")
	wantEqual(t, "as sought", w.do("GET", "/v1/customers?phone=(512)%20555-0100", "").listed("id"), villain.id())
	w.do("POST", "/v1/customers/"+villain.id()+"/do_not_rent", `{"active":true,"reason_code":"theft"}`).ok(200)
	honest := w.customer
	again := w.do("POST", "/v1/customers",
		`{"first_name":"Victor","last_name":"V","phone":"+1 (512) 555 0100"}`).ok(201).id()

	// As who rents, and as who drives.
	w.customer = again
	p := w.do("POST", "/v1/bookings", w.booking(1, 20, `,"confirm":true`)).problem(409, "conflict")
	wantEqual(t, "refused", p.Errors[0].Pointer+" "+p.Errors[0].Code, "/customer_id do_not_rent")
	wantEqual(t, "why", p.Errors[0].Detail,
		"has the same telephone number as "+w.called(villain.id())+", who is on the do-not-rent list")
	w.do("POST", "/v1/bookings", w.booking(1, 20, "")).problem(409, "conflict")
	w.customer = honest
	p = w.do("POST", "/v1/bookings",
		w.booking(1, 20, `,"drivers":[{"customer_id":"`+honest+`"},{"customer_id":"`+again+`"}]`)).problem(409, "conflict")
	wantEqual(t, "the driver", p.Errors[0].Pointer, "/drivers/1/customer_id")

	// Who has the same name only may be him: a warning, or a refusal if the account says so.
	w.customer = w.do("POST", "/v1/customers",
		`{"first_name":"Vic","last_name":"Villain","email":"vic@example.com"}`).ok(201).id()
	maybe := w.book(1, 20, `,"confirm":true`)
	b := w.do("GET", maybe, "").ok(200)
	wantEqual(t, "may be", b.member("do_not_rent_check"), "unsure")
	says := "The customer " + w.called(w.customer) + " may be " + w.called(villain.id()) +
		", who is on the do-not-rent list: the same name."
	wantEqual(t, "warned", fmt.Sprint(b.member("warnings")), "["+says+"]")
	wantEqual(t, "in the timeline", w.entries(maybe, "do_not_rent"), says)
	clerk := w.newKey(w.account, auth.BookingsRead)
	nameless := fmt.Sprint(w.do("GET", maybe, "", "Authorization", "Bearer "+clerk).ok(200).member("warnings"))
	if strings.Contains(nameless, "Vic") || strings.Contains(nameless, "cus_") {
		t.Errorf("without customers:read: %s", nameless)
	}
	wantEqual(t, "listed", "/v1/bookings/"+w.checked("unsure,do_not_rent"), maybe)
	w.do("PATCH", "/v1/account", `{"booking_settings":{"do_not_rent":"block_unsure"}}`).ok(200)
	w.do("POST", "/v1/bookings", w.booking(30, 40, "")).problem(409, "conflict")

	// The birth date tells them apart, and the booking says so.
	w.do("PATCH", "/v1/customers/"+w.customer, `{"date_of_birth":"1999-09-09"}`).ok(200)
	wantEqual(t, "clear", w.do("GET", maybe, "").member("do_not_rent_check"), "clear")
	wantEqual(t, "told",
		strings.HasPrefix(w.entries(maybe, "do_not_rent"), "Nobody of it is on the do-not-rent list any more."), true)

	// The son has his father's phone: they are different people, as the clerk sees.
	w.do("PATCH", "/v1/customers/"+again, `{"distinct_from":["`+villain.id()+`"]}`).ok(200)
	wantEqual(t, "no duplicate", w.do("GET", "/v1/customers/"+again, "").member("possible_duplicate_of"), nil)
	w.customer, w.car = again, w.newCar()
	w.book(1, 20, `,"confirm":true`)

	// A warning is enough, also for the very record.
	w.do("PATCH", "/v1/account", `{"booking_settings":{"do_not_rent":"warn"}}`).ok(200)
	w.customer, w.car = villain.id(), w.newCar()
	b = w.do("GET", w.book(1, 20, `,"confirm":true`), "").ok(200)
	wantEqual(t, "is", b.member("do_not_rent_check"), "do_not_rent")
	wantEqual(t, "of the record", fmt.Sprint(b.member("warnings")),
		"[The customer "+w.called(villain.id())+" is on the do-not-rent list or blocked.]")
	w.do("PATCH", "/v1/account", `{"country":"XX"}`).problem(422, "validation_failed")
}

// When somebody is banned, the coming bookings say so: his own, those of the record that he was merged into, and those
// of records with his licence or with his phone as it was kept before numbers were written in one way; another
// account's do not. The pickup is refused. When the ban is lifted, or has ended, they are free again.
func TestABanShowsOnComingBookings(t *testing.T) {
	w := newLot(t)
	villain := made(w, w.api.desk.Customers,
		record.Customer{CustomerFields: record.CustomerFields{FirstName: "Vic", Phone: "+4402079460018",
			Licence: &record.Licence{Number: "ab-12 c", Country: "GB", ExpiresOn: "2100-01-01"}}})
	book := func(customer string) string {
		w.customer, w.car = customer, w.newCar()
		return w.book(1, 20, `,"confirm":true`)
	}
	his := book(villain)
	phone := book(w.do("POST", "/v1/customers",
		`{"first_name":"P","phone":"020 7946 0018","address":{"country":"GB"}}`).ok(201).id())
	licence := book(w.do("POST", "/v1/customers",
		`{"first_name":"L","licence":{"number":"AB12C","country":"GB"}}`).ok(201).id())
	other := book(w.do("POST", "/v1/customers", `{"first_name":"O","phone":"+15125550199"}`).ok(201).id())
	state := func() string {
		w.t.Helper()
		var all []string
		for _, path := range []string{his, phone, licence, other} {
			all = append(all, fmt.Sprint(w.do("GET", path, "").ok(200).member("do_not_rent_check")))
		}
		return strings.Join(all, " ")
	}
	wantEqual(t, "before", state(), "clear clear clear clear")
	ban := func(more string) {
		w.t.Helper()
		w.do("POST", "/v1/customers/"+villain+"/do_not_rent", `{"active":true,"reason_code":"theft"`+more+`}`).ok(200)
	}
	ban("")
	wantEqual(t, "banned", state(), "do_not_rent do_not_rent do_not_rent clear")
	wantEqual(t, "listed", strings.Count(w.checked("do_not_rent"), "bkg_"), 3)
	wantEqual(t, "his timeline", w.entries(his, "do_not_rent"),
		"The customer "+w.called(villain)+" is on the do-not-rent list or blocked.")
	if text := w.entries(licence, "do_not_rent"); !strings.Contains(text,
		"has the same licence number as "+w.called(villain)) {
		t.Errorf("the timeline of the other record says %q", text)
	}
	w.pass(2 * 3600e9)
	w.do("POST", licence+"/pickup", "").problem(409, "conflict")
	w.do("POST", his+"/pickup", "").problem(409, "conflict")
	w.do("POST", other+"/pickup", "").ok(200)

	w.do("POST", "/v1/customers/"+villain+"/do_not_rent", `{"active":false}`).ok(200)
	wantEqual(t, "lifted", state(), "clear clear clear clear")

	// A ban that ends by itself: nobody writes anything then.
	ban(`,"expires_at":"` + w.in(1) + `"`)
	wantEqual(t, "for an hour", state(), "do_not_rent do_not_rent do_not_rent clear")
	w.pass(2 * 3600e9)
	if err := w.api.desk.Duty(t.Context(), "bookings: do-not-rent"); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "ended", state(), "clear clear clear clear")

	// He is merged into the record with the phone, which takes over the ban and the licence with it.
	ban("")
	into := fmt.Sprint(w.do("GET", phone, "").member("customer_id"))
	w.do("POST", "/v1/customers/"+villain+"/merge", `{"into":"`+into+`"}`).ok(200)
	wantEqual(t, "merged", state(), "do_not_rent do_not_rent do_not_rent clear")
	wantEqual(t, "one person",
		strings.HasPrefix(w.entries(phone, "do_not_rent"), "The customer "+w.called(into)+" is on"), true)

	// An erased person is known by nothing.
	w.do("POST", "/v1/customers/"+into+"/erase", `{"reason":"request","force":true}`).ok(200)
	wantEqual(t, "erased", w.do("GET", licence, "").member("do_not_rent_check"), "clear")

	w.key = w.newKey(w.newAccount("Other"), auth.Admin)
	got := w.do("POST", "/v1/customers/check", `{"phone":"+442079460018"}`).ok(200)
	wantEqual(t, "another account", got.member("do_not_rent_check"), "clear")
}
