package rent

import (
	"net/http"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// CustomerCheck is what somebody is known by who may be a customer already.
type CustomerCheck struct {
	Name        string         `json:"name,omitempty" maxLength:"200" doc:"Compared with names of customers with the same date_of_birth, and, where that is not known, of those on the do-not-rent list." example:"Ada Lovelace"`
	Email       string         `json:"email,omitempty" maxLength:"254" example:"ada@example.com"`
	Phone       string         `json:"phone,omitempty" maxLength:"32" doc:"However it is written; without a country code it is of the account's country." example:"(512) 555-0100"`
	DateOfBirth string         `json:"date_of_birth,omitempty" format:"date"`
	Licence     *LicenceNumber `json:"licence,omitempty"`
}

// LicenceNumber names a licence.
type LicenceNumber struct {
	Number  string `json:"number" minLength:"1" maxLength:"50" doc:"However it is written: letters and digits count."`
	Country string `json:"country,omitempty" pattern:"^[A-Z]{2}$"`
	Region  string `json:"region,omitempty" maxLength:"50"`
}

// CustomerMatches is what is known of somebody.
type CustomerMatches struct {
	Check    string          `json:"do_not_rent_check" doc:"do_not_rent: somebody on the do-not-rent list, or blocked, has the same licence, email or phone. unsure: somebody on it may be meant, or is known by nothing that was given; missing says what would tell. clear: nobody on it is meant, by what is known of them. More may be added." example:"unsure"`
	Missing  []string        `json:"missing" nullable:"false" doc:"What to give so that the answer is sure, as pointers into the body: of unsure." example:"[\"/date_of_birth\"]"`
	Unusable []string        `json:"unusable" nullable:"false" doc:"What was given and tells nobody from anybody, as pointers into the body: a phone that cannot be a number in its country. Digits that may be the end of one are held against those of the do-not-rent list." example:"[\"/phone\"]"`
	Matches  []CustomerMatch `json:"matches" nullable:"false"`
}

// CustomerMatch is a customer that may be the one described.
type CustomerMatch struct {
	CustomerID  string   `json:"customer_id" example:"cus_1234"`
	DisplayName string   `json:"display_name"`
	Reasons     []string `json:"reasons" nullable:"false" doc:"What is the same: licence, email, phone, name_and_date_of_birth, name (of somebody on the list), phone_end (the end of the number of somebody on the list). More may be added."`
	Sure        bool     `json:"is_sure" doc:"The licence, email or phone is the same and nothing speaks against it, such as another birth date."`
	DoNotRent   bool     `json:"do_not_rent" doc:"On the do-not-rent list now, or blocked."`
	ReasonCode  string   `json:"do_not_rent_reason,omitempty" doc:"Of the do-not-rent list."`
	IsRentable  bool     `json:"is_rentable"`
	NotRentable string   `json:"not_rentable_reason,omitempty" doc:"As in a customer."`
}

func (a *API) customerCheckRoutes() {
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/customers/check", ID: "checkCustomer", Tag: "Customers", Scope: auth.CustomersRead,
		Class:   auth.Read,
		Summary: "Ask whether somebody is a customer already, and may rent",
		About: "Creates nothing and keeps nothing of what was asked. Licence, email and phone are compared however they are written. The more is " +
			"given, the surer the answer: a licence with its country and region, or a name with a birth date, is held against everybody on the do-not-rent list who is known by one.",
		Body: CustomerCheck{}, Reply: CustomerMatches{},
	}, a.checkCustomer)
}

func (a *API) checkCustomer(w http.ResponseWriter, r *http.Request) error {
	var sent CustomerCheck
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	if sent.Email == "" && sent.Phone == "" && sent.Licence == nil && strings.TrimSpace(sent.Name) == "" {
		return fleet.Invalid(fleet.FieldError{Pointer: "", Code: "required",
			Detail: "give a licence, an email, a phone or a name"})
	}
	account := auth.From(r.Context()).Account
	who := record.CustomerFields{DisplayName: sent.Name, Email: sent.Email, DateOfBirth: sent.DateOfBirth}
	if sent.Licence != nil {
		who.Licence = &record.Licence{Number: sent.Licence.Number, Country: sent.Licence.Country, Region: sent.Licence.Region}
	}
	var err error
	if who.Phone, err = a.desk.Persons.Telephone(r.Context(), account, sent.Phone, nil); err != nil {
		return err
	}
	found, err := a.desk.Persons.Matches(r.Context(), account, 0, sent.Name, &who)
	if err != nil {
		return err
	}
	answer := CustomerMatches{Unusable: []string{}, Matches: []CustomerMatch{}}
	if _, usable := record.Telephone(who.Phone); !usable {
		answer.Unusable = append(answer.Unusable, "/phone")
	}
	if answer.Check, answer.Missing, err = a.desk.Persons.ListCheck(r.Context(), account, &who, found); err != nil {
		return err
	}
	for _, m := range found {
		b := &m.Customer.Body
		match := CustomerMatch{CustomerID: fleet.FormatID(fleet.CustomerPrefix, m.Customer.ID), DisplayName: b.DisplayName,
			Reasons: m.Reasons, Sure: m.Sure,
			DoNotRent: b.Listed(a.Now())}
		if b.Barred(a.Now()) {
			match.ReasonCode = b.DoNotRent.ReasonCode
		}
		match.IsRentable, match.NotRentable = a.desk.Persons.Rentable(&m.Customer)
		answer.Matches = append(answer.Matches, match)
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}
