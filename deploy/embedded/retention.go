package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// segment is one file of a partition's log: the offsets [base, end).
type segment struct {
	topic     string
	partition int32
	base, end int64
	size      int64
	written   time.Time // when it last grew
}

// retain deletes what may go, once a minute until ctx ends.
func (b *Broker) retain(ctx context.Context) {
	tick := time.NewTicker(retentionEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if err := b.deleteOld(now); err != nil {
				b.config.Logger.Warn("broker: delete old records: " + err.Error())
			}
		}
	}
}

// deleteOld deletes the segments that every group has read and whose time is
// up, or that do not fit into MaxBytes. A partition's newest segment always
// stays: without any file the broker would forget the partition's offsets.
func (b *Broker) deleteOld(now time.Time) error {
	topics, err := b.topics()
	if err != nil {
		return err
	}
	var total int64
	var closed []segment // all but each partition's newest, in no order
	for _, topic := range topics {
		for _, partition := range b.cluster.PartitionInfos(topic) {
			segments, err := b.segments(topic, partition.Partition)
			if err != nil {
				return err
			}
			for _, s := range segments {
				total += s.size
			}
			if len(segments) > 1 {
				closed = append(closed, segments[:len(segments)-1]...)
			}
		}
	}
	slices.SortFunc(closed, func(x, y segment) int {
		return cmp.Or(x.written.Compare(y.written), cmp.Compare(x.base, y.base))
	})
	for _, s := range closed {
		readTo, anybody := b.readTo(s.topic, s.partition)
		keep := b.retentionOf(s.topic)
		old := keep >= 0 && now.Sub(s.written) > keep
		full := total > b.config.MaxBytes && anybody
		unread := anybody && readTo < s.end
		if unread || !old && !full {
			continue
		}
		info := b.cluster.PartitionInfo(s.topic, s.partition)
		if info == nil || info.LogStartOffset > s.end {
			continue
		}
		// A segment that had to stay keeps the later ones of its partition.
		if info.LogStartOffset < s.base {
			continue
		}
		if err := b.cluster.DeleteRecords(s.topic, s.partition, s.end); err != nil {
			return fmt.Errorf("%s/%d up to %d: %w", s.topic, s.partition, s.end, err)
		}
		total -= s.size
	}
	return nil
}

// readTo is the lowest offset a group still has to read, and whether any of
// the groups reads the topic at all.
func (b *Broker) readTo(topic string, partition int32) (offset int64, anybody bool) {
	for _, name := range b.config.Groups {
		group := b.cluster.GroupInfo(name)
		if group == nil || len(group.Commits[topic]) == 0 {
			continue
		}
		committed := group.Commits[topic][partition].Offset // 0 where there is none: keep all
		if !anybody || committed < offset {
			offset = committed
		}
		anybody = true
	}
	return offset, anybody
}

// retentionOf is the topic's own retention.ms, or the broker's.
func (b *Broker) retentionOf(topic string) time.Duration {
	if info := b.cluster.TopicInfo(topic); info != nil {
		if text := info.Configs["retention.ms"]; text != nil {
			if ms, err := strconv.ParseInt(*text, 10, 64); err == nil {
				return time.Duration(min(ms, int64(1<<62/time.Millisecond))) * time.Millisecond
			}
		}
	}
	return b.config.Retention
}

// topics reads the names from the broker's own list, which it rewrites with
// every change.
func (b *Broker) topics() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(b.config.Dir, "log", "topics.json"))
	if err != nil {
		return nil, err
	}
	var list struct {
		Topics []struct {
			Name string `json:"name"`
		} `json:"topics"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	names := make([]string, len(list.Topics))
	for i, topic := range list.Topics {
		names[i] = topic.Name
	}
	return names, nil
}

// segments lists a partition's files by offset. A file is named after its
// first offset; a partition nothing was written to has none.
func (b *Broker) segments(topic string, partition int32) ([]segment, error) {
	return listSegments(b.config.Dir, topic, partition)
}

func listSegments(dir, topic string, partition int32) ([]segment, error) {
	entries, err := os.ReadDir(filepath.Join(logFolder(dir), "partitions",
		fmt.Sprintf("%s-%d", url.PathEscape(topic), partition)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var segments []segment
	for _, entry := range entries {
		stem, isSegment := strings.CutSuffix(entry.Name(), ".dat")
		base, err := strconv.ParseInt(stem, 10, 64)
		if !isSegment || err != nil {
			continue
		}
		info, err := entry.Info()
		if os.IsNotExist(err) { // the topic was deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		segments = append(segments,
			segment{topic: topic, partition: partition, base: base, size: info.Size(), written: info.ModTime()})
	}
	slices.SortFunc(segments, func(x, y segment) int { return cmp.Compare(x.base, y.base) })
	for i := range segments[:max(len(segments)-1, 0)] {
		segments[i].end = segments[i+1].base
	}
	return segments, nil
}
