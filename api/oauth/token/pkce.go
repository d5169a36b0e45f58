package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// GoodChallenge says whether a text can be the challenge of S256 (RFC 7636): the hash of a verifier.
func GoodChallenge(challenge string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	return err == nil && len(raw) == sha256.Size
}

// Answers says whether a verifier is the one of a challenge (RFC 7636, section 4.6). One that is too short to be
// unguessable, too long, or of other characters is none.
func Answers(verifier, challenge string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	for _, c := range []byte(verifier) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '-' || c == '.' || c == '_' || c == '~') {
			return false
		}
	}
	sum := sha256.Sum256([]byte(verifier))
	want := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(want), []byte(challenge)) == 1
}
