package fleet

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is kept of alarms, in bytes: of a word, and of all words of a position with the commas between them.
const (
	maxAlarmWord = 50
	maxAlarm     = 100
)

var knownAlarms = func() map[string]string {
	byName := make(map[string]string, len(Alarms))
	for _, name := range Alarms {
		byName[name] = name
	}
	return byName
}()

// AlarmOf returns what a position keeps of an alarm, or of several joined by commas, as a device spelled them: each
// word once, those of Alarms first. A word that nobody could read, or that is very long, is general; words for which
// there is no room are left out. What is returned shares no memory with the text.
func AlarmOf(text string) string {
	if known, ok := knownAlarms[text]; ok || text == "" {
		return known
	}
	var known, others []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if !readable(word) {
			word = "general"
		}
		list := &others
		if _, ok := knownAlarms[word]; ok {
			list = &known
		}
		if !slices.Contains(*list, word) {
			*list = append(*list, word)
		}
	}
	size, kept := 0, append(known, others...)
	for i, word := range kept {
		if size += len(word) + 1; size > maxAlarm+1 {
			kept = kept[:i]
			break
		}
	}
	if len(kept) == 1 {
		if known, ok := knownAlarms[kept[0]]; ok {
			return known
		}
		return strings.Clone(kept[0])
	}
	return strings.Join(kept, ",")
}

func readable(word string) bool {
	return len(word) <= maxAlarmWord && utf8.ValidString(word) &&
		strings.IndexFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// alarmKinds are the words that have a kind of alert of their own.
var alarmKinds = map[string]AlertKind{
	"sos": AlertSOS, "jamming": AlertJamming, "tampering": AlertTampering, "removing": AlertTampering,
	"gpsAntennaCut": AlertTampering,
	"powerCut":      AlertPowerCut, "powerOff": AlertPowerCut, "lowPower": AlertLowPower, "lowBattery": AlertLowPower,
}

// KindOfAlarm returns the kind of alert that a word of an alarm has of its own, and nothing for one that has none.
func KindOfAlarm(word string) AlertKind { return alarmKinds[word] }
