package rent

import (
	"context"
	"fmt"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
)

// AccountLabel is how an account of the ledger is known: by a code that never changes, and to people by a
// number and a name.
type AccountLabel struct {
	LedgerAccount string `json:"ledger_account" doc:"Its code, which never changes." example:"accounts_receivable"`
	Number        string `json:"account_number" doc:"Its number in the chart of accounts, as it is now." example:"1100"`
	Name          string `json:"account_name" doc:"Its name in the chart of accounts, as it is now." example:"Accounts receivable"`
}

// ChartAccount is an account of the chart of accounts, as it is answered.
type ChartAccount struct {
	Object string `json:"object" doc:"Always chart_account." example:"chart_account"`
	AccountLabel
	Type          string `json:"type" doc:"asset, liability, equity, revenue (with what lessens it) or cost."`
	DefaultNumber string `json:"default_number" doc:"What it has unless you give it another." example:"1100"`
	DefaultName   string `json:"default_name" example:"Accounts receivable"`
}

// ChartChange renames and renumbers accounts of the chart.
type ChartChange struct {
	Data []ChartLabel `json:"data" minItems:"1" maxItems:"100" nullable:"false"`
}

// ChartLabel is what an account is called from now on.
type ChartLabel struct {
	LedgerAccount string  `json:"ledger_account" example:"cash"`
	Number        *string `json:"account_number,omitempty" pattern:"^([0-9A-Za-z][0-9A-Za-z.-]{0,19})?$" doc:"As it is unless given; its default if empty." example:"1200"`
	Name          *string `json:"account_name,omitempty" maxLength:"100" doc:"As it is unless given; its default if empty." example:"First National, checking"`
}

func (a *API) chartRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/ledger/chart", ID: "getLedgerChart", Tag: "Ledger", Scope: auth.FinanceRead,
		Summary: "Get the chart of accounts",
		About:   "Every account that entries are posted on, by its default number, all on one page. The set and the types are fixed; numbers and names are yours to change.",
		Reply:   rest.List[ChartAccount]{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		account := auth.From(r.Context()).Account
		rec, err := a.accounts.Get(r.Context(), account, uint64(account))
		if err != nil {
			return err
		}
		return a.answerChart(w, r, &rec.Body)
	})
	a.Handle(rest.Route{
		Method: "PATCH", Path: "/v1/ledger/chart", ID: "updateLedgerChart", Tag: "Ledger", Scope: auth.FinanceWrite,
		Summary: "Rename and renumber accounts of the chart",
		About:   "All of them or none. No two accounts have one number. Entries keep the codes of their accounts, and so show the new numbers and names, also those of closed days.",
		Body:    ChartChange{}, Reply: rest.List[ChartAccount]{},
	}, a.patchChart)
}

func (a *API) patchChart(w http.ResponseWriter, r *http.Request) error {
	var sent ChartChange
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	rec, err := a.accounts.Update(r.Context(), rest.Author(r), account, uint64(account), 0,
		func(rec *record.Record[record.Account]) error {
			labels, faults := relabelled(rec.Body.LedgerChart, sent.Data)
			if faults != nil {
				return fleet.Invalid(faults...)
			}
			rec.Body.LedgerChart = labels
			return nil
		})
	if err != nil {
		return err
	}
	return a.answerChart(w, r, &rec.Body)
}

// relabelled returns the numbers and names that an account gives its chart once they are changed, or what is wrong
// with the change.
func relabelled(labels map[string]record.LedgerLabel,
	changes []ChartLabel) (map[string]record.LedgerLabel, []fleet.FieldError) {
	next := map[string]record.LedgerLabel{}
	for code, label := range labels {
		next[code] = label
	}
	var faults []fleet.FieldError
	changed := map[string]int{}
	for i, c := range changes {
		line, ok := ledger.LineOf(ledger.Account(c.LedgerAccount))
		if _, twice := changed[c.LedgerAccount]; !ok || twice {
			detail := "is no account of the chart; GET /v1/ledger/chart lists them"
			if twice {
				detail = "is named twice"
			}
			faults = append(faults,
				fleet.FieldError{Pointer: fmt.Sprintf("/data/%d/ledger_account", i), Code: "invalid", Detail: detail})
			continue
		}
		changed[c.LedgerAccount] = i
		label := next[c.LedgerAccount]
		if c.Number != nil {
			label.Number = unless(*c.Number, line.Number)
		}
		if c.Name != nil {
			label.Name = unless(*c.Name, line.Name)
		}
		if next[c.LedgerAccount] = label; label == (record.LedgerLabel{}) {
			delete(next, c.LedgerAccount)
		}
	}
	held := map[string]string{}
	for _, line := range ledger.Chart {
		label := labelOf(next, string(line.Account))
		other, taken := held[label.Number]
		if held[label.Number] = label.LedgerAccount; !taken {
			continue
		}
		i, ok := changed[label.LedgerAccount]
		if !ok {
			i, other = changed[other], label.LedgerAccount
		}
		faults = append(faults, fleet.FieldError{Pointer: fmt.Sprintf("/data/%d/account_number", i), Code: "not_unique",
			Detail: label.Number + " is the number of " + other + " too; give that another one in the same change"})
	}
	return next, faults
}

// unless is a text, or none if it is that which holds anyway.
func unless(text, anyway string) string {
	if text == anyway {
		return ""
	}
	return text
}

// labelOf is how an account of the ledger is called where its owner has given accounts numbers and names.
func labelOf(labels map[string]record.LedgerLabel, code string) AccountLabel {
	line, _ := ledger.LineOf(ledger.Account(code))
	label := AccountLabel{LedgerAccount: code, Number: line.Number, Name: line.Name}
	if own := labels[code]; own.Number != "" {
		label.Number = own.Number
	}
	if own := labels[code]; own.Name != "" {
		label.Name = own.Name
	}
	return label
}

// labels are the numbers and names that an account gives its chart.
func (a *API) labels(ctx context.Context) (map[string]record.LedgerLabel, error) {
	account := auth.From(ctx).Account
	rec, err := a.accounts.Get(ctx, account, uint64(account))
	return rec.Body.LedgerChart, err
}

func (a *API) answerChart(w http.ResponseWriter, r *http.Request, account *record.Account) error {
	data := make([]ChartAccount, len(ledger.Chart))
	for i, line := range ledger.Chart {
		data[i] = ChartAccount{Object: "chart_account", AccountLabel: labelOf(account.LedgerChart, string(line.Account)),
			Type:          line.Type,
			DefaultNumber: line.Number, DefaultName: line.Name}
	}
	return rest.WriteJSON(w, r, http.StatusOK,
		rest.List[ChartAccount]{Data: data, Pagination: rest.Pagination{Page: 1, PerPage: len(data), Total: len(data)}})
}
