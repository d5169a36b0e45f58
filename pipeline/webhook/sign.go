package webhook

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The signatures of Standard Webhooks 1.0.0: v1 is HMAC-SHA256 with a secret that both sides have, v1a is Ed25519,
// whose receivers have a public key alone.
const (
	SignatureShared = "v1"
	SignatureKeys   = "v1a"
)

// Prefixes of secrets and keys, before base64.
const (
	sharedPrefix  = "whsec_"
	privatePrefix = "whsk_"
	publicPrefix  = "whpk_"
)

// sharedSize is the size of a secret in bytes.
const sharedSize = 32

// NewSecret makes a secret of a kind of signature: whsec_ and 32 random bytes, or whsk_ and the seed of a key.
func NewSecret(signature string) string {
	secret := make([]byte, sharedSize) // which is the size of a seed, too
	rand.Read(secret)
	prefix := sharedPrefix
	if signature == SignatureKeys {
		prefix = privatePrefix
	}
	return prefix + base64.StdEncoding.EncodeToString(secret)
}

// PublicKey returns what a receiver checks signatures of a secret with: whpk_ and the key of v1a, or "" of v1.
func PublicKey(secret string) string {
	seed, ok := strings.CutPrefix(secret, privatePrefix)
	if !ok {
		return ""
	}
	key, err := privateKey(seed)
	if err != nil {
		return ""
	}
	return publicPrefix + base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
}

// Sign returns the head webhook-signature of a message: a signature of each secret, so that receivers who know either
// of two take it while one takes the place of the other. The body is signed as its bytes are sent.
func Sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		var err error
		if signatures[i], err = sign(secret, id, at, body); err != nil {
			return "", fmt.Errorf("sign message: %w", err)
		}
	}
	return strings.Join(signatures, " "), nil
}

func sign(secret, id string, at time.Time, body []byte) (string, error) {
	seed, ok := strings.CutPrefix(secret, privatePrefix)
	if !ok {
		shared, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", err
		}
		return shared.Sign(id, at, body)
	}
	key, err := privateKey(seed)
	if err != nil {
		return "", err
	}
	content := append([]byte(id+"."+strconv.FormatInt(at.Unix(), 10)+"."), body...)
	return SignatureKeys + "," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, content)), nil
}

func privateKey(seed string) (ed25519.PrivateKey, error) {
	raw, err := base64.StdEncoding.DecodeString(seed)
	if err != nil || len(raw) != ed25519.SeedSize {
		return nil, fmt.Errorf("the secret is no seed of a key of %d bytes", ed25519.SeedSize)
	}
	return ed25519.NewKeyFromSeed(raw), nil
}
