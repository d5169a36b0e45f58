// Package seed makes up the past of a rental business around vehicles that there are: customers, two years of
// bookings with their payments, damages and cancellations, maintenance and costs. The same seed and anchor give the
// same business.
//
// A Plan is made up first, purely (plan.go, people.go). Carry does what it says, through the rental desk and in the
// order of its time, with a clock that stands where the plan is: so every record, posting and history entry comes to be
// as it would have in those two years. What was cut short is taken up where it stopped.
package seed

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Car is a vehicle that is rented out.
type Car struct {
	ID         string // "veh_1234"
	Class      string // code of a class in Classes
	Branch     string // code of a branch of the business
	Electric   bool
	MileageMi  int   // when the business got it
	Ways       []Way // that it is driven
	InWorkshop bool  // at the anchor
}

// Way leads from a car's branch to some place, and back.
type Way struct {
	Miles float64 // there
	Takes time.Duration
}

// Leg is one drive of a car along one of its ways.
type Leg struct {
	At   time.Time // when it sets out
	Way  int       // index in Car.Ways
	Home bool      // back to the branch; else away from it
}

// Class is a class of the business.
type Class struct {
	Code, Name string
	Rank       int
	DailyCents int64
	Deposit    int64 // cents
	Value      int64 // cents, of a vehicle when it was bought
}

// Classes are the classes of the business, cheapest first.
var Classes = []Class{
	{"SCOOTER", "Scooter", 1, 2900, 10000, 550000},
	{"COMPACT", "Compact", 2, 4500, 20000, 1900000},
	{"SEDAN", "Sedan", 3, 5600, 25000, 2600000},
	{"SUV", "SUV and wagon", 4, 7400, 30000, 3200000},
	{"VAN", "Minivan", 5, 8900, 30000, 3600000},
	{"CARGO", "Cargo van", 6, 8400, 30000, 3900000},
}

// Rental is one booking and what becomes of it.
type Rental struct {
	Number            int // within the car
	Car               string
	Class             string
	Customer          int // index in Plan.Customers
	Channel           string
	BookedAt          time.Time
	PickupAt          time.Time
	ReturnAt          time.Time
	ActualPickup      time.Time
	ActualReturn      time.Time
	Outcome           string    // returned, cancelled, no_show
	CancelledAt       time.Time // if it was
	Legs              []Leg     // what is driven meanwhile
	FromMi, ToMi      int       // odometer at pickup and return
	PickupPct         int       // of fuel or charge
	ReturnPct         int
	Extra             string // code, or empty
	Damage            string // found at return, or empty
	DamageCents       int64
	TollCents         int64 // 0 for none
	LateDeposit       bool  // part of the deposit is kept
	PaysLater         bool  // by bank transfer, two weeks after the return
	ExternalReference string
}

// Service is a visit to the workshop.
type Service struct {
	Car                string
	Number             int
	Type               string
	Title              string
	From, Until        time.Time
	LaborCents, PartsC int64
	MileageMi          int
}

// Cost is an expense.
type Cost struct {
	Car      string // empty for the whole business
	Number   int
	Category string
	On       time.Time
	From, To time.Time // service period; zero for none
	Cents    int64
	Vendor   string
}

// Plan is the past of a business.
type Plan struct {
	Begin, Anchor time.Time
	Zone          *time.Location
	Customers     []Person
	Rentals       map[string][]Rental // by car, in order of pickup, never overlapping
	Services      map[string][]Service
	Costs         map[string][]Cost // "" for those of the business
}

// New makes up the years before anchor, and the bookings of the two months after it.
func New(seed uint64, anchor time.Time, years int, cars []Car, zone *time.Location) *Plan {
	rng := rand.New(rand.NewPCG(seed, 20))
	day := anchor.In(zone)
	anchor = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	p := &Plan{Begin: anchor.AddDate(-years, 0, 0), Anchor: anchor, Zone: zone, Rentals: map[string][]Rental{},
		Services: map[string][]Service{}, Costs: map[string][]Cost{}}
	p.Customers = people(rng, 20+len(cars)*25)
	for i, car := range cars {
		p.drive(rand.New(rand.NewPCG(seed, uint64(100+i))), car)
	}
	p.overhead(rng)
	return p
}

// Whole is the first month that the business is there for from its beginning: what it pays by the month begins then.
func (p *Plan) Whole() time.Time {
	return time.Date(p.Begin.Year(), p.Begin.Month()+1, 1, 0, 0, 0, 0, p.Zone)
}

// season is how much is asked for in a month, in percent of the year's mean.
var season = [12]int{72, 74, 92, 96, 104, 122, 136, 134, 104, 96, 80, 90}

// channels are where bookings come from, as often as they stand here.
var channels = []string{"direct", "direct", "website", "website", "website", "phone", "turo", "turo", "turo", "ota"}

// lengths of rentals in days, likewise.
var lengths = []int{1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 7, 7, 8, 10, 14, 21}

// drive makes up what becomes of a car.
func (p *Plan) drive(rng *rand.Rand, car Car) {
	end := p.Anchor.AddDate(0, 0, 60)
	odometer := float64(car.MileageMi)
	serviced, toWorkshop := odometer, car.InWorkshop
	at := p.Begin.AddDate(0, 0, rng.IntN(5))
	for n := 1; at.Before(end); n++ {
		idle := rng.IntN(5) * 100 / season[at.Month()-1]
		if at.After(p.Anchor) {
			idle += rng.IntN(9) // the future is not sold out yet
		}
		pickup := at.AddDate(0, 0, idle)
		pickup = time.Date(pickup.Year(), pickup.Month(), pickup.Day(), 8+rng.IntN(10), 15*rng.IntN(4), 0, 0, p.Zone)
		if pickup.Before(at) {
			pickup = pickup.AddDate(0, 0, 1)
		}
		days := lengths[rng.IntN(len(lengths))]
		back := pickup.AddDate(0, 0, days).Add(time.Duration(rng.IntN(5)-2) * 30 * time.Minute)
		if !pickup.Before(end) {
			break
		}
		r := p.rental(rng, car, n, pickup, back, days)
		if toWorkshop && r.Over().After(p.Anchor.AddDate(0, 0, -1)) {
			toWorkshop = false
			at = p.service(rng, car, p.Anchor.AddDate(0, 0, -2), int(odometer))
			continue
		}
		r.FromMi = int(odometer)
		for _, leg := range r.Legs {
			odometer += car.Ways[leg.Way].Miles
		}
		r.ToMi = int(odometer)
		p.Rentals[car.ID] = append(p.Rentals[car.ID], r)
		at = r.Over().Add(4 * time.Hour)
		if odometer-serviced >= 4000 && at.Before(p.Anchor.AddDate(0, 0, -5)) {
			at = p.service(rng, car, at, int(odometer))
			serviced = odometer
		}
	}
	p.costs(rng, car)
}

// rental makes up one booking.
func (p *Plan) rental(rng *rand.Rand, car Car, n int, pickup, back time.Time, days int) Rental {
	lead := time.Duration(rng.IntN(rng.IntN(45)+1)*24+rng.IntN(20)+2) * time.Hour
	r := Rental{
		Number: n, Car: car.ID, Class: car.Class, Channel: channels[rng.IntN(len(channels))], PickupAt: pickup,
		ReturnAt: back, Outcome: "returned",
		BookedAt: pickup.Add(-lead), ActualPickup: pickup.Add(time.Duration(rng.IntN(60)) * time.Minute),
		ActualReturn: back.Add(time.Duration(rng.IntN(90)-60) * time.Minute),
		PickupPct:    80 + rng.IntN(21), PaysLater: rng.IntN(25) == 0,
	}
	// One in three comes back.
	r.Customer = rng.IntN(len(p.Customers))
	if rng.IntN(3) == 0 {
		r.Customer = rng.IntN(1 + len(p.Customers)/8)
	}
	r.ReturnPct = r.PickupPct
	if rng.IntN(8) == 0 {
		r.ReturnPct = max(5, r.PickupPct-10-rng.IntN(50))
	}
	if rng.IntN(5) == 0 {
		r.Extra = []string{"child_seat", "gps", "cover"}[rng.IntN(3)]
	}
	if rng.IntN(40) == 0 {
		r.ActualReturn = back.Add(time.Duration(2+rng.IntN(30)) * time.Hour)
	}
	if rng.IntN(45) == 0 {
		r.Damage = []string{"scratch on the rear bumper", "stone chip in the windscreen", "dent in the left door",
			"stain on the back seat"}[rng.IntN(4)]
		r.DamageCents = int64(8000 + rng.IntN(60)*1000)
		r.LateDeposit = rng.IntN(2) == 0
	}
	if rng.IntN(9) == 0 {
		r.TollCents = int64(150 + rng.IntN(1500))
	}
	if r.Channel == "turo" {
		r.ExternalReference = fmt.Sprintf("TR-%s-%04d", car.ID[len(car.ID)-4:], n)
	}
	switch {
	case rng.IntN(14) == 0:
		r.Outcome = "cancelled"
		r.CancelledAt = r.BookedAt.Add(time.Duration(rng.Int64N(int64(lead-time.Hour)) + int64(time.Minute)))
	case rng.IntN(80) == 0:
		r.Outcome = "no_show"
	}
	if r.Outcome != "returned" {
		r.Damage, r.TollCents, r.ActualReturn = "", 0, time.Time{}
		return r
	}
	r.Legs = legs(rng, car, r.ActualPickup.In(p.Zone), r.ActualReturn)
	return r
}

// service makes up a visit to the workshop and returns when the car is free again.
func (p *Plan) service(rng *rand.Rand, car Car, at time.Time, odometer int) time.Time {
	s := Service{Car: car.ID, Number: len(p.Services[car.ID]) + 1, Type: "preventive",
		Title: "Oil, filters, brakes checked", MileageMi: odometer,
		LaborCents: int64(9000 + rng.IntN(80)*100), PartsC: int64(4000 + rng.IntN(90)*100)}
	if car.Electric {
		s.Title = "Brakes, coolant, tyres rotated"
	}
	if rng.IntN(4) == 0 {
		s.Type, s.Title, s.PartsC = "tire", "Four tyres", int64(42000+rng.IntN(200)*100)
	}
	if rng.IntN(9) == 0 {
		s.Type, s.Title, s.PartsC = "corrective", "Repair of the suspension", int64(60000+rng.IntN(900)*100)
	}
	s.From = time.Date(at.Year(), at.Month(), at.Day()+1, 8, 0, 0, 0, p.Zone)
	s.Until = s.From.AddDate(0, 0, 1+rng.IntN(2)).Add(8 * time.Hour)
	if car.InWorkshop && s.Until.After(p.Anchor.AddDate(0, 0, -2)) {
		s.Until = s.From.AddDate(0, 0, 3).Add(8 * time.Hour)
	}
	p.Services[car.ID] = append(p.Services[car.ID], s)
	return s.Until.Add(time.Hour)
}

// costs makes up what a car costs besides what its terms ask for by schedule.
func (p *Plan) costs(rng *rand.Rand, car Car) {
	add := func(category, vendor string, on, from, to time.Time, cents int64) {
		all := p.Costs[car.ID]
		p.Costs[car.ID] = append(all, Cost{Car: car.ID, Number: len(all) + 1, Category: category, On: on, From: from, To: to,
			Cents: cents, Vendor: vendor})
	}
	for at := p.Whole(); at.Before(p.Anchor); at = at.AddDate(0, 1, 0) {
		kind := "fuel"
		if car.Electric {
			kind = "charging"
		}
		add(kind, "Corner Station", at.AddDate(0, 0, rng.IntN(20)), time.Time{}, time.Time{}, int64(1500+rng.IntN(5000)))
		if rng.IntN(3) == 0 {
			add("cleaning", "Sparkle Wash", at.AddDate(0, 0, rng.IntN(20)), time.Time{}, time.Time{}, int64(1800+rng.IntN(4000)))
		}
	}
	for at := p.Begin.AddDate(0, 3, rng.IntN(60)); at.Before(p.Anchor); at = at.AddDate(1, 0, 0) {
		add("registration", "Department of Motor Vehicles", at, at, at.AddDate(1, 0, -1), 7525)
	}
}

// overhead makes up the costs of the whole business, besides those that recur.
func (p *Plan) overhead(rng *rand.Rand) {
	for at := p.Whole(); at.Before(p.Anchor); at = at.AddDate(0, 1, 0) {
		p.Costs[""] = append(p.Costs[""], Cost{Category: "marketing", Vendor: "Search and Social",
			Cents: int64(30000 + rng.IntN(40000)), On: at, Number: len(p.Costs[""]) + 1})
	}
}
