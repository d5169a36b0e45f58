package seed

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Person is a made-up customer. Addresses are at example.com, telephone numbers are of those kept free for fiction.
type Person struct {
	First, Last, Company string
	Email, Phone         string
	Born                 time.Time
	LicenceNumber        string
	LicenceExpires       time.Time
	City                 string
	DoNotRent            bool
}

var (
	firsts = []string{"Ada", "Alan", "Amelia", "Benoit", "Carla", "Chidi", "Dana", "Elif", "Emmy", "Farid", "Grace",
		"Hana", "Hedy", "Ibrahim", "Ines", "Jorge", "Katherine", "Kofi", "Leila", "Linus", "Mae", "Marta", "Nadia", "Noor",
		"Olga", "Pablo", "Priya", "Rosa", "Samir", "Sofia", "Tomás", "Uma", "Vera", "Wei", "Yuki", "Zoë"}
	lasts = []string{"Abbott", "Banerjee", "Castillo", "Dubois", "Eriksen", "Fontaine", "García", "Hoffmann", "Ito",
		"Jansen", "Kowalski", "Lindqvist", "Mbeki", "Nguyen", "O'Brien", "Petrov", "Quinn", "Rossi", "Silva", "Tanaka",
		"Ueda", "Vargas", "Weber", "Xu", "Yilmaz", "Zhang"}
	companies = []string{"Elkhorn Weddings", "Benson Films", "Old Market Events", "Missouri River Tours",
		"Dundee Catering"}
	cities = []string{"Omaha", "Bellevue", "Papillion", "Lincoln", "Council Bluffs", "Ames", "Des Moines",
		"Kansas City", "Denver", "Chicago"}
)

// people makes up n customers.
func people(rng *rand.Rand, n int) []Person {
	all := make([]Person, n)
	for i := range all {
		p := &all[i]
		p.First, p.Last = firsts[rng.IntN(len(firsts))], lasts[rng.IntN(len(lasts))]
		p.Email = fmt.Sprintf("customer%04d@example.com", i+1)
		p.Phone = fmt.Sprintf("+1%d55501%02d", 200+rng.IntN(700), i%100)
		p.Born = time.Date(1950+rng.IntN(54), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 0, 0, 0, 0, time.UTC)
		p.LicenceNumber = fmt.Sprintf("%08d", 10000000+rng.IntN(89999999))
		p.LicenceExpires = time.Date(2029+rng.IntN(6), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 0, 0, 0, 0, time.UTC)
		p.City = cities[rng.IntN(len(cities))]
		if i < len(companies) {
			p.Company = companies[i]
		}
		p.DoNotRent = i > len(all)-3
	}
	return all
}
