package paperwork

import (
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// Writer writes amounts, dates and words of papers in one language. It is not safe for concurrent use.
type Writer struct {
	tag     language.Tag
	words   map[string]string
	printer *message.Printer
	zone    *time.Location
	point   string // between whole units and the rest
}

// spoken is the language of a tag, if papers have words for it.
func spoken(tag string) (language.Tag, map[string]string, bool) {
	t, err := language.Parse(tag)
	if err != nil {
		return t, nil, false
	}
	base, _ := t.Base()
	known := words[base.String()]
	return t, known, known != nil
}

// KnowsLanguage says whether papers have words for a language, given as a tag.
func KnowsLanguage(tag string) bool {
	_, _, known := spoken(tag)
	return known
}

// NewWriter returns the writer of a language, given as a tag, and of a zone; of English and UTC where it knows neither.
func NewWriter(tag, zone string) *Writer {
	t, known, ok := spoken(tag)
	if !ok {
		t, known = language.English, words["en"]
	}
	w := &Writer{tag: t, words: known, printer: message.NewPrinter(t)}
	var err error
	if w.zone, err = time.LoadLocation(zone); err != nil || zone == "" {
		w.zone = time.UTC
	}
	w.point = strings.Trim(w.printer.Sprint(number.Decimal(1.5, number.Scale(1))), "15")
	return w
}

// Word is a word of papers in the language; a name without one is written with spaces.
func (w *Writer) Word(name string) string {
	if word, ok := w.words[name]; ok {
		return word
	}
	if word, ok := words["en"][name]; ok {
		return word
	}
	return strings.ReplaceAll(name, "_", " ")
}

// symbols are those of currencies that are well known by them.
var symbols = map[string]string{"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}

// Money writes an amount with the digits of its currency: "$1,234.50", "1.234,50 €", "¥1,235", "KWD 1.234,500".
func (w *Writer) Money(m record.Money) string {
	text, minus := w.Amount(m), ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, minus = rest, "-"
	}
	symbol, known := symbols[m.Currency]
	base, _ := w.tag.Base()
	switch {
	case base.String() != "en":
		if !known {
			symbol = m.Currency
		}
		return minus + text + "\u00a0" + symbol
	case known:
		return minus + symbol + text
	}
	return minus + m.Currency + "\u00a0" + text
}

// Amount writes the number of an amount, which is exact.
func (w *Writer) Amount(m record.Money) string {
	digits, minus := price.Decimal(m), ""
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		digits, minus = rest, "-"
	}
	whole, rest, _ := strings.Cut(digits, ".")
	var n uint64
	for _, d := range whole {
		n = n*10 + uint64(d-'0')
	}
	text := w.printer.Sprint(number.Decimal(n))
	if rest != "" {
		text += w.point + rest
	}
	return minus + text
}

// Count writes a whole number.
func (w *Writer) Count(n int64) string { return w.printer.Sprint(number.Decimal(n)) }

// Rate writes a rate in basis points: "8.25%", "19 %".
func (w *Writer) Rate(bp int64) string {
	whole, rest := w.Count(bp/100), ""
	if part := bp % 100; part != 0 {
		rest = w.point + strings.TrimRight(string([]byte{byte('0' + part/10), byte('0' + part%10)}), "0")
	}
	if base, _ := w.tag.Base(); base.String() == "en" {
		return whole + rest + "%"
	}
	return whole + rest + "\u00a0%"
}

// layouts write days in the languages.
var layouts = map[string]string{"de": "02.01.2006", "fr": "02/01/2006", "es": "02/01/2006", "en": "2 Jan 2006"}

// Day writes a day that is given as 2006-01-02; what is none stays as it is.
func (w *Writer) Day(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format(w.layout())
}

// Moment writes an instant in the zone; nothing for none.
func (w *Writer) Moment(at record.Instant) string {
	if at.IsZero() {
		return ""
	}
	return at.In(w.zone).Format(w.layout() + " 15:04")
}

func (w *Writer) layout() string {
	base, _ := w.tag.Base()
	if region, _ := w.tag.Region(); base.String() == "en" && region.String() == "US" {
		return "Jan 2, 2006"
	}
	if layout, ok := layouts[base.String()]; ok {
		return layout
	}
	return layouts["en"]
}

// Address writes an address, a line each; of a paper to the same country without it.
func Address(a *record.Address, home string) []string {
	if a == nil {
		return nil
	}
	city := strings.Join(strings.Fields(a.PostalCode+" "+a.City), " ")
	if a.Country == "US" || a.Country == "CA" || a.Country == "GB" || a.Country == "AU" {
		city = strings.TrimSpace(strings.Join(filled(a.City, a.Region), ", ") + " " + a.PostalCode)
	} else if a.Region != "" {
		city = strings.Join(filled(city, a.Region), ", ")
	}
	country := a.Country
	if country == home {
		country = ""
	}
	return filled(a.Line1, a.Line2, city, country)
}

// filled are the texts that are not empty.
func filled(texts ...string) []string {
	var all []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}
