package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// onLetter are the countries in which papers are printed on US Letter.
var onLetter = []string{"US", "CA", "MX", "PH", "CL", "CO", "CR", "GT", "PA", "PR", "DO", "SV", "NI", "VE"}

// keepYears is for how many years papers keep who they are made out to, unless the account says otherwise.
const keepYears = 10

// setting is what papers of an account are printed with.
type setting struct {
	zone     *time.Location
	country  string
	currency string
	settings *record.PaperSettings
	seller   record.PaperSeller
}

// settingOf reads what papers of an account are printed with.
func (d *Papers) settingOf(ctx context.Context, account fleet.AccountID) (setting, error) {
	a, err := d.Accounts.Get(ctx, account, uint64(account))
	if err != nil {
		return setting{}, err
	}
	s := setting{zone: fleet.ZoneOf(a.Body.Timezone), settings: a.Body.Papers, currency: a.Body.Currency}
	if s.settings == nil {
		s.settings = &record.PaperSettings{}
	}
	s.seller = s.settings.PaperSeller
	s.seller.LegalName = cmp.Or(s.seller.LegalName, a.Body.Name)
	s.country = a.Body.Country
	if s.seller.Address != nil {
		s.country = cmp.Or(s.seller.Address.Country, s.country)
	}
	if s.country == "" && a.Body.Currency == "USD" {
		s.country = "US"
	}
	return s, nil
}

// language is that of the account's papers.
func (s *setting) language() string {
	return cmp.Or(s.settings.Language, map[bool]string{true: "en-US", false: "en"}[s.country == "US"])
}

// dayOf is the day of an instant in a zone; "" for none.
func dayOf(at record.Instant, zone *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return at.In(zone).Format(time.DateOnly)
}

// seal settles all that is printed on a paper: by whom it is issued, to whom and when, and what it is about. Who it
// names is stored before the paper says so.
func (d *Papers) seal(ctx context.Context, account fleet.AccountID, id uint64, p *record.Paper) error {
	s, err := d.settingOf(ctx, account)
	if err != nil {
		return err
	}
	now := d.Now()
	p.Language, p.Timezone, p.Letter = s.language(), s.zone.String(), slices.Contains(onLetter, s.country)
	p.Seller, p.Footer = &s.seller, s.settings.Footer
	p.IssuedAt = record.InstantOf(now)
	p.IssuedOn = dayOf(p.IssuedAt, s.zone)
	p.Series = p.Kind + " " + p.IssuedOn[:4]
	p.Prefix = s.settings.NumberPrefix(p.Kind)
	if p.Kind == record.Invoices.Name {
		p.DueOn = now.In(s.zone).AddDate(0, 0, s.settings.DueDays).Format(time.DateOnly)
		if err := d.settled(ctx, account, p); err != nil {
			return err
		}
	}
	subject, err := d.about(ctx, account, p)
	if err != nil {
		return err
	}
	persons, customers, err := d.personsOf(ctx, account, p, subject, &s)
	if err != nil {
		return err
	}
	p.About = &subject.said
	return d.keepPersons(ctx, account, id, p, persons, customers, &s)
}

// keepPersons stores who a paper names, and has it say so.
func (d *Papers) keepPersons(ctx context.Context, account fleet.AccountID, id uint64, p *record.Paper,
	persons record.PaperPersons, customers []uint64, s *setting) error {
	text, err := json.Marshal(persons)
	if err != nil {
		return fmt.Errorf("encode who paper %d names: %w", id, err)
	}
	years := keepYears
	if s.settings.KeepYears != nil {
		years = *s.settings.KeepYears
	}
	until := time.Unix(0, 0).UTC()
	if issued, err := time.Parse(time.DateOnly, p.IssuedOn); err == nil && years > 0 {
		until = time.Date(issued.Year()+years, time.December, 31, 0, 0, 0, 0, time.UTC)
	}
	p.Persons = record.RandomID()
	batch, err := d.DB.PrepareBatch(record.WithToken(ctx, fmt.Sprintf("paper_persons:%d", p.Persons)),
		"INSERT INTO paper_persons (account, paper, sealing, customers, keep_until, body)")
	if err != nil {
		return fmt.Errorf("keep who paper %d names: %w", id, err)
	}
	if err := batch.Append(uint64(account), id, p.Persons, customers, until, string(text)); err != nil {
		batch.Abort()
		return fmt.Errorf("keep who paper %d names: %w", id, err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("keep who paper %d names: %w", id, err)
	}
	return nil
}

// Persons returns whom papers name, by their ids: of sealed ones as it was stored, nil where nothing is kept any more,
// and of drafts as their customers are now.
func (d *Papers) Persons(ctx context.Context, account fleet.AccountID,
	papers []rec) (map[uint64]*record.PaperPersons, error) {
	all, sealings := map[uint64]*record.PaperPersons{}, map[uint64]uint64{}
	for i := range papers {
		if p := &papers[i]; p.Body.Persons != 0 {
			sealings[p.ID] = p.Body.Persons
		} else if id, err := fleet.ParseID(fleet.CustomerPrefix, p.Body.CustomerID); err == nil {
			c, err := d.Customers.Get(ctx, account, id)
			if err != nil {
				return nil, err
			}
			if !c.Body.Gone() {
				all[p.ID] = &record.PaperPersons{To: partyOf(&c.Body)}
			}
		}
	}
	found, err := query.PaperPersons(ctx, d.DB, account, sealings)
	if err != nil {
		return nil, err
	}
	for id, text := range found {
		persons := &record.PaperPersons{}
		if err := json.Unmarshal([]byte(text), persons); err != nil {
			return nil, fmt.Errorf("decode who paper %d names: %w", id, err)
		}
		all[id] = persons
	}
	return all, nil
}

// partyOf is a customer as papers name one.
func partyOf(c *record.Customer) *record.PaperParty {
	name := strings.TrimSpace(c.FirstName + " " + c.LastName)
	if name == "" && c.DisplayName != c.CompanyName {
		name = c.DisplayName
	}
	return &record.PaperParty{CustomerNumber: c.Number, Name: name, Company: c.CompanyName, Address: c.Address,
		TaxID: c.TaxID}
}

// personsOf are whom a paper names, and the customers whom that speaks of. What is taken back is made out to whom the
// invoice was, and so is what follows on the papers of a customer who was erased.
func (d *Papers) personsOf(ctx context.Context, account fleet.AccountID, p *record.Paper, about *subject,
	s *setting) (record.PaperPersons, []uint64, error) {
	var persons record.PaperPersons
	var customers []uint64
	id, err := fleet.ParseID(fleet.CustomerPrefix, p.CustomerID)
	if err != nil {
		return persons, nil, nil
	}
	customers = append(customers, id)
	c, err := d.Customers.Get(ctx, account, id)
	if err != nil {
		return persons, nil, err
	}
	persons.To = partyOf(&c.Body)
	if p.InvoiceID != "" || c.Body.Gone() {
		earlier, err := d.namedBefore(ctx, account, p)
		if err != nil {
			return persons, nil, err
		}
		if earlier != nil {
			persons.To = earlier.To
		}
	}
	if p.Kind == record.Agreements.Name {
		text, drivers, err := d.agreementText(ctx, account, p, about, &c.Body, s)
		if err != nil {
			return persons, nil, err
		}
		persons.Text = text
		customers = append(customers, drivers...)
	}
	return persons, customers, nil
}

// namedBefore are whom the invoice names that a paper takes back, or the newest sealed paper of its booking and
// customer.
func (d *Papers) namedBefore(ctx context.Context, account fleet.AccountID,
	p *record.Paper) (*record.PaperPersons, error) {
	var of *rec
	if invoice, err := fleet.ParseID(fleet.InvoicePrefix, p.InvoiceID); err == nil {
		r, err := d.Log(record.Invoices).Get(ctx, account, invoice)
		if err != nil {
			return nil, err
		}
		of = &r
	} else {
		papers, _, err := d.papersOf(ctx, account, p.BookingID)
		if err != nil {
			return nil, err
		}
		for i := range papers {
			if papers[i].Body.Persons != 0 && papers[i].Body.CustomerID == p.CustomerID {
				of = &papers[i]
			}
		}
	}
	if of == nil {
		return nil, nil
	}
	named, err := d.Persons(ctx, account, []rec{*of})
	return named[of.ID], err
}

// forgetErased has papers forget customers who were erased, once the law does not want them kept any longer.
func (d *Papers) forgetErased(ctx context.Context) error {
	today := d.Now().UTC()
	lapsed, err := query.PaperPersonsLapsed(ctx, d.DB, today)
	if err != nil {
		return err
	}
	for _, c := range lapsed {
		if err := d.DB.Exec(ctx, schemas.Query("paper_persons_forget"), clickhouse.Named("account", uint64(c.Account)),
			clickhouse.Named("customers", []uint64{c.ID}),
			clickhouse.Named("today", today.Format(time.DateOnly))); err != nil {
			return fmt.Errorf("forget customer %d on papers: %w", c.ID, err)
		}
	}
	return nil
}
