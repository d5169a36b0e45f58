package paperwork

import "testing"

// What English has a word for, all languages have.
func TestWordsAreInAllLanguages(t *testing.T) {
	for tag := range words {
		for name := range words["en"] {
			if words[tag][name] == "" {
				t.Errorf("%s has no word for %s", tag, name)
			}
		}
		if got, want := len(words[tag]), len(words["en"]); got != want {
			t.Errorf("%s has %d words, English %d", tag, got, want)
		}
	}
}
