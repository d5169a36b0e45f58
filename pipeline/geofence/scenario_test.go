package geofence_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/pipeline/scenario"
	"github.com/motorpool/fleet/query/area"
)

// TestScenarios runs the stories in testdata. A line is one of
//
//	fence ID revision=1 from=09:00 to=10:00 center=lng,lat radius=m  a version of a circle; also shape=NAME of shapes below,
//	      dwell=5m margin=m confirm=n limit=m/s hours=09:00-17:00 tag=T vehicle=N
//	tags A B                                  what the vehicle is from here on
//	TIME LAT LNG accuracy=m                   a fix, of 20 November 2026 (a Friday)
//	TIME wait                                 nothing has come until then
//
// and after the bar stand the moves, the visits as they have become, and the fences that it is in.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(s *scenario.Story) string {
		p := &playing{Story: s}
		return s.Beside(40, scenario.Commands{"fence": p.fence, "end": p.end, "tags": p.tags, "": p.happen}, func(step func()) []string {
			p.said = ""
			step()
			return []string{p.said}
		})
	})
}

// shapes that a scenario may name; degrees are about Null Island, where one is 111 km either way, unless said otherwise.
var shapes = map[string]string{
	"ring":     `{"type":"Polygon","coordinates":[[[-0.02,-0.02],[0.02,-0.02],[0.02,0.02],[-0.02,0.02],[-0.02,-0.02]],[[-0.01,-0.01],[0.01,-0.01],[0.01,0.01],[-0.01,0.01],[-0.01,-0.01]]]}`,
	"islands":  `{"type":"MultiPolygon","coordinates":[[[[0,0],[0.01,0],[0.01,0.01],[0,0.01],[0,0]]],[[[0.03,0],[0.04,0],[0.04,0.01],[0.03,0.01],[0.03,0]]]]}`,
	"dateline": `{"type":"MultiPolygon","coordinates":[[[[179.98,-0.01],[180,-0.01],[180,0.01],[179.98,0.01],[179.98,-0.01]]],[[[-180,-0.01],[-179.98,-0.01],[-179.98,0.01],[-180,0.01],[-180,-0.01]]]]}`,
	"road":     `{"type":"Corridor","coordinates":[[0,0],[0.02,0],[0.02,0.02]],"width_m":60}`,
	"lane":     `{"type":"Corridor","coordinates":[[-97,30.05],[-97,30.06]],"width_m":60}`,
	"elbow":    `{"type":"Corridor","coordinates":[[9,50],[9.01,50],[9.01,50.01]],"width_m":60}`,
	"pole":     `{"type":"Circle","center":[0,90],"radius_m":50000}`,
}

// playing is a vehicle and the fences while a story is played.
type playing struct {
	*scenario.Story
	versions []fleet.FenceVersion
	index    *geofence.Index
	state    geofence.State
	traits   fleet.Traits
	said     string
}

var vehicle = fleet.VehicleKey{Account: 1, Vehicle: 7}

func (p *playing) fence(words []string) {
	p.versions = append(p.versions, readFence(p.Story, words[1:]))
	p.build()
}

// end ends the newest version of a fence.
func (p *playing) end(words []string) {
	id := fleet.FenceID(p.Number(words[1]))
	for i := range p.versions {
		if p.versions[i].ID == id && p.versions[i].To == 0 {
			p.versions[i].To = p.Moment(words[2])
		}
	}
	p.build()
}

func (p *playing) build() {
	var err error
	if p.index, err = geofence.NewIndexFrom(p.index, p.versions); err != nil {
		p.Fail("%v", err)
	}
}

func (p *playing) tags(words []string) { p.traits.Tags = words[1:] }

func (p *playing) happen(words []string) {
	var out fleet.Entities
	var moves []fleet.FenceMove
	at := p.Moment(words[0])
	if words[1] == "wait" {
		p.index.Advance(&p.state, vehicle, &p.traits, at, &out, &moves)
	} else {
		fix := fleet.Position{FixTime: at, Lat: p.Number(words[1]), Lng: p.Number(words[2]), Accuracy: math.NaN()}
		for _, w := range words[3:] {
			fix.Accuracy = p.Number(strings.TrimPrefix(w, "accuracy="))
		}
		fix.Cell = area.CellOf(fix.Lat, fix.Lng)
		p.index.Fix(&p.state, vehicle, &p.traits, &fix, &out, &moves)
	}
	var told []string
	for _, m := range moves {
		told = append(told, fmt.Sprintf("%s %d.%d at %s", m.What, m.Fence, m.Revision, scenario.Clock(m.At)))
	}
	for _, e := range out {
		told = append(told, describe(e.(*fleet.Visit)))
	}
	result := strings.Join(told, "; ")
	if in := p.index.Inside(&p.state, nil); len(in) > 0 {
		list := make([]string, len(in))
		for k, id := range in {
			list[k] = strconv.FormatUint(uint64(id), 10)
		}
		result += " [in " + strings.Join(list, " ")
		if limit, fence := p.index.SpeedLimit(&p.state); limit > 0 {
			result += fmt.Sprintf(", limit %g of %d", limit, fence)
		}
		result += "]"
	}
	p.said = strings.TrimSpace(result)
}

func describe(v *fleet.Visit) string {
	text := fmt.Sprintf("visit of %d.%d from %s", v.Fence, v.Revision, scenario.Clock(v.Start))
	if v.Open {
		text += " goes on"
	} else {
		text += " to " + scenario.Clock(v.End) + " " + v.ExitReason
	}
	if v.Initial {
		text += " initial"
	}
	if v.Crossed {
		text += " crossed"
	}
	if v.DwelledAt != 0 {
		text += " dwelled " + scenario.Clock(v.DwelledAt)
	}
	return text + fmt.Sprintf(" fixes %d", v.Fixes)
}

func readFence(s *scenario.Story, words []string) fleet.FenceVersion {
	v := fleet.FenceVersion{ID: fleet.FenceID(s.Number(words[0])), Revision: 1, From: 1}
	var center, radius string
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "revision":
			v.Revision = uint64(s.Number(value))
		case "from":
			v.From = s.Moment(value)
		case "to":
			v.To = s.Moment(value)
		case "center":
			center = value
		case "radius":
			radius = value
		case "shape":
			v.Geometry = []byte(shapes[value])
		case "dwell":
			v.Dwell = s.Span(value)
		case "margin":
			v.Margin = s.Number(value)
		case "confirm":
			v.Confirm = int(s.Number(value))
		case "limit":
			v.SpeedLimit = s.Number(value)
		case "tag":
			v.Scope.Tags = append(v.Scope.Tags, value)
		case "vehicle":
			v.Scope.Vehicles = append(v.Scope.Vehicles, fleet.VehicleID(s.Number(value)))
		case "hours":
			var h [4]int
			if _, err := fmt.Sscanf(value, "%d:%d-%d:%d", &h[0], &h[1], &h[2], &h[3]); err != nil {
				s.Fail("%v", err)
			}
			v.Schedule = &fleet.Schedule{Zone: time.UTC, Windows: []fleet.Window{{Days: 0x7f, From: h[0]*60 + h[1], To: h[2]*60 + h[3]}}}
		default:
			s.Fail("unknown word %q", w)
		}
	}
	if center != "" {
		v.Geometry = fmt.Appendf(nil, `{"type":"Circle","center":[%s],"radius_m":%s}`, center, radius)
	}
	return v
}
