package oauth

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/page"
)

var (
	question = template.Must(template.New("question").Parse(`<p>You are signed in as <strong>{{.Person}}</strong>{{with .Role}} ({{.}}){{end}}.
<strong>{{.Client}}</strong> asks to act for you, and will be able to:</p>
<ul class="rights">
{{range .Rights}}<li{{if .Wide}} class="wide"{{end}}>{{.Words}}</li>
{{end}}</ul>
<p class="soft">It can do no more than you can. Whoever manages applications of your account can take this away at any time.</p>
<form method="post" action="/oauth/authorize">
<input type="hidden" name="wish" value="{{.Wish}}">
<div class="choice">
<button class="quiet" name="answer" value="deny">Do not allow</button>
<button name="answer" value="allow">Allow</button>
</div>
</form>
<p class="soft">You then go to {{.Back}}.</p>`))
	signInFirst = template.Must(template.New("first").Parse(`<p><strong>{{.Client}}</strong> asks for more than most, and you
signed in more than an hour ago. Sign in once more, so that nobody else gives it at your browser.</p>
<p><a class="button" href="{{.Page}}">Sign in once more</a></p>`))
	onward  = template.Must(template.New("onward").Parse(`<p><a href="{{.}}">Go on to the application</a></p>`))
	message = template.Must(template.New("message").Parse(`<p>{{.}}</p>`))
)

// asked is what the page that asks a person shows.
type asked struct {
	Client, Person, Role string
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
	place := back.Scheme + "://" + back.Host
	view := asked{Client: c.body.Name, Person: p.Name, Role: string(p.Role), Back: place, Wish: sealed}
	if back.Scheme != "https" && back.Scheme != "http" {
		view.Back, place = "the app on this device ("+back.Scheme+")", back.Scheme+":"
	} else if back.Scheme == "http" {
		view.Back = "a program on this device"
		if strings.HasPrefix(back.Host, "[") {
			place = "http:" // a policy cannot name an address in brackets
		}
	}
	for _, name := range want.Scopes {
		view.Rights = append(view.Rights, rights[auth.Scope(name)])
	}
	return page.WriteTo(w, http.StatusOK, "Allow "+c.body.Name+"?", question, view, place)
}

func isWide(scope string) bool { return rights[auth.Scope(scope)].Wide }

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
