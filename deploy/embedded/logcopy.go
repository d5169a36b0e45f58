package embedded

import (
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

// ErrNoLog reports that a directory holds no broker's log.
var ErrNoLog = errors.New("no log of the embedded broker")

// logFolder is where a broker that runs on dir keeps its log.
func logFolder(dir string) string { return filepath.Join(dir, "log") }

// logIndex are the files that make a folder a log: they name the topics.
var logIndex = []string{"meta.json", "topics.json"}

// CopyLog hands over, file by file, what a broker on dir has from an offset of each partition on, while it may run: what
// was acknowledged before the call is in it. from returns that offset, and a negative one for all there is. A partition
// of which nothing is wanted still gives its last batch, since that is all by which its offsets are known.
func CopyLog(dir string, from func(topic string, partition int32) int64, each func(LogFile) error) error {
	for _, name := range logIndex {
		data, err := os.ReadFile(filepath.Join(logFolder(dir), name))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", dir, ErrNoLog)
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
		base, data := wanted(data, from)
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

// wanted returns the whole batches of a segment from the one that holds an offset on, or its last one, and their first
// offset. A batch that is just being written ends it.
func wanted(segment []byte, from int64) (base int64, data []byte) {
	start, last, end := -1, 0, 0
	for {
		rest := segment[end:]
		if len(rest) < batchLeast {
			break
		}
		size := batchHead + int(binary.BigEndian.Uint32(rest[batchLengthAt:]))
		if size < batchLeast || size > len(rest) ||
			crc32.Checksum(rest[batchAttributes:size], castagnoli) != binary.BigEndian.Uint32(rest[batchChecksumAt:]) {
			break
		}
		first := int64(binary.BigEndian.Uint64(rest))
		if start < 0 && first+int64(binary.BigEndian.Uint32(rest[batchLastDeltaAt:])) >= from {
			start = end
		}
		last, end = end, end+size
	}
	if end == 0 {
		return 0, nil
	}
	if start < 0 {
		start = last
	}
	return int64(binary.BigEndian.Uint64(segment[start:])), segment[start:end]
}

// HasLog tells whether a broker has ever run on dir.
func HasLog(dir string) (bool, error) {
	_, err := os.Stat(logFolder(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// DropLog deletes the log of a broker that does not run.
func DropLog(dir string) error { return os.RemoveAll(logFolder(dir)) }

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
