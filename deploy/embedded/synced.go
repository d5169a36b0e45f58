package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// synced keeps a folder on the disk: Flush returns when everything that was written below the folder before the call
// would survive a power cut, the names of new files included. Any number of callers share one round of syncing: who
// comes while one runs waits for the next.
//
// It does not ask those who write what they have written, it looks for what has changed since the last round.
type synced struct {
	dir string

	mu      sync.Mutex
	next    *round // has not begun: who wants to flush joins it
	running bool
	failed  error         // why nothing here can be relied on any more
	broken  chan struct{} // closed when failed is set

	seen map[string]state // of files and folders, by path, as they were before the last round; belongs to the round
}

// round is one look at the folder, and what came of it.
type round struct {
	done chan struct{}
	err  error // to be read when done is closed
}

// state tells whether a file has been written or replaced.
type state struct {
	inode    uint64
	size     int64
	modified int64
}

func newSynced(dir string) *synced {
	return &synced{dir: dir, broken: make(chan struct{}), seen: map[string]state{}}
}

// begin makes the folder and syncs its name and those of the folders that it lies in, which may all be new.
func (s *synced) begin() error {
	dir, err := filepath.Abs(s.dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if err = syncAll([]string{dir}); errors.Is(err, fs.ErrPermission) { // not ours, so not made by us
			return nil
		}
	}
	return err
}

// errNotKept is the error of a disk that could not keep what was written.
var errNotKept = errors.New("the disk did not keep what was written")

// Flush returns when what was written before is on the disk. After one errNotKept all calls return it: what the system
// could not write it forgets, and says so only once. Any other error, as where no file can be opened for the moment, is
// that of one round: nothing of it is known to be on the disk, and the next one looks at it again.
func (s *synced) Flush() error {
	s.mu.Lock()
	if s.failed != nil {
		defer s.mu.Unlock()
		return s.failed
	}
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
	}
	joined := s.next
	if !s.running {
		s.running = true
		go s.rounds()
	}
	s.mu.Unlock()
	<-joined.done
	return joined.err
}

// rounds syncs until nobody waits.
func (s *synced) rounds() {
	for {
		s.mu.Lock()
		now := s.next
		s.next = nil
		if now == nil {
			s.running = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		if err := s.sync(); err != nil {
			now.err = fmt.Errorf("sync %s: %w", s.dir, err)
			s.mu.Lock()
			if s.failed == nil && errors.Is(err, errNotKept) {
				s.failed = now.err
				close(s.broken)
			}
			s.mu.Unlock()
		}
		close(now.done)
	}
}

// sync brings what has changed to the disk: the files first, then the folders that name them.
func (s *synced) sync() error {
	now := make(map[string]state, len(s.seen))
	var files, folders []string
	err := filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		at := state{size: info.Size(), modified: info.ModTime().UnixNano()}
		if raw, ok := info.Sys().(*syscall.Stat_t); ok {
			at.inode = raw.Ino
		}
		before, known := s.seen[path]
		now[path] = at
		switch changed := !known || before != at; {
		case changed && entry.IsDir():
			folders = append(folders, path)
		case changed:
			files = append(files, path)
			if !known || before.inode != at.inode {
				folders = append(folders, filepath.Dir(path))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := syncAll(files); err != nil {
		return err
	}
	if err := syncAll(folders); err != nil {
		return err
	}
	s.seen = now // not after an error
	return nil
}

// syncAll syncs files or folders beside each other: a disk does that in little more time than one takes. It tells of
// every error: that of a file which could not be opened must not hide that another was not kept.
func syncAll(paths []string) error {
	var all errgroup.Group
	all.SetLimit(16)
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	errs := make([]error, len(paths))
	for i, path := range paths {
		all.Go(func() error {
			errs[i] = syncOne(path)
			return nil
		})
	}
	_ = all.Wait()
	return errors.Join(errs...)
}

func syncOne(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	return nil
}

// heldBack is a listener whose connections say nothing before what was written until then is on the disk.
type heldBack struct {
	net.Listener
	log *synced
}

// Accept waits for a connection.
func (l heldBack) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return heldConn{conn, l.log}, nil
}

type heldConn struct {
	net.Conn
	log *synced
}

// Write sends p, which is one whole answer, when what it says cannot be taken back any more.
func (c heldConn) Write(p []byte) (int, error) {
	if err := c.log.Flush(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
