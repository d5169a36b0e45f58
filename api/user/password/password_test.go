package password_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/user/password"
)

func cheap() *password.Hasher {
	return password.New(password.Config{MemoryKiB: 64, Time: 1, AtOnce: 1})
}

func TestAHashHasItsParametersAndNoOtherPasswordHasIt(t *testing.T) {
	h := cheap()
	hash, err := h.Hash(t.Context(), "a horse in the rain")
	if err != nil || !regexp.MustCompile(`^\$argon2id\$v=19\$m=64,t=1,p=1\$[^$]{22}\$[^$]{43}$`).MatchString(hash) {
		t.Fatalf("%q, %v", hash, err)
	}
	if again, _ := h.Hash(t.Context(), "a horse in the rain"); again == hash {
		t.Error("two hashes of one password are the same")
	}
	for sent, want := range map[string]bool{"a horse in the rain": true, "a horse in the rain ": false, "": false,
		strings.Repeat("x", 5000): false} {
		if ok, err := h.Check(t.Context(), sent, hash); ok != want || err != nil {
			t.Errorf("%.30q: %v, %v", sent, ok, err)
		}
	}
	if ok, err := h.Check(t.Context(), "", ""); ok || err != nil {
		t.Errorf("a person without a password is let in: %v, %v", ok, err)
	}
	// Another process with other settings still knows it, and says that it ought to be made again.
	other := password.New(password.Config{MemoryKiB: 128, Time: 2, AtOnce: 1})
	if ok, err := other.Check(t.Context(), "a horse in the rain", hash); !ok || err != nil || !other.Stale(hash) ||
		h.Stale(hash) {
		t.Errorf("under other settings: %v, %v", ok, err)
	}
	for _, bad := range []string{"x", strings.Replace(hash, "m=64", "m=99999999", 1),
		strings.Replace(hash, "argon2id", "argon2i", 1), hash[:len(hash)-1]} {
		if _, err := h.Check(t.Context(), "a", bad); !errors.Is(err, password.ErrBroken) {
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
		_, _ = slow.Hash(context.Background(), "x")
		close(done)
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := false
	for range 50 { // whichever of the two comes first gets the turn
		_, err := slow.Check(ctx, "x", "")
		if failed = failed || errors.Is(err, context.Canceled); failed {
			break
		}
	}
	if !failed {
		t.Error("nobody had to wait")
	}
	<-done
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
