package paperwork

import (
	"slices"
	"testing"
)

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

// Each language has a usual agreement, which names all that the English one names and nothing that is not put in.
func TestTheUsualAgreementIsInAllLanguages(t *testing.T) {
	names := func(tag string) []string {
		var all []string
		for _, m := range placeholder.FindAllStringSubmatch(UsualAgreement(tag), -1) {
			all = append(all, m[1])
		}
		return slices.Sorted(slices.Values(all))
	}
	for tag := range words {
		if tag != "en" && UsualAgreement(tag+"-CH") == UsualAgreement("en") {
			t.Errorf("%s has none", tag)
		}
		if got, want := names(tag), names("en"); !slices.Equal(got, want) || TemplateFaults("", UsualAgreement(tag)) != nil {
			t.Errorf("%s names %v, want %v", tag, got, want)
		}
	}
	if UsualAgreement("xx") != UsualAgreement("en") {
		t.Error("an unknown language has not the English one")
	}
}
