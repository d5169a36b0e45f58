package rest

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
)

// The entity tag of a record is its revision, "r17". Where an answer also shows what changes without a revision (the
// place of a vehicle), a mark of that follows, "r17-5d2f…", so that If-None-Match never hides a change; If-Match looks
// at the revision only.

// ETagOf returns the entity tag of a revision and, if live is not nil, what is shown with it.
func ETagOf(revision uint64, live []byte) string {
	tag := "r" + strconv.FormatUint(revision, 10)
	if live != nil {
		h := fnv.New64a()
		h.Write(live)
		tag += fmt.Sprintf("-%016x", h.Sum64())
	}
	return `"` + tag + `"`
}

// etagList returns the tags of a header like If-Match; "*" stands for itself.
func etagList(header string) []string {
	var tags []string
	for _, tag := range strings.Split(header, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// Unchanged says whether If-None-Match names the tag, so that a 304 will do. Weak comparison, as RFC 9110 asks.
func Unchanged(r *http.Request, tag string) bool {
	for _, t := range etagList(strings.Join(r.Header.Values("If-None-Match"), ",")) {
		if t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}

// revisionTag is an entity tag that names a revision, with both quotes or none.
var revisionTag = regexp.MustCompile(`^(?:W/)?(?:"r?(\d+)(?:-[^"]+)?"|r?(\d+)(?:-[^"]+)?)$`)

// Precondition holds If-Match against the revision that a write is about to change. People send the number that
// they see in the body, with quotes or without, and a proxy that compresses makes a tag weak: whatever names the
// revision does.
func Precondition(r *http.Request, revision uint64) error {
	tags := etagList(strings.Join(r.Header.Values("If-Match"), ","))
	if len(tags) == 0 {
		if r.Header.Values("If-Match") != nil {
			return InvalidParam("If-Match", "is empty; leave it out, or give the ETag that the change is made upon")
		}
		return nil
	}
	want := strconv.FormatUint(revision, 10)
	for _, tag := range tags {
		m := revisionTag.FindStringSubmatch(tag)
		if tag == "*" || m != nil && m[1]+m[2] == want {
			return nil
		}
	}
	return fleet.NewError(fleet.CodeStale, fmt.Sprintf("The record is at revision %d, and If-Match asks for %.60s. "+
		"Read it again and repeat the change upon that.", revision, strings.Join(tags, ", ")))
}
