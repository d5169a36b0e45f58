package area_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	many := strings.Repeat("[1,1],", area.MaxVertices) + "[2,2]"
	for _, c := range []struct{ text, pointer, code, says string }{
		{``, "", "invalid_format", "JSON object"},
		{`null`, "/type", "unknown_type", "must be"},
		{`{"type":"Point","coordinates":[1,2]}`, "/type", "unknown_type", "Polygon, MultiPolygon, Circle or Corridor"},
		{`{"type":"Polygon"}`, "/coordinates", "invalid_format", "list of rings"},
		{`{"type":"Polygon","coordinates":[]}`, "/coordinates", "too_few_points", "ring around"},
		{`{"type":"Polygon","coordinates":[[]]}`, "/coordinates/0", "too_few_points", "three different"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,1],[0,0]]]}`, "/coordinates/0", "too_few_points",
			"three different"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],"x",[0,1]]]}`, "/coordinates/0/2", "invalid_format",
			"[longitude, latitude]"},
		{`{"type":"Polygon","coordinates":[[[13,52],[13.1,null],[13.1,53]]]}`, "/coordinates/0/1",
			"invalid_format", "degrees"},
		{`{"type":"Circle","center":[null,52],"radius_m":5}`, "/center", "invalid_format", "position"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,1e999],[0,1]]]}`, "/coordinates/0/1", "invalid_format", "degrees"},
		{`{"type":"Polygon","coordinates":[[[50,8],[51,8],[51,99]]]}`, "/coordinates/0/2/1", "out_of_range", "latitude 99"},
		{`{"type":"Polygon","coordinates":[[[181,8],[51,8],[51,9]]]}`, "/coordinates/0/0/0", "out_of_range", "longitude 181"},
		{`{"type":"Polygon","coordinates":[[[0,0],[2,2],[2,0],[0,2],[0,0]]]}`, "/coordinates/0", "self_crossing",
			"position 0 to 1 meets the one from 2 to 3"},
		{`{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[2,0],[0,4]]]}`, "/coordinates/0", "self_crossing", "0 to 1"},
		{`{"type":"Polygon","coordinates":[[[0,0],[4,0],[2,0],[2,4]]]}`, "/coordinates/0", "self_crossing", "crosses itself"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],[2,0]]]}`, "/coordinates/0", "self_crossing", "crosses itself"},
		{`{"type":"Polygon","coordinates":[[[-180,60],[-60,60],[60,60],[180,60]]]}`, "/coordinates/0", "contains_pole",
			"around a pole"},
		{`{"type":"Polygon","coordinates":[[[0,60],[120,60],[-120,60],[0,60]]]}`, "/coordinates/0", "contains_pole",
			"circle instead"},
		{`{"type":"Polygon","coordinates":[[[0,60],[10,60],[10,90],[0,90]]]}`, "/coordinates/0/2", "contains_pole",
			"touch a pole"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]],[[2,2],[3,2],[3,3]]]}`, "/coordinates/1",
			"hole_outside", "outside"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]],[[0.5,0.2],[1.5,0.2],[1.5,0.8]]]}`, "/coordinates/1",
			"hole_outside", "crosses"},
		{`{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9]],[[1,1],[8,1],[8,8],[1,8]],[[2,2],[3,2],[3,3]]]}`,
			"/coordinates/2", "hole_outside", "one in the other"},
		{`{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9]],[[1,1],[5,1],[5,5],[1,5]],[[2,2],[8,2],[8,3]]]}`,
			"/coordinates/2", "hole_outside", "crosses hole 1"},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]],[[0,0],[1,0],[1,1],[0,1]]]}`, "/coordinates/1",
			"hole_outside", "outside"},
		{`{"type":"Polygon","coordinates":[[[-60,-30],[0,-30],[60,-30],[60,30],[0,30],[-60,30]]]}`, "/coordinates",
			"area_too_large", "km²"},
		{`{"type":"Polygon","coordinates":[[` + many + `]]}`, "/coordinates", "too_many_vertices", "10001 positions"},
		{`{"type":"MultiPolygon","coordinates":[]}`, "/coordinates", "too_few_points", "at least one"},
		{`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1]]],[[[0,0],[2,2],[2,0],[0,2]]]]}`, "/coordinates/1/0",
			"self_crossing", "crosses"},
		{`{"type":"Circle","center":[0,0]}`, "/radius_m", "invalid_format", "number"},
		{`{"type":"Circle","center":[0,0],"radius_m":null}`, "/radius_m", "invalid_format", "number"},
		{`{"type":"Circle","center":[0,0],"radius_m":0}`, "/radius_m", "out_of_range", "500000"},
		{`{"type":"Circle","center":[0,0],"radius_m":500001}`, "/radius_m", "out_of_range", "500000"},
		{`{"type":"Circle","center":[0],"radius_m":5}`, "/center", "invalid_format", "position"},
		{`{"type":"Corridor","coordinates":[[0,0]],"width_m":5}`, "/coordinates", "too_few_points", "two different"},
		{`{"type":"Corridor","coordinates":[[180,0],[-180,0]],"width_m":5}`, "/coordinates", "too_few_points",
			"two different"},
		{`{"type":"Corridor","coordinates":[[0,0],[1,0]],"width_m":0.5}`, "/width_m", "out_of_range", "from 1 to 10000"},
		{`{"type":"Corridor","coordinates":[[0,0],[180,0]],"width_m":5}`, "/coordinates/1", "out_of_range", "km"},
	} {
		_, err := area.Parse([]byte(c.text))
		var e *fleet.Error
		if !errors.As(err, &e) || e.Code != fleet.CodeValidation || len(e.Fields) == 0 {
			t.Errorf("%.80s: %v", c.text, err)
			continue
		}
		if f := e.Fields[0]; f.Pointer != c.pointer || f.Code != c.code || !strings.Contains(f.Detail, c.says) {
			t.Errorf("%.80s: %+v", c.text, f)
		}
	}
}

func TestParseTellsOfSeveralProblemsAtOnce(t *testing.T) {
	_, err := area.Parse([]byte(`{"type":"Polygon","coordinates":[[[0,99],[1,0],[999,1]],[[0,0]]]}`))
	var e *fleet.Error
	if !errors.As(err, &e) || len(e.Fields) != 3 {
		t.Errorf("%+v", e)
	}
	_, err = area.Parse([]byte(`{"type":"Corridor","coordinates":[` + strings.Repeat("[0,99],", 500) +
		`[0,0]],"width_m":0}`))
	if !errors.As(err, &e) || len(e.Fields) != 20 {
		t.Errorf("%d fields", len(e.Fields))
	}
}

func TestParseTakesWhatIsUsual(t *testing.T) {
	for _, text := range []string{
		`{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0]]]}`,                          // clockwise, not closed
		`{"type":"Polygon","coordinates":[[[0,0,5],[1,0,5],[1,1,5],[0,0,5]]],"bbox":[0,0,1,1]}`, // altitudes
		`{"type":"Polygon","coordinates":[[[0,0],[0,0],[1,0],[1,1],[1,1],[0,0],[0,0]]]}`,        // repeated positions
		`{"type":"Polygon","coordinates":[[[0,0],[2,0],[1,1],[2,2],[0,2],[1,1]]]}`,              // touches itself in a corner
		`{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4]],[[0,0],[2,1],[1,2]]]}`,      // hole touches the shell
		`{"type":"Polygon","coordinates":[[[179,0],[-179,0],[-179,2],[179,2]],[[-179.5,0.5],[-179.2,0.5],[-179.2,1]]]}`,
		`{"type":"Circle","center":[0,90],"radius_m":500000}`,
		`{"type":"Corridor","coordinates":[[179.99,0],[179.99,0],[-179.99,0]],"width_m":1}`,
	} {
		if _, err := area.Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestManyVertices: a big ring costs little to ask, a comb of tall teeth too.
func TestManyVertices(t *testing.T) {
	var round, comb []string
	for i := range 9999 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 9999)
		round = append(round, fmt.Sprintf("[%v,%v]", cos, sin))
		comb = append(comb, fmt.Sprintf("[%v,%v]", float64(i)/5000, 1+float64(i%2)))
	}
	comb[0], comb[9998] = "[0,0]", "[1.9996,0]"
	for name, points := range map[string][]string{"round": round, "comb": comb} {
		s := parse(t, `{"type":"Polygon","coordinates":[[`+strings.Join(points, ",")+`]]}`)
		if s.Vertices() != 9999 {
			t.Errorf("%s: %d vertices", name, s.Vertices())
		}
		if !s.Contains(0.5, 0.5) || s.Contains(2.5, 0.5) {
			t.Errorf("%s: not where it is", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{square, pacific, split, yard, arctic, dateline, road, `{"type":"Circle"}`,
		`{"type":"MultiPolygon","coordinates":[[[[]]]]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := area.Parse(text)
		if err != nil {
			if fleet.CodeOf(err) != fleet.CodeValidation {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		b := s.Bounds()
		if !(b.South <= b.North && b.South >= -90 && b.North <= 90 && b.West >= -180 && b.West <= 180 && b.East >= -180 &&
			b.East <= 180) {
			t.Fatalf("bounds %+v", b)
		}
		if size := s.Area(); !(size > 0 && size <= area.MaxArea) {
			t.Fatalf("area %v", size)
		}
		cover, err := area.Compact(s, 7, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(cover.Interior)+len(cover.Boundary) == 0 {
			t.Fatal("no cell")
		}
		middle := (b.South + b.North) / 2
		if s.Contains(middle, b.West) && s.Outside(middle, b.West, 0) {
			t.Fatal("in and outside")
		}
		s.Crosses(b.South, b.West, b.North, b.East)
	})
}
