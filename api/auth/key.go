package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/big"
	"strings"
)

// An API key reads mp_live_<id>_<secret><checksum>: twelve characters that name the key, 43 of secret (256 random
// bits) and six of CRC32 over all before them, in base 62. The checksum lets us, and scanners of leaked secrets,
// refuse what merely looks like a key without a look-up. We keep the SHA-256 of the secret: a random secret of 256
// bits needs no slow hash.
const (
	keyPrefix   = "mp_live_"
	idLength    = 12
	secretLen   = 43
	checksumLen = 6
	keyLength   = len(keyPrefix) + idLength + 1 + secretLen + checksumLen
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ErrMalformed says that a text is not a key: wrong form or wrong checksum.
var ErrMalformed = errors.New("not an API key")

// NewKey is a key that was just made. Token is shown to its owner once and kept nowhere.
type NewKey struct {
	Token        string // the whole key
	TokenID      string // its public part
	SecretSHA256 string
	LastFour     string // of the secret
}

// MakeKey makes a key from the system's source of randomness.
func MakeKey() NewKey {
	id, secret := randomText(idLength), randomText(secretLen)
	body := keyPrefix + id + "_" + secret
	return NewKey{Token: body + checksum(body), TokenID: id, SecretSHA256: Hash(secret), LastFour: secret[secretLen-4:]}
}

// ParseKey takes a key apart into its public part and its secret. It needs no look-up, and refuses with ErrMalformed
// what no key of ours can be.
func ParseKey(token string) (tokenID, secret string, err error) {
	if len(token) != keyLength || !strings.HasPrefix(token, keyPrefix) {
		return "", "", ErrMalformed
	}
	body, sum := token[:keyLength-checksumLen], token[keyLength-checksumLen:]
	tokenID, secret = body[len(keyPrefix):len(keyPrefix)+idLength], body[len(body)-secretLen:]
	if body[len(keyPrefix)+idLength] != '_' || !isBase62(tokenID) || !isBase62(secret) || sum != checksum(body) {
		return "", "", ErrMalformed
	}
	return tokenID, secret, nil
}

func isBase62(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(base62, r) })
}

// Hash returns the SHA-256 of a secret in hex, which is all that is stored of it.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Matches says whether a secret has a stored hash, in a time that does not tell how much of it was right.
func Matches(secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(Hash(secret)), []byte(hash)) == 1 && hash != ""
}

// ShareSecretLength is how many characters the secret of a share link has.
const ShareSecretLength = 32

// MakeShareSecret makes the secret of a link that shows a place to whoever has it, 190 bits, and its hash.
func MakeShareSecret() (secret, hash string) {
	secret = randomText(ShareSecretLength)
	return secret, Hash(secret)
}

// MakeDeviceToken makes the token with which a phone sends its position by the OsmAnd protocol, and its hash. Apps
// let people type it, so that it is shorter than a key: 22 characters, 131 bits.
func MakeDeviceToken() (token, hash string) {
	token = randomText(22)
	return token, Hash(token)
}

// randomText returns n characters of base 62, each equally likely.
func randomText(n int) string {
	space := new(big.Int).Exp(big.NewInt(62), big.NewInt(int64(n)), nil)
	v, err := rand.Int(rand.Reader, space)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return encode(v, n)
}

func checksum(body string) string {
	return encode(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLen)
}

// encode writes a number in n digits of base 62.
func encode(v *big.Int, n int) string {
	digits := make([]byte, n)
	base, digit := big.NewInt(62), new(big.Int)
	for i := n - 1; i >= 0; i-- {
		v.DivMod(v, base, digit)
		digits[i] = base62[digit.Int64()]
	}
	return string(digits)
}
