package paperwork

import "testing"

// What English has a word for, all languages have.
func TestWordsAreInAllLanguages(t *testing.T) {
	for _, tag := range languages {
		for name := range words["en"] {
			if words[tag.String()][name] == "" {
				t.Errorf("%s has no word for %s", tag, name)
			}
		}
		if got, want := len(words[tag.String()]), len(words["en"]); got != want {
			t.Errorf("%s has %d words, English %d", tag, got, want)
		}
	}
}
