package embedded

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LogFile is a file of the broker's log, or the part of one that a copy needs.
type LogFile struct {
	Path string // below the log's folder, with slashes
	Data []byte
}

// errNoLog reports that a directory holds no broker's log.
var errNoLog = errors.New("no log of the embedded broker")

// logFolder is where a broker that runs on dir keeps its log.
func logFolder(dir string) string { return filepath.Join(dir, "log") }

// logIndex are the files that make a folder a log: they name the topics.
var logIndex = []string{"meta.json", "topics.json"}

// CopyLog hands over, file by file, what a broker on dir has from an offset of each partition on, while it may run:
// what was acknowledged before the call is in it. from returns that offset, and a negative one for all there is. A
// partition of which nothing is wanted still gives its last batch, since that is all by which its offsets are known.
func CopyLog(dir string, from func(topic string, partition int32) int64, each func(LogFile) error) error {
	for _, name := range logIndex {
		data, err := os.ReadFile(filepath.Join(logFolder(dir), name))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", dir, errNoLog)
		}
		if err != nil {
			return err
		}
		if err := each(LogFile{name, data}); err != nil {
			return err
		}
	}
	folders, err := os.ReadDir(filepath.Join(logFolder(dir), "partitions"))
	if errors.Is(err, fs.ErrNotExist) { // nothing was ever written
		return nil
	}
	if err != nil {
		return err
	}
	for _, folder := range folders {
		escaped, number, _ := cutLast(folder.Name(), "-")
		topic, err1 := url.PathUnescape(escaped)
		partition, err2 := strconv.ParseInt(number, 10, 32)
		if err1 != nil || err2 != nil {
			continue
		}
		if err := copyPartition(dir, topic, int32(partition), from(topic, int32(partition)), each); err != nil {
			return fmt.Errorf("copy the log of %s/%d: %w", topic, partition, err)
		}
	}
	return nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// copyPartition hands over the segments from the one that holds the offset on, of the first only what is wanted.
func copyPartition(dir, topic string, partition int32, from int64, each func(LogFile) error) error {
	segments, err := listSegments(dir, topic, partition)
	if err != nil {
		return err
	}
	for i, s := range segments {
		newest := i == len(segments)-1
		if !newest && s.end <= from {
			continue
		}
		folder := fmt.Sprintf("%s-%d", url.PathEscape(topic), partition)
		data, err := os.ReadFile(filepath.Join(logFolder(dir), "partitions", folder, fmt.Sprintf("%d.dat", s.base)))
		if errors.Is(err, fs.ErrNotExist) && !newest { // everybody has read it, and it was deleted just now
			continue
		}
		if err != nil {
			return err
		}
		base, data, err := wanted(data, from, newest)
		if err != nil {
			return fmt.Errorf("%d.dat: %w", s.base, err)
		}
		if len(data) == 0 {
			continue
		}
		if err := each(LogFile{fmt.Sprintf("partitions/%s/%d.dat", folder, base), data}); err != nil {
			return err
		}
	}
	return nil
}

// Of a batch of records (Kafka's message format 2): where things are.
const (
	batchLengthAt    = 8
	batchHead        = 12 // before what the length counts
	batchChecksumAt  = 17
	batchAttributes  = 21 // from here on the checksum holds
	batchLastDeltaAt = 23
	batchLeast       = 61
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged reports that records that a copy needs cannot be read in the log.
var errDamaged = errors.New("the broker's log is damaged within what no one has read yet: a copy would lack those records. " +
	"Once the pipeline is past them, which makes dead letters of them, there can be a backup again")

// wanted returns the whole batches of a segment from the one that holds an offset on, or its last one, and their first
// offset. In the newest segment a batch that is just being written ends it. A damaged one in front of the offset does
// not matter; otherwise the error is errDamaged.
func wanted(segment []byte, from int64, newest bool) (base int64, data []byte, err error) {
	start, last, end, damaged := -1, 0, 0, false
	for at := 0; at < len(segment); {
		size, sound := batch(segment[at:])
		next := at + size
		if newest && !sound && (size == 0 || next >= len(segment)) {
			break
		}
		if !sound && (start >= 0 || size == 0 || next >= len(segment)) {
			return 0, nil, fmt.Errorf("at byte %d: %w", at, errDamaged)
		}
		if !sound {
			at, damaged = next, true
			continue
		}
		first := int64(binary.BigEndian.Uint64(segment[at:]))
		if damaged && first > from {
			return 0, nil, fmt.Errorf("before offset %d: %w", first, errDamaged)
		}
		damaged = false
		if start < 0 && first+int64(binary.BigEndian.Uint32(segment[at+batchLastDeltaAt:])) >= from {
			start = at
		}
		last, at, end = at, next, next
	}
	if end == 0 {
		return 0, nil, nil
	}
	if start < 0 {
		start = last
	}
	return int64(binary.BigEndian.Uint64(segment[start:])), segment[start:end], nil
}

// batch returns the size of the batch at the beginning of data, 0 if not all of it is there, and whether it is sound.
func batch(data []byte) (size int, sound bool) {
	if len(data) < batchLeast {
		return 0, false
	}
	size = batchHead + int(binary.BigEndian.Uint32(data[batchLengthAt:]))
	if size < batchLeast || size > len(data) {
		return 0, false
	}
	return size, crc32.Checksum(data[batchAttributes:size], castagnoli) == binary.BigEndian.Uint32(data[batchChecksumAt:])
}

// HasLog tells whether a broker has ever run on dir.
func HasLog(dir string) (bool, error) {
	_, err := os.Stat(logFolder(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// placingMark is a file beside a log that is being placed, without which it might be anybody's.
func placingMark(dir string) string { return filepath.Join(dir, "log_is_being_placed") }

// errLog reports that a directory holds a broker's log that nobody was placing.
var errLog = errors.New("it has a broker's log already")

// BeginPlacing comes before the first PlaceLogFile, and before EndPlacing it may be called again to begin anew: it
// deletes what was placed. Another log it leaves as it is, and returns errLog. No broker must run on dir.
func BeginPlacing(dir string) error {
	begun, err := IsBeingPlaced(dir)
	if err != nil {
		return err
	}
	if begun {
		return os.RemoveAll(logFolder(dir))
	}
	if has, err := HasLog(dir); err != nil || has {
		return cmp.Or(err, fmt.Errorf("%s: %w", dir, errLog))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(placingMark(dir), nil, 0o600)
}

// EndPlacing says that a log is complete.
func EndPlacing(dir string) error { return os.Remove(placingMark(dir)) }

// IsBeingPlaced tells whether a log is not complete.
func IsBeingPlaced(dir string) (bool, error) {
	_, err := os.Stat(placingMark(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// PlaceLogFile writes a file of a copy where a broker that does not run will find it.
func PlaceLogFile(dir string, f LogFile) error {
	local := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("%q is not a file of a log", f.Path)
	}
	path := filepath.Join(logFolder(dir), local)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, f.Data, 0o600)
}
