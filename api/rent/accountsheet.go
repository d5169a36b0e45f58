package rent

import (
	"encoding/csv"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/sheet"
)

// accountTables are the forms of the list of accounts of the ledger.
var accountTables = []export.Format{export.JSON, export.CSV, export.XLSX}

// accountColumns are the columns of the list of accounts as CSV.
var accountColumns = []string{"account_number", "account_name", "type", "debit", "credit", "balance", "currency",
	"entry_count", "ledger_account"}

// downloadAccounts answers with the balances of accounts as a table for people: a balance stands among the debits or
// the credits, and once more with its sign, in units of its currency.
func (a *API) downloadAccounts(w http.ResponseWriter, r *http.Request, format export.Format, about string,
	accounts []LedgerAccount) error {
	return a.Download(w, r, format, "ledger-accounts", func(w http.ResponseWriter) error {
		if format == export.XLSX {
			return writeAccountSheet(w, about, accounts)
		}
		return writeAccounts(w, accounts)
	})
}

// sides divides a balance into the debit or the credit that it is.
func sides(balance record.Money) (debit, credit record.Money) {
	debit, credit = record.Money{Currency: balance.Currency}, record.Money{Currency: balance.Currency}
	if balance.Amount < 0 {
		credit.Amount = -balance.Amount
	} else {
		debit.Amount = balance.Amount
	}
	return debit, credit
}

func writeAccounts(to io.Writer, accounts []LedgerAccount) error {
	table := csv.NewWriter(to)
	if err := table.Write(accountColumns); err != nil {
		return err
	}
	for i := range accounts {
		a := &accounts[i]
		debit, credit := sides(a.Balance)
		if err := table.Write([]string{sheet.InertCell(a.Number), sheet.InertCell(a.Name), a.Type, price.Decimal(debit),
			price.Decimal(credit), price.Decimal(a.Balance), a.Balance.Currency, strconv.FormatUint(a.EntryCount, 10),
			a.LedgerAccount}); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// writeAccountSheet writes a workbook. Of one currency alone the debits and credits are summed.
func writeAccountSheet(to io.Writer, about string, accounts []LedgerAccount) error {
	one := true
	var rows [][]any
	for i := range accounts {
		a := &accounts[i]
		one = one && a.Balance.Currency == accounts[0].Balance.Currency
		decimals := price.Decimals(a.Balance.Currency)
		units := func(m record.Money) any {
			return export.Amount{Number: float64(m.Amount) / math.Pow10(decimals), Decimals: decimals}
		}
		debit, credit := sides(a.Balance)
		rows = append(rows, []any{a.Number, a.Name, a.Type, units(debit), units(credit), units(a.Balance),
			a.Balance.Currency})
	}
	return export.WriteSheet(to, "Ledger accounts", about, []export.SheetColumn{{Head: "Number", Width: 12},
		{Head: "Account", Width: 36}, {Head: "Type", Width: 12}, {Head: "Debit", Width: 16, Summed: one},
		{Head: "Credit", Width: 16, Summed: one}, {Head: "Balance", Width: 16, Summed: one},
		{Head: "Currency", Width: 10}}, rows)
}
