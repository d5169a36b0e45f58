package recording

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/motorpool/fleet"
)

// gpxRows reads the track points of GPX 1.0 and 1.1 (https://www.topografix.com/gpx.asp), whatever the prefixes of its
// namespaces; way points and routes are not recordings and are passed over. A track's name is the identifier of its
// points, and the file's name that of a track without one. Speeds are m/s; courses are degrees.
type gpxRows struct {
	decoder *xml.Decoder
	budget  *budget
	file    string // the vehicle of tracks that have no name
	track   string
	root    bool
	depth   int
}

// maxDepth bounds the elements within elements; GPX with extensions has about eight.
const maxDepth = 64

func newGPX(b *budget, file string) *gpxRows {
	decoder := xml.NewDecoder(b)
	decoder.Strict = false // loggers write stray ampersands and unknown entities
	decoder.CharsetReader = latin1
	return &gpxRows{decoder: decoder, budget: b, file: file}
}

func (g *gpxRows) line() int {
	line, _ := g.decoder.InputPos()
	return line
}

func (g *gpxRows) next(r *fleet.Report) error {
	for {
		token, err := g.token()
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "gpx":
			g.root = true
		case "trk":
			g.track = g.file
		case "name":
			name, err := g.text()
			if err != nil {
				return err
			}
			if name != "" {
				g.track = name
			}
		case "wpt", "rte", "metadata", "author":
			if err := g.skip(); err != nil {
				return err
			}
		case "trkpt":
			r.Positioned = true
			r.UniqueID = g.track
			for _, attribute := range start.Attr {
				switch attribute.Name.Local {
				case "lat":
					r.Lat = number([]byte(attribute.Value))
				case "lon":
					r.Lng = number([]byte(attribute.Value))
				}
			}
			return g.point(r)
		}
	}
}

// point reads the elements of a track point, at any depth, up to its end.
func (g *gpxRows) point(r *fleet.Report) error {
	for depth := 0; ; {
		token, err := g.token()
		if err != nil {
			return cutShort(err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			if depth--; depth < 0 {
				return nil
			}
		case xml.StartElement:
			set, known := gpxElements[strings.ToLower(token.Name.Local)]
			if !known {
				depth++
				continue
			}
			text, err := g.text()
			if err != nil {
				return err
			}
			set([]byte(text), r)
		}
	}
}

// gpxElements are the elements of a point and of the extensions in use: Garmin's TrackPointExtension 1 and 2 (speed,
// course, atemp, hr, cad) and those that loggers spell alike.
var gpxElements = map[string]setter{
	"time":   func(text []byte, r *fleet.Report) { r.FixTime = parseTime(text) },
	"ele":    quantity(func(r *fleet.Report, v float64) { r.Altitude = v }),
	"speed":  quantity(func(r *fleet.Report, v float64) { r.Speed = v }),
	"course": quantity(func(r *fleet.Report, v float64) { r.Course = v }),
	"accuracy": quantity(func(r *fleet.Report, v float64) {
		r.Accuracy = v
	}),
	"sat": quantity(func(r *fleet.Report, v float64) {
		if v >= 0 && v <= 255 {
			r.Satellites = int(v)
		}
	}),
	"fix":   func(text []byte, r *fleet.Report) { r.Invalid = string(text) == "none" },
	"hdop":  gpxSignal("hdop"),
	"vdop":  gpxSignal("vdop"),
	"pdop":  gpxSignal("pdop"),
	"hr":    gpxSignal("heart_rate_bpm"),
	"cad":   gpxSignal("cadence_rpm"),
	"atemp": gpxSignal("ambient_temp_c"),
}

func gpxSignal(name string) setter {
	signal := fleet.MustSignal(name)
	return quantity(func(r *fleet.Report, v float64) { addSignal(r, signal, v) })
}

// text returns the text of the element just opened and consumes its end.
func (g *gpxRows) text() (string, error) {
	var text strings.Builder
	for depth := 0; ; {
		token, err := g.token()
		if err != nil {
			return "", cutShort(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			if text.Len()+len(token) > maxRow {
				return "", errRowTooLong
			}
			text.Write(token)
		case xml.StartElement:
			depth++
		case xml.EndElement:
			if depth--; depth < 0 {
				return strings.TrimSpace(text.String()), nil
			}
		}
	}
}

func (g *gpxRows) skip() error {
	for depth := 0; ; {
		token, err := g.token()
		if err != nil {
			return cutShort(err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			if depth--; depth < 0 {
				return nil
			}
		}
	}
}

// token returns the next token. The end of the file is only an end after the root was seen.
func (g *gpxRows) token() (xml.Token, error) {
	g.budget.renew()
	token, err := g.decoder.Token()
	if err == io.EOF && !g.root {
		return nil, fmt.Errorf("%w: XML, but not GPX", ErrNotRecording)
	}
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case xml.StartElement:
		if !g.root && token.Name.Local != "gpx" {
			return nil, fmt.Errorf("%w: XML, but not GPX: its root is <%s>", ErrNotRecording, shorten(token.Name.Local, 40))
		}
		if g.depth++; g.depth > maxDepth {
			return nil, fmt.Errorf("elements nested more than %d deep", maxDepth)
		}
	case xml.EndElement:
		g.depth--
	}
	return token, nil
}

// latin1 reads the one other encoding that old GPX files come in; any other declared one is read as it stands.
func latin1(charset string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "windows-1252":
		return &latin1Reader{r: input}, nil
	}
	return input, nil
}

type latin1Reader struct {
	r    io.Reader
	half byte // second byte of a rune that did not fit
}

func (l *latin1Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if l.half != 0 {
		p[0], l.half = l.half, 0
		return 1, nil
	}
	var raw [1]byte
	n, err := l.r.Read(raw[:])
	if n == 0 {
		return 0, err
	}
	if raw[0] < 0x80 {
		p[0] = raw[0]
		return 1, err
	}
	encoded := []byte(string(rune(raw[0])))
	p[0] = encoded[0]
	if len(p) > 1 {
		p[1] = encoded[1]
		return 2, err
	}
	l.half = encoded[1]
	return 1, err
}
