package seal

import (
	"errors"
	"strings"
	"testing"
)

func TestASecretComesBackOnlyWhereItWasKept(t *testing.T) {
	old, err := Read([]byte("# the keys\n\n" + NewKey() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	const secret = "whsec_abc"
	sealed, err := old.Seal("endpoint 1", secret)
	if err != nil || strings.Contains(sealed, "abc") {
		t.Fatal(sealed, err)
	}
	if again, _ := old.Seal("endpoint 1", secret); again == sealed {
		t.Error("the same secret looks the same twice")
	}
	if got, err := old.Open("endpoint 1", sealed); got != secret || err != nil {
		t.Error(got, err)
	}
	for what, bad := range map[string]string{
		"cut short": sealed[:len(sealed)-2], "plain": secret, "empty": "", "no text": "sealed:", "no key": "sealed:x",
		"changed": sealed[:len(sealed)-3] + flip(sealed[len(sealed)-3]) + sealed[len(sealed)-2:],
	} {
		if _, err := old.Open("endpoint 1", bad); !errors.Is(err, ErrBroken) && !errors.Is(err, ErrUnknownKey) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := old.Open("endpoint 2", sealed); !errors.Is(err, ErrBroken) {
		t.Error("it opens at another place:", err)
	}
}

func flip(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}

func TestKeysAreRotated(t *testing.T) {
	first, second := NewKey(), NewKey()
	old, _ := Read([]byte(first))
	sealed, err := old.Seal("p", "secret")
	if err != nil {
		t.Fatal(err)
	}
	both, err := Read([]byte(second + "\n" + first + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := both.Open("p", sealed); got != "secret" || err != nil || !both.Stale(sealed) || old.Stale(sealed) {
		t.Error(got, err, both.Stale(sealed))
	}
	again, err := both.Seal("p", "secret")
	if err != nil || both.Stale(again) {
		t.Error(err, "sealed with the old key")
	}
	after, _ := Read([]byte(second))
	if _, err := after.Open("p", sealed); !errors.Is(err, ErrUnknownKey) {
		t.Error(err)
	}
	if got, err := after.Open("p", again); got != "secret" || err != nil {
		t.Error(got, err)
	}
	if _, err := (&Ring{}).Seal("p", "secret"); !errors.Is(err, ErrNoKey) {
		t.Error(err)
	}
}

func TestBrokenKeysAreRefusedWithoutBeingSaid(t *testing.T) {
	for _, bad := range []string{"abcd", strings.Repeat("z", 64), NewKey() + "00", NewKey() + " " + NewKey()} {
		_, err := Read([]byte("# \n" + bad))
		if err == nil || strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
