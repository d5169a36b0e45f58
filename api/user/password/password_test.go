package password_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/user/password"
)

func cheap() *password.Hasher {
	return password.New(password.Config{MemoryKiB: 64, Time: 1, AtOnce: 1})
}

func TestAHashHasItsParametersAndNoOtherPasswordHasIt(t *testing.T) {
	h := cheap()
	hash, err := h.Hash(t.Context(), "", "a horse in the rain")
	if err != nil || !regexp.MustCompile(`^\$argon2id\$v=19\$m=64,t=1,p=1\$[^$]{22}\$[^$]{43}$`).MatchString(hash) {
		t.Fatalf("%q, %v", hash, err)
	}
	if again, _ := h.Hash(t.Context(), "", "a horse in the rain"); again == hash {
		t.Error("two hashes of one password are the same")
	}
	for sent, want := range map[string]bool{"a horse in the rain": true, "a horse in the rain ": false, "": false,
		strings.Repeat("x", 5000): false} {
		if ok, err := h.Check(t.Context(), "", sent, hash); ok != want || err != nil {
			t.Errorf("%.30q: %v, %v", sent, ok, err)
		}
	}
	if ok, err := h.Check(t.Context(), "", "", ""); ok || err != nil {
		t.Errorf("a person without a password is let in: %v, %v", ok, err)
	}
	// Another process with other settings still knows it, and says that it ought to be made again.
	other := password.New(password.Config{MemoryKiB: 128, Time: 2, AtOnce: 1})
	if ok, err := other.Check(t.Context(), "", "a horse in the rain", hash); !ok || err != nil || !other.Stale(hash) ||
		h.Stale(hash) {
		t.Errorf("under other settings: %v, %v", ok, err)
	}
	for _, bad := range []string{"x", strings.Replace(hash, "m=64", "m=99999999", 1),
		strings.Replace(hash, "argon2id", "argon2i", 1), hash[:len(hash)-1]} {
		if _, err := h.Check(t.Context(), "", "a", bad); !errors.Is(err, password.ErrBroken) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWhoWaitsForATurnGivesUpInTime(t *testing.T) {
	slow := password.New(password.Config{MemoryKiB: 64 << 10, Time: 20, AtOnce: 1})
	begun := make(chan struct{})
	done := make(chan struct{})
	go func() {
		close(begun)
		_, _ = slow.Hash(context.Background(), "", "x")
		close(done)
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := false
	for range 50 { // whichever of the two comes first gets the turn
		_, err := slow.Check(ctx, "", "x", "")
		if failed = failed || errors.Is(err, context.Canceled); failed {
			break
		}
	}
	if !failed {
		t.Error("nobody had to wait")
	}
	<-done
}

// However many a network sends at once, others have their turn after two of them.
func TestOneNetworkTakesTwoTurnsAtATime(t *testing.T) {
	h := password.New(password.Config{MemoryKiB: 16 << 10, Time: 4, AtOnce: 1})
	const all = 60
	done := make(chan error, all)
	for range all {
		go func() {
			_, err := h.Check(t.Context(), "192.0.2.1", "x", "")
			done <- err
		}()
	}
	first := <-done // some are in line by now
	var others sync.WaitGroup
	for _, network := range []string{"192.0.2.2", "192.0.2.3", "192.0.2.4"} {
		others.Go(func() {
			if _, err := h.Check(t.Context(), network, "x", ""); err != nil {
				t.Errorf("%s is kept out: %v", network, err)
			}
		})
	}
	others.Wait()
	busy, left := 0, all-1
	for _, err := range append(drained(done), first) {
		if errors.Is(err, password.ErrBusy) {
			busy++
		} else if err != nil {
			t.Error(err)
		}
		left--
	}
	if left < 1 {
		t.Error("the others waited until the network had no more")
	}
	for range left + 1 {
		if err := <-done; errors.Is(err, password.ErrBusy) {
			busy++
		}
	}
	if busy == 0 || busy > all-16 {
		t.Errorf("%d of %d were sent away", busy, all)
	}
	if errors.Is(password.ErrBusy, context.DeadlineExceeded) {
		t.Error("busy is no deadline of the request")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	for range 50 { // whichever comes first
		if _, err := h.Check(ctx, "", "x", ""); err != nil {
			if !errors.Is(err, password.ErrBusy) {
				t.Errorf("who waited in vain is told %v", err)
			}
			return
		}
	}
	t.Error("nobody waited in vain")
}

// drained is what has come by now.
func drained(from chan error) (all []error) {
	for {
		select {
		case err := <-from:
			all = append(all, err)
		default:
			return all
		}
	}
}

func TestWhichPasswordsAreTaken(t *testing.T) {
	for _, good := range []string{"a horse in the rain", "Tür-auf-für-Anna", "x7#kQ9!vLm2$",
		strings.Repeat("ab cde ", 100)} {
		if fault := password.Fault(good, "Ann Lee", "ann@example.com"); fault != "" {
			t.Errorf("%.30q %s", good, fault)
		}
	}
	for _, bad := range []string{"", "short", "aaaaaaaaaaaaaaaa", "ababababababab", "password123456", "Password1234!",
		"correcthorsebatterystaple", "qwertyuiop123", "abcdefghijklmn", "1234567890123", "ann@example.com", "ann lee 2026!",
		"Ann@Example.com1", "a\x00bcdefghijklmnop", strings.Repeat("abcdefg ", 200), "\xff\xfe\xfdabcdefghijkl",
		"zyxwvutsrqpo", "iloveyouforever"} {
		if password.Fault(bad, "Ann Lee", "ann@example.com") == "" {
			t.Errorf("%.30q is taken", bad)
		}
	}
}
