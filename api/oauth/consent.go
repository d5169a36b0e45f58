package oauth

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/motorpool/fleet/api/auth"
)

// stylePath is the style of the pages.
const stylePath = "/oauth/page.css"

//go:embed page.css
var style []byte

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// pageOf is what a page shows: a question, or a message.
type pageOf struct {
	Title   string
	Message string

	Client, Person, Role string // of a question
	Back                 string // where the person goes from here
	Rights               []right
	Wish                 string
}

// right is something that a client may do when a person consents.
type right struct {
	Words string
	Wide  bool // it deserves a second look
}

// showConsent asks a person.
func (a *API) showConsent(w http.ResponseWriter, c *client, p *auth.Person, want *wish, sealed string) error {
	back, err := url.Parse(want.Redirect)
	if err != nil {
		return fmt.Errorf("read an address that was checked: %w", err)
	}
	if !plainHost(back.Host) {
		return a.tell(w, &shown{http.StatusBadRequest, "This link leads back to an unknown place",
			"The redirect_uri of the application is no address that browsers can be sent to. Nothing was given to anybody."})
	}
	asked := pageOf{Title: "Allow " + c.body.Name + "?", Client: c.body.Name, Person: p.Name, Role: string(p.Role),
		Back: back.Scheme + "://" + back.Host, Wish: sealed}
	allowed := "'self' " + back.Scheme + "://" + back.Host
	if back.Scheme != "https" && back.Scheme != "http" {
		asked.Back, allowed = "the app on this device ("+back.Scheme+")", "'self' "+back.Scheme+":"
	} else if back.Scheme == "http" {
		asked.Back = "a program on this device"
		if strings.HasPrefix(back.Host, "[") {
			allowed = "'self' http:" // a policy cannot name an address in brackets
		}
	}
	for _, name := range want.Scopes {
		asked.Rights = append(asked.Rights, rights[auth.Scope(name)])
	}
	return a.write(w, http.StatusOK, allowed, asked)
}

// write writes a page. Forms may lead to the places that are named, and nothing may show it in a frame.
func (a *API) write(w http.ResponseWriter, status int, forms string, shown pageOf) error {
	var text bytes.Buffer
	if err := page.Execute(&text, shown); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action "+forms+
		"; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	_, err := w.Write(text.Bytes())
	return err
}

// rights says for people what each scope lets a client do.
var rights = map[auth.Scope]right{
	auth.VehiclesRead:     {Words: "See vehicles, their classes and locations"},
	auth.VehiclesWrite:    {Words: "Add and change vehicles, their classes and locations"},
	auth.BookingsRead:     {Words: "See bookings, quotes and prices"},
	auth.BookingsWrite:    {Words: "Make, change and cancel bookings"},
	auth.BookingsOverride: {Words: "Override rules of bookings", Wide: true},
	auth.CustomersRead:    {Words: "See customers, without their personal details"},
	auth.CustomersWrite:   {Words: "Add and change customers"},
	auth.CustomersPII:     {Words: "See personal details of customers: birthdays, licences, documents", Wide: true},
	auth.MaintenanceRead:  {Words: "See maintenance, work orders and inspections"},
	auth.MaintenanceWrite: {Words: "Plan and change maintenance, work orders and inspections"},
	auth.FinanceRead:      {Words: "See payments, invoices, expenses and the ledger"},
	auth.FinanceWrite:     {Words: "Take and refund payments, issue invoices, and post expenses", Wide: true},
	auth.ReportsRead:      {Words: "Make and see reports"},
	auth.TelematicsRead:   {Words: "See where vehicles are and were, trips and alerts"},
	auth.TelematicsWrite:  {Words: "Send positions, and change trackers, geofences and alert rules"},
	auth.DevicesCommand:   {Words: "Send commands to trackers, such as to stop an engine", Wide: true},
	auth.WebhooksManage:   {Words: "Have events sent to other systems", Wide: true},
	auth.UsersManage:      {Words: "Add, change and remove people of the account", Wide: true},
	auth.OAuthManage:      {Words: "Manage applications that reach the account", Wide: true},
	auth.KeysManage:       {Words: "Make and revoke API keys", Wide: true},
	auth.Admin:            {Words: "Do everything in the account", Wide: true},
}
