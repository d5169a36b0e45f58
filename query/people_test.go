package query_test

import (
	"fmt"
	"testing"

	"github.com/motorpool/fleet/query"
)

// Who is like a person, and by what, one customer for each way.
func TestPeopleAreFoundByWhatTheyHaveInCommon(t *testing.T) {
	p := query.NewPeople()
	add := func(id uint64, c query.Compared) { c.ID = id; p.Add(c) }
	add(1, query.Compared{LicenceNumber: "ab-123"})
	add(2, query.Compared{Email: " Ada@Example.com "})
	add(3, query.Compared{Phone: "+1 (512) 555-0100"})
	add(4, query.Compared{Likeness: query.Likeness{DateOfBirth: "1990-01-02"}})
	add(5, query.Compared{Likeness: query.Likeness{OnList: true}})
	add(6, query.Compared{Likeness: query.Likeness{OnList: true, DateOfBirth: "1991-03-04"}, Phone: "+15125559999"})
	add(7, query.Compared{Email: "ada@example.com", Archived: true})
	add(8, query.Compared{Email: "ada@example.com", Erasing: true})
	for _, c := range []struct {
		who  query.Sought
		want string
	}{
		{query.Sought{}, ""},
		{query.Sought{Person: query.Person{LicenceNumber: "AB 123"}}, "1 licence;"},
		{query.Sought{Person: query.Person{Email: "ADA@example.com"}}, "2 email;"},
		{query.Sought{Person: query.Person{Email: "ada@example.com"}, Archived: true}, "2 email;7 email;"},
		{query.Sought{Person: query.Person{Email: "ada@example.com"}, Archived: true, Self: 2}, "7 email;"},
		{query.Sought{Person: query.Person{Phones: []string{"5125550100", "15125550100"}}}, "3 phone;"},
		{query.Sought{Person: query.Person{PhoneEnd: "9999"}}, "6 phone end;"},
		{query.Sought{Person: query.Person{PhoneEnd: "0100"}}, ""}, // who is not on the list is not known by an end
		{query.Sought{Person: query.Person{DateOfBirth: "1990-01-02"}}, ""},
		{query.Sought{Person: query.Person{Name: "Ada", DateOfBirth: "1990-01-02"}}, "5 name;4 birth;"},
		{query.Sought{Person: query.Person{Name: "Ada", DateOfBirth: "1991-03-04"}}, "5 name;6 birth;"},
		{query.Sought{Person: query.Person{Name: "Ada"}}, "5 name;6 name;"},
		{query.Sought{Person: query.Person{Name: "Ada", Phones: []string{"15125559999"}}}, "6 phone name;5 name;"},
	} {
		got := ""
		for _, l := range query.Closest(p.Like(&c.who)) {
			got += fmt.Sprint(l.ID)
			for _, by := range []struct {
				is   bool
				name string
			}{{l.ByLicence, "licence"}, {l.ByEmail, "email"}, {l.ByPhone, "phone"}, {l.ByPhoneEnd, "phone end"},
				{l.ByBirth, "birth"}, {l.ByName, "name"}} {
				if by.is {
					got += " " + by.name
				}
			}
			got += ";"
		}
		if got != c.want {
			t.Errorf("like %+v are %q, want %q", c.who, got, c.want)
		}
	}
	for id := range uint64(1200) {
		add(100+id, query.Compared{LicenceNumber: "X1"})
	}
	if n := len(query.Closest(p.Like(&query.Sought{Person: query.Person{LicenceNumber: "X1"}}))); n != 1000 {
		t.Errorf("%d of 1200 are told", n)
	}
}
