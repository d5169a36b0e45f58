// Package seal keeps secrets that have to be read back, such as those that webhooks are signed with: what is stored is
// sealed with a key that is not stored beside it. Secrets that are only compared are hashed, and no business of this
// package.
//
// A sealed text is "sealed:KEY:TEXT": the number of the key, and in base64 a random nonce with what AES-256-GCM makes
// of the secret. It is bound to a purpose, the place at which it is kept: copied to another it does not open.
package seal

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Errors of sealing and opening.
var (
	ErrNoKey      = errors.New("there is no key to seal secrets with")
	ErrUnknownKey = errors.New("the secret is sealed with a key that is not here any more")
	ErrBroken     = errors.New("the sealed secret is damaged, or of another place")
)

// keySize is the size of a key in bytes.
const keySize = 32

// Ring holds the keys: secrets are sealed with the first, and opened with any. The zero Ring has none. It is safe for
// concurrent use.
type Ring struct {
	keys []key
}

type key struct {
	number string // of its hash, so that a key has the same wherever it stands
	aead   cipher.AEAD
}

// NewKey makes a key, in the form in which Read takes it.
func NewKey() string {
	k := make([]byte, keySize)
	rand.Read(k)
	return hex.EncodeToString(k)
}

// Read reads keys, one a line, the one that is used from now on first: 64 hexadecimal digits each. Empty lines and
// those that begin with # are left out. The error never holds a key.
func Read(text []byte) (Ring, error) {
	var r Ring
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := hex.DecodeString(line)
		if err != nil || len(raw) != keySize {
			return Ring{}, fmt.Errorf("line %d is no key: it needs %d hexadecimal digits, such as 'openssl rand -hex %d' makes",
				n, 2*keySize, keySize)
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return Ring{}, fmt.Errorf("read key: %w", err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return Ring{}, fmt.Errorf("read key: %w", err)
		}
		hash := sha256.Sum256(raw)
		r.keys = append(r.keys, key{hex.EncodeToString(hash[:4]), aead})
	}
	return r, lines.Err()
}

// Empty says whether there is no key.
func (r *Ring) Empty() bool { return len(r.keys) == 0 }

const prefix = "sealed:"

// Seal seals a secret for a purpose; ErrNoKey if there is no key.
func (r *Ring) Seal(purpose, secret string) (string, error) {
	if r.Empty() {
		return "", ErrNoKey
	}
	k := r.keys[0]
	text := k.aead.Seal(nil, nil, []byte(secret), []byte(purpose))
	return prefix + k.number + ":" + base64.RawStdEncoding.EncodeToString(text), nil
}

// Open returns a sealed secret. The errors are ErrUnknownKey and ErrBroken.
func (r *Ring) Open(purpose, sealed string) (string, error) {
	number, text, ok := split(sealed)
	if !ok {
		return "", ErrBroken
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return "", ErrBroken
	}
	for _, k := range r.keys {
		if k.number != number {
			continue
		}
		secret, err := k.aead.Open(nil, nil, raw, []byte(purpose))
		if err != nil {
			return "", ErrBroken
		}
		return string(secret), nil
	}
	return "", fmt.Errorf("%w: %s", ErrUnknownKey, number)
}

// Stale says whether a sealed secret ought to be sealed again, because another key has taken the place of its own.
func (r *Ring) Stale(sealed string) bool {
	number, _, ok := split(sealed)
	return ok && !r.Empty() && number != r.keys[0].number
}

func split(sealed string) (number, text string, ok bool) {
	rest, ok := strings.CutPrefix(sealed, prefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}
