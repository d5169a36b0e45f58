package console

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/motorpool/fleet/api/rest"
)

// basemapPath is where the pages learn whether the operator has a basemap, and tilesPath where they read parts of it.
const (
	basemapPath = assets + "basemap.json"
	tilesPath   = assets + "basemap.pmtiles"
)

// Basemap is an operator's own file of map tiles (PMTiles version 3), which lies below what the map of the console
// shows. The file stays open, so that one which takes its place is served after the next start. A nil Basemap is none.
type Basemap struct {
	file *os.File
}

// OpenBasemap opens a file of map tiles and says what is wrong with it if browsers could not read it; without a name
// there is none. Whether each tile is good shows only when it is drawn.
func OpenBasemap(name string) (*Basemap, error) {
	if name == "" {
		return nil, nil
	}
	info, err := os.Stat(name) // before it is opened, which would wait for the other end of a pipe
	if err != nil {
		return nil, fmt.Errorf("name a PMTiles file, or leave the setting out: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file: name a PMTiles file, or leave the setting out", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("let the user that this program runs as read it: %w", err)
	}
	if err := checkTiles(file, info.Size()); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s cannot be used: %w", name, err)
	}
	return &Basemap{file: file}, nil
}

// Close closes the file, when nothing is served any more.
func (b *Basemap) Close() {
	if b != nil {
		b.file.Close()
	}
}

// tilesHeader is how a PMTiles file of version 3 begins. All numbers are little-endian.
type tilesHeader struct {
	Magic                         [7]byte
	Version                       uint8
	Root, Metadata, Leaves, Tiles tilesPart
	_                             [25]byte // counts of tiles, and whether they lie in their order
	Compression                   uint8    // of directories and metadata
	TileCompression, TileType     uint8
	MinZoom, MaxZoom              uint8
	_                             [25]byte // the bounds and the centre
}

// tilesPart is where a part of the file lies, in bytes.
type tilesPart struct{ Offset, Length uint64 }

// The numbers that the format has for compressions and types of tiles, of which browsers read these.
const (
	uncompressed, gzipped = 1, 2
	vectorTiles, avif     = 1, 5 // the first and the last of MVT, PNG, JPEG, WebP and AVIF
)

const (
	rootEnds   = 16384    // by the format the header and the root directory lie before this byte
	mostOfPart = 64 << 20 // bytes of a directory or of metadata that are unpacked
)

var (
	errNoTiles = errors.New("it is not a PMTiles file of version 3: " +
		"make one with `pmtiles extract`, or of MBTiles with `pmtiles convert`")
	errBrokenTiles = errors.New("it is broken: copy or make it again, and look at it with `pmtiles verify`")
)

// checkTiles looks at what a browser reads of the file first: its header, its root directory and its metadata.
func checkTiles(file io.ReaderAt, size int64) error {
	var h tilesHeader
	if err := binary.Read(io.NewSectionReader(file, 0, size), binary.LittleEndian, &h); err != nil ||
		string(h.Magic[:]) != "PMTiles" || h.Version != 3 {
		return errNoTiles
	}
	for _, part := range []tilesPart{h.Root, h.Metadata, h.Leaves, h.Tiles} {
		if part.Offset > uint64(size) || part.Length > uint64(size)-part.Offset {
			return fmt.Errorf("it has %d bytes and says that it has more: it was not copied to its end, copy it again", size)
		}
	}
	for _, how := range []uint8{h.Compression, h.TileCompression} {
		if how != uncompressed && how != gzipped {
			return errors.New("it is compressed in a way that browsers cannot read: make it with gzip, not brotli or zstd")
		}
	}
	if h.TileType < vectorTiles || h.TileType > avif {
		return errors.New("its tiles are of a type that the map cannot draw: " +
			"make it of vector tiles (MVT) or of PNG, JPEG, WebP or AVIF")
	}
	if h.MinZoom > h.MaxZoom || h.Root.Offset+h.Root.Length > rootEnds {
		return errBrokenTiles
	}
	root, err := unpack(file, h.Root, h.Compression)
	if err != nil {
		return errBrokenTiles
	}
	entries, err := binary.ReadUvarint(root)
	if err != nil || entries == 0 {
		return errBrokenTiles
	}
	for range entries { // each has an id, a run, a length and a place
		for range 4 {
			if _, err := binary.ReadUvarint(root); err != nil {
				return errBrokenTiles
			}
		}
	}
	metadata, err := unpack(file, h.Metadata, h.Compression)
	if err != nil || json.NewDecoder(metadata).Decode(&struct{}{}) != nil {
		return errBrokenTiles
	}
	return nil
}

// unpack reads a part of the file as it was before it was compressed.
func unpack(file io.ReaderAt, part tilesPart, compression uint8) (*bufio.Reader, error) {
	var r io.Reader = io.NewSectionReader(file, int64(part.Offset), int64(part.Length))
	if compression == gzipped {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = z
	}
	return bufio.NewReader(io.LimitReader(r, mostOfPart)), nil
}

// routes registers where pages learn of the basemap, which they do where there is none too, and where they read it.
func (b *Basemap) routes(s *rest.Server) {
	s.Page(http.MethodGet, basemapPath, b.tell)
	if b != nil {
		s.Page(http.MethodGet, tilesPath, b.serve)
	}
}

// tell says where the tiles are. The address changes with the file, so that no browser mixes two of them.
func (b *Basemap) tell(w http.ResponseWriter, _ *http.Request) error {
	var told struct {
		Tiles *string `json:"tiles"` // null if there are none
	}
	if b != nil {
		info, err := b.file.Stat()
		if err != nil {
			return err
		}
		at := tilesPath + "?v=" + strings.Trim(tagOf(info), `"`)
		told.Tiles = &at
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	return json.NewEncoder(w).Encode(told)
}

// serve serves parts of the file, as a browser asks for them, and nothing else: the path names no file.
func (b *Basemap) serve(w http.ResponseWriter, r *http.Request) error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // readers ask for one part at a time: many would be work for nothing
	}
	w.Header().Set("Content-Type", "application/vnd.pmtiles")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	if v := r.URL.Query().Get("v"); v != "" && v != strings.Trim(tagOf(info), `"`) {
		w.Header().Set("Cache-Control", "no-store") // the address is that of another file
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("ETag", tagOf(info))
	http.ServeContent(w, r, "", info.ModTime(), io.NewSectionReader(b.file, 0, info.Size()))
	return nil
}

// tagOf changes when something is written to the file.
func tagOf(info os.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, info.Size(), info.ModTime().UnixNano())
}
