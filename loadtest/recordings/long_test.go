//go:build long

package recordings

// tracksCompared bounds the vehicles of one recording whose track is read through the interface; counts are of all. The
// interface limits how many requests a key may make.
const tracksCompared = 150

// recordings are the patterns of their files; the first that finds any counts.
var recordings = []string{"../../../shared/data/*/*.csv.gz", "../../deploy/demo/recordings/*.csv.gz"}
