package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
)

var streams = regexp.MustCompile(`(?s)stream\n(.*?)\nendstream`)

// printed reads the texts of a PDF as they are drawn, a line each, page after page: the letters are those of UTF-16.
func printed(t testing.TB, file []byte) string {
	t.Helper()
	var all []string
	for _, m := range streams.FindAllSubmatch(file, -1) {
		in, err := zlib.NewReader(bytes.NewReader(m[1]))
		if err != nil {
			continue // no compressed stream
		}
		text, err := io.ReadAll(in)
		if err != nil || !bytes.Contains(text, []byte(")Tj")) {
			continue
		}
		all = append(all, drawnIn(text)...)
	}
	return strings.Join(all, "\n")
}

// drawnIn reads the texts between brackets of what draws a page.
func drawnIn(page []byte) []string {
	var all []string
	for i := 0; i < len(page); i++ {
		if page[i] != '(' {
			continue
		}
		var raw []byte
		for i++; page[i] != ')'; i++ {
			if page[i] == '\\' {
				i++
				if page[i] == 'r' {
					raw = append(raw, '\r')
					continue
				}
			}
			raw = append(raw, page[i])
		}
		var units []uint16
		for n := 0; n+1 < len(raw); n += 2 {
			units = append(units, uint16(raw[n])<<8|uint16(raw[n+1]))
		}
		all = append(all, strings.ReplaceAll(string(utf16.Decode(units)), "\u00a0", " "))
	}
	return all
}

func money(amount int64, currency string) record.Money {
	return record.Money{Amount: amount, Currency: currency}
}

var issuedAt = time.Date(2026, 11, 2, 15, 4, 5, 0, time.UTC)

// sample is an issued paper of a kind, with so many lines.
func sample(kind, language, currency string, lines int) (*record.Paper, *record.PaperPersons) {
	p := &record.Paper{Kind: kind, Status: record.PaperOpen, Number: "INV-2026-00042", Currency: currency,
		CustomerID: "cus_1", IssuedAt: record.InstantOf(issuedAt), IssuedOn: "2026-11-02", DueOn: "2026-11-16"}
	p.Notes = "Thank you for your business."
	p.Language, p.Timezone, p.Letter = language, "America/Chicago", language == "en-US"
	p.Footer = "Lone Star Rentals LLC · Registered in Texas"
	p.Seller = &record.PaperSeller{LegalName: "Lone Star Rentals LLC", TaxID: "74-1234567", Email: "office@example.com",
		Address: &record.Address{Line1: "100 Congress Ave", City: "Austin", Region: "TX", PostalCode: "78701", Country: "US"},
		Bank:    []record.BankFact{{Name: "IBAN", Value: "DE02 1203 0000 0000 2020 51"}}}
	p.About = &record.PaperSubject{BookingNumber: "B-1042", Vehicle: "ABC1234, Tesla Model 3, 2024",
		VIN:      "5YJ3E1EA2KF317000",
		PickupAt: record.InstantOf(issuedAt), ReturnAt: record.InstantOf(issuedAt.Add(72 * time.Hour)),
		PickupPlace: "Austin Airport", ReturnPlace: "Austin Airport"}
	var charges []record.Charge
	for i := range lines {
		charges = append(charges, record.Charge{ID: fmt.Sprint("chg_", i), Type: "time", Description: fmt.Sprint("Day ", i+1),
			Quantity: int64(i%3 + 1), UnitPrice: money(5000, currency), Amount: money(5000*int64(i%3+1), currency),
			Taxable: true})
	}
	charges = append(charges, record.Charge{ID: "chg_t", Type: "tax", Description: "State tax", TaxRateBP: 625,
		Quantity: 1, Amount: money(938, currency)}, record.Charge{ID: "chg_u", Type: "tax", Description: "City tax",
		TaxRateBP: 900, Quantity: 1, Amount: money(1350, currency)})
	content, _ := paperwork.Bill(currency, charges)
	p.Lines, p.Taxes, p.Sums, p.Total = content.Lines, content.Taxes, content.Sums, content.Total
	return p, &record.PaperPersons{To: &record.PaperParty{CustomerNumber: "C-1002", Name: "Ada Smith",
		Address: &record.Address{Line1: "1 Main St", City: "Dallas", Region: "TX", PostalCode: "75001", Country: "US"}}}
}

func mustPrint(t testing.TB, p *record.Paper, persons *record.PaperPersons) []byte {
	t.Helper()
	file, err := Print(p, persons, issuedAt)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// wants says which texts a print lacks.
func wants(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not printed in:\n%s", want, text)
		}
	}
}

func TestAnInvoiceSaysWhatItMust(t *testing.T) {
	p, persons := sample("invoice", "en-US", "USD", 3)
	text := printed(t, mustPrint(t, p, persons))
	wants(t, text, "Invoice", "INV-2026-00042", "Lone Star Rentals LLC", "100 Congress Ave", "Austin, TX 78701",
		"Tax ID: 74-1234567", "Ada Smith", "1 Main St", "Dallas, TX 75001", "C-1002", "Nov 2, 2026", "Nov 16, 2026", "B-1042",
		"Nov 2, 2026 09:04, Austin Airport", "Rental: Day 1", "$50.00", "$150.00", "Net", "$300.00",
		"State tax 6.25% on $300.00", "$9.38", "City tax 9% on $300.00", "$13.50", "$322.88",
		"IBAN: DE02 1203 0000 0000 2020 51", "Thank you for your business.", "Page 1 of 1")
	for language, want := range map[string][]string{
		"de-DE": {"Rechnung", "02.11.2026", "Zahlbar bis", "9,38 €", "State tax 6,25 % auf 300,00 €", "Seite 1 von 1"},
		"fr":    {"Facture", "02/11/2026", "Hors taxes", "300,00 €", "Page 1 sur 1"},
		"es-ES": {"Factura", "Vencimiento", "322,88 €", "Página 1 de 1"},
		"nl":    {"Invoice"}, // a language without words is that of the first
	} {
		p, persons := sample("invoice", language, "EUR", 3)
		wants(t, printed(t, mustPrint(t, p, persons)), want...)
	}
}

// What was paid before an invoice is issued is printed on it, and one that is paid in full asks for nothing.
func TestAnInvoiceThatIsPaidAsksForNothing(t *testing.T) {
	p, persons := sample("invoice", "en-US", "USD", 3)
	paperwork.Settle(p, nil, 10000)
	wants(t, printed(t, mustPrint(t, p, persons)), "Paid by the day of issue", "$100.00", "Amount due", "$222.88", "IBAN",
		"Due")
	paperwork.Settle(p, nil, 50000)
	text := printed(t, mustPrint(t, p, persons))
	wants(t, text, "$322.88", "Paid in full", "$0.00")
	for _, asks := range []string{"IBAN", "Amount due", "Due"} {
		if strings.Contains(text, asks) {
			t.Errorf("%s is printed in:\n%s", asks, text)
		}
	}
}

func TestMoneyHasTheDigitsOfItsCurrency(t *testing.T) {
	for _, c := range []struct {
		language, want string
		amount         record.Money
	}{
		{"en-US", "$1,234,567.89", money(123456789, "USD")}, {"en-US", "-$0.05", money(-5, "USD")},
		{"en", "¥1,235", money(1235, "JPY")}, {"de", "1.235 ¥", money(1235, "JPY")},
		{"en", "KWD 1,234.567", money(1234567, "KWD")}, {"de", "1.234,567 KWD", money(1234567, "KWD")},
		{"de-CH", "1’234.50 CHF", money(123450, "CHF")}, {"fr", "-12,00 €", money(-1200, "EUR")},
		{"en", "$90,071,992,547,409.93", money(9007199254740993, "USD")}, // more than a float holds
		{"en", "-$92,233,720,368,547,758.08", money(-1<<63, "USD")},
	} {
		got := strings.ReplaceAll(paperwork.NewWriter(c.language, "").Money(c.amount), "\u00a0", " ")
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.language, got, c.want)
		}
	}
}

func TestALongPaperGoesOnOnPagesWithTheHeadRepeated(t *testing.T) {
	p, persons := sample("invoice", "en-US", "USD", 120)
	p.Lines[60].Description = strings.Repeat("very long words of a line ", 12)
	text := printed(t, mustPrint(t, p, persons))
	pages := strings.Count(text, "Unit price")
	if pages < 3 {
		t.Errorf("%d pages", pages)
	}
	for n := range pages {
		wants(t, text, fmt.Sprintf("Page %d of %d", n+1, pages))
	}
	if got := strings.Count(text, "Rental: Day "); got != 119 {
		t.Errorf("%d of 119 short lines are printed", got)
	}
	wants(t, text, "Invoice INV-2026-00042 · continued", "very long words")
}

func TestAPaperIsTheSameToTheByte(t *testing.T) {
	for kind := range strings.FieldsSeq("invoice credit_note receipt deposit_statement agreement owner_statement") {
		p, persons := sample(kind, "de", "EUR", 50)
		persons.Text = paperwork.UsualAgreement("de")
		first := mustPrint(t, p, persons)
		for range 5 {
			if again := mustPrint(t, p, persons); !bytes.Equal(first, again) {
				t.Fatalf("%s: another print is another file", kind)
			}
		}
		p.Metadata = map[string]string{"seen": "yes"}
		p.Status = record.PaperPaid
		if !bytes.Equal(first, mustPrint(t, p, persons)) {
			t.Errorf("%s: what is not printed changes the print", kind)
		}
	}
}

func TestADraftIsMarkedAsOne(t *testing.T) {
	p, persons := sample("invoice", "de", "EUR", 1)
	p.Number, p.Status = "", record.PaperDraft
	wants(t, printed(t, mustPrint(t, p, persons)), "ENTWURF", "ENTWURF, ohne Nummer")
}

func TestWhoIsErasedIsNotPrinted(t *testing.T) {
	p, _ := sample("agreement", "en", "USD", 1)
	wants(t, printed(t, mustPrint(t, p, nil)), "[erased]")
}

// Names, notes and templates may hold anything: it is printed as text, in the letters that there are.
func TestHostileTextsArePrintedAsText(t *testing.T) {
	for _, text := range []string{
		"Grüße, Ἀθῆναι Αθήνα, Москва, Łódź, Đặng, 東京, العربية, 👩‍🚗, \U0001F600", "(a) \\ (b \\) ) Tj ET Q /F1", "{nb} {{nb}} %PDF-1.7 endstream endobj",
		"\x00\x01\x1b[31m\u202egnp.exe\u2066\ufeff", strings.Repeat("W", 5000), strings.Repeat("\n", 3000),
		strings.Repeat("long ", 20000), "a\tb\r\nc\u2028d", string([]byte{0xff, 0xfe, 'x'}), "\r",
	} {
		for _, kind := range []string{"invoice", "agreement"} {
			p, persons := sample(kind, "en-US", "USD", 2)
			p.Notes, p.Footer, p.Seller.LegalName, p.About.Vehicle = text, text, text, text
			p.Lines[0].Description, p.Taxes[0].Name, p.SignedBy, p.SignedAt = text, text, text, p.IssuedAt
			persons.To.Name, persons.To.Company, persons.Text = text, text, "# "+text+"\n"+text
			if len(text) > 3000 { // more than the interface takes of these
				p.Footer, p.Seller.LegalName, p.About.Vehicle, p.SignedBy = "f", "s", "v", "b"
				p.Lines[0].Description, p.Taxes[0].Name, persons.To.Name, persons.To.Company = "l", "t", "n", "c"
			}
			file := mustPrint(t, p, persons)
			if !bytes.HasPrefix(file, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF")) {
				t.Errorf("%.40q: no whole file", text)
			}
			shown := printed(t, file)
			if strings.ContainsAny(shown, "\x00\x1b\u202e\u2066") {
				t.Errorf("%.40q: what has no shape is printed", text)
			}
			wants(t, shown, "Page 1 of ")
		}
	}
	p, persons := sample("invoice", "en-US", "USD", 1)
	persons.To.Name = "Αθήνα Москва Łódź Đặng 東京 ("
	wants(t, printed(t, mustPrint(t, p, persons)), "Αθήνα Москва Łódź Đang ?? (")
}

func TestAnAgreementHasPlaceToSign(t *testing.T) {
	p, persons := sample("agreement", "en-US", "USD", 1)
	p.SignedAt, p.SignedBy = p.IssuedAt, "Ada Smith"
	persons.Text = "# Parties\nA and B\n\n# Terms\n" + strings.Repeat("Some term that is agreed. ", 900)
	text := printed(t, mustPrint(t, p, persons))
	wants(t, text, "Parties", "Terms", "Renter · Place, date, Signature", "Lessor · Place, date, Signature",
		"Signed: Ada Smith, Nov 2, 2026 09:04", "Page 2 of ")
}
