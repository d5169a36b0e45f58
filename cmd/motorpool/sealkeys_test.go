package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/motorpool/fleet/api/seal"
)

func TestTheKeyOfTheDataFolderIsMadeOnceAndForItsOwnerOnly(t *testing.T) {
	s := settings{Data: t.TempDir()}
	if keys, err := s.sealKeys(); err != nil || !keys.Empty() {
		t.Fatal("keys of nowhere", err)
	}
	var texts []string
	for range 2 {
		if err := s.makeSealKey(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(s.Data, sealKeyFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	about, err := os.Stat(filepath.Join(s.Data, sealKeyFile))
	if err != nil || about.Mode().Perm() != 0o600 || texts[0] != texts[1] {
		t.Errorf("%v, %v, made twice: %v", err, about.Mode(), texts[0] != texts[1])
	}
	kept, err := s.sealKeys()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := kept.Seal("a", "word")
	if err != nil {
		t.Fatal(err)
	}

	// One that is named takes its place; the old one behind it opens what it sealed.
	next := seal.NewKey()
	s.SealKey = next + "," + texts[0]
	both, err := s.sealKeys()
	if err != nil {
		t.Fatal(err)
	}
	if word, err := both.Open("a", sealed); word != "word" || err != nil || !both.Stale(sealed) {
		t.Errorf("%q, %v", word, err)
	}
	file := filepath.Join(t.TempDir(), "keys")
	for text, good := range map[string]bool{next + "\n": true, "": false, "# none\n": false, "short": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&settings{SealKeyFile: file}).sealKeys(); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := (&settings{SealKeyFile: file + "none"}).sealKeys(); err == nil {
		t.Error("a file that is not there is taken")
	}
	elsewhere := settings{Data: t.TempDir(), SealKey: next}
	if err := elsewhere.makeSealKey(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere.Data, sealKeyFile)); err == nil {
		t.Error("a key is made although one is named")
	}
}
