package embedded

import (
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Free returns how many bytes may still be written to the disk that a folder is on.
func Free(dir string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize), nil
}

// whenFull refuses what would be written to a disk that is nearly full, as long as it is. The broker itself would
// write as far as it gets: after half a commit it could read no later one, and a producer that numbers its records
// would be told on its second try that the first one was stored. Commits go on longer than records, because with them
// others may finish.
func (c *BrokerConfig) whenFull() []kfake.Fault {
	below := func(least uint64) func(kmsg.Request) bool {
		return func(kmsg.Request) bool {
			free, err := Free(c.Dir)
			return err == nil && free < least
		}
	}
	return []kfake.Fault{
		{Keys: []kmsg.Key{kmsg.Produce}, Count: -1, Err: kerr.KafkaStorageError, When: below(c.KeepFree)},
		{Keys: []kmsg.Key{kmsg.OffsetCommit, kmsg.TxnOffsetCommit}, Count: -1, Err: kerr.CoordinatorNotAvailable,
			When: below(c.KeepFree / 4)},
	}
}
