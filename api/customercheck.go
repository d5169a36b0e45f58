package api

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// CustomerCheck is what somebody is known by who may be a customer already.
type CustomerCheck struct {
	Name        string         `json:"name,omitempty" maxLength:"200" doc:"Compared with names of customers with the same date_of_birth." example:"Ada Lovelace"`
	Email       string         `json:"email,omitempty" maxLength:"254" example:"ada@example.com"`
	Phone       string         `json:"phone,omitempty" maxLength:"32" example:"+15125550100"`
	DateOfBirth string         `json:"date_of_birth,omitempty" format:"date"`
	Licence     *LicenceNumber `json:"licence,omitempty" doc:"Compared together with date_of_birth."`
}

// LicenceNumber names a licence.
type LicenceNumber struct {
	Number  string `json:"number" minLength:"1" maxLength:"50"`
	Country string `json:"country,omitempty" pattern:"^[A-Z]{2}$"`
	Region  string `json:"region,omitempty" maxLength:"50"`
}

// CustomerMatches is what is known of somebody.
type CustomerMatches struct {
	DoNotRent bool            `json:"do_not_rent" doc:"One of the matches is on the do-not-rent list now, or blocked."`
	Matches   []CustomerMatch `json:"matches" nullable:"false"`
}

// CustomerMatch is a customer that may be the one described.
type CustomerMatch struct {
	CustomerID  string   `json:"customer_id" example:"cus_1234"`
	DisplayName string   `json:"display_name"`
	Reasons     []string `json:"reasons" nullable:"false" doc:"licence (with region and birth date), email, phone, name_and_date_of_birth. More may be added."`
	DoNotRent   bool     `json:"do_not_rent" doc:"On the do-not-rent list now, or blocked."`
	ReasonCode  string   `json:"do_not_rent_reason,omitempty" doc:"Of the do-not-rent list."`
	IsRentable  bool     `json:"is_rentable"`
	NotRentable string   `json:"not_rentable_reason,omitempty" doc:"As in a customer."`
}

func (a *API) customerCheckRoutes() {
	a.handle(route{
		Method: "POST", Path: "/v1/customers/check", ID: "checkCustomer", Tag: "Customers", Scope: auth.CustomersRead, Class: auth.Read,
		Summary: "Ask whether somebody is a customer already, and may rent",
		About:   "Creates nothing and keeps nothing of what was asked. One of the members must be given; `name` and `date_of_birth` only find something together.",
		Body:    CustomerCheck{}, Reply: CustomerMatches{},
	}, a.checkCustomer)
}

func (a *API) checkCustomer(w http.ResponseWriter, r *http.Request) error {
	var sent CustomerCheck
	if err := a.decodeBody(r, &sent); err != nil {
		return err
	}
	if sent.Email == "" && sent.Phone == "" && sent.Licence == nil && (sent.Name == "" || sent.DateOfBirth == "") {
		return validation(fleet.FieldError{Pointer: "", Code: "required", Detail: "give an email, a phone, a licence, or a name with a date_of_birth"})
	}
	who := record.CustomerFields{Email: sent.Email, Phone: sent.Phone, DateOfBirth: sent.DateOfBirth}
	if sent.Licence != nil {
		who.Licence = &record.Licence{Number: sent.Licence.Number, Country: sent.Licence.Country, Region: sent.Licence.Region}
	}
	found, err := a.desk.Matches(r.Context(), auth.From(r.Context()).Account, sent.Name, &who)
	if err != nil {
		return err
	}
	answer := CustomerMatches{Matches: []CustomerMatch{}}
	for _, m := range found {
		b := &m.Customer.Body
		match := CustomerMatch{CustomerID: fleet.FormatID(fleet.CustomerPrefix, m.Customer.ID), DisplayName: b.DisplayName, Reasons: m.Reasons,
			DoNotRent: b.Barred(a.Now()) || b.RiskLevel == record.RiskBlocked}
		if b.Barred(a.Now()) {
			match.ReasonCode = b.DoNotRent.ReasonCode
		}
		match.IsRentable, match.NotRentable = a.desk.Rentable(&m.Customer)
		answer.DoNotRent = answer.DoNotRent || match.DoNotRent
		answer.Matches = append(answer.Matches, match)
	}
	return writeJSON(w, r, http.StatusOK, answer)
}
