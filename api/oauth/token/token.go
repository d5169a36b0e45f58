// Package token makes and checks what the authorization server signs and what its clients sign: access tokens
// (RFC 9068), and proofs that a client holds a key (DPoP, RFC 9449). It is pure: it has no store and no clock, and is
// told the time, the keys and what must hold.
//
// What decides is fixed here and not taken from what was sent: the algorithms, the type of a token, the keys. A token
// names one of our keys and brings none; a proof brings its own public key, which an access token names by its hash.
package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Type is the type of access tokens, in the header of each (RFC 9068, section 2.1).
const Type = "at+jwt"

// longest is the most characters of a token or proof that is looked at.
const longest = 8 << 10

// leeway is how far the clocks of two processes may be apart.
const leeway = 5 * time.Second

// Errors of checks. What was wrong is for the log; whoever presents a token is told no more than that it is not valid.
var (
	ErrInvalid = errors.New("the token is not valid")
	ErrExpired = errors.New("the token has expired")
)

// Claims are what an access token says.
type Claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
	ID       string `json:"jti"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	Account  string `json:"account"`
	Grant    string `json:"grant,omitempty"` // what a person gave; empty for a client that acts for itself
	Bound    *Bound `json:"cnf,omitempty"`
}

// Bound names the key that a token works with alone (RFC 9449, section 6.1).
type Bound struct {
	Thumbprint string `json:"jkt"`
}

// Thumbprint is the hash of the key that a token is bound to; empty if it is not.
func (c *Claims) Thumbprint() string {
	if c.Bound == nil {
		return ""
	}
	return c.Bound.Thumbprint
}

// Key is a key that access tokens are signed with.
type Key struct {
	ID      string
	private *ecdsa.PrivateKey
}

// NewKey makes a key from the system's source of randomness; its id is the hash of its public half (RFC 7638).
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	return keyOf(private)
}

func keyOf(private *ecdsa.PrivateKey) (*Key, error) {
	id, err := Thumbprint(&jose.JSONWebKey{Key: private.Public()})
	return &Key{ID: id, private: private}, err
}

// Secret returns the key as text, to be sealed.
func (k *Key) Secret() (string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	return base64.RawStdEncoding.EncodeToString(der), err
}

// ReadKey reads what Secret returned.
func ReadKey(secret string) (*Key, error) {
	der, err := base64.RawStdEncoding.DecodeString(secret)
	if err != nil {
		return nil, errors.New("a signing key is damaged")
	}
	read, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("a signing key is damaged")
	}
	private, ok := read.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("a signing key is of another kind")
	}
	return keyOf(private)
}

// Public is the public half, as it is published.
func (k *Key) Public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.ID, Algorithm: string(jose.ES256), Use: "sig"}
}

// Sign makes an access token.
func (k *Key) Sign(c Claims) (string, error) {
	options := (&jose.SignerOptions{}).WithType(Type).WithHeader("kid", k.ID)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k.private}, options)
	if err != nil {
		return "", fmt.Errorf("sign an access token: %w", err)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("sign an access token: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign an access token: %w", err)
	}
	return signed.CompactSerialize()
}

// Read checks an access token against our public keys, and returns what it says: it is signed by one of them with
// ES256, is of the type of access tokens, was issued by issuer for audience, and holds now.
func Read(text string, keys []jose.JSONWebKey, issuer, audience string, now time.Time) (*Claims, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("%w: it is too long", ErrInvalid)
	}
	parsed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	header := parsed.Signatures[0].Protected
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); typ != Type {
		return nil, fmt.Errorf("%w: it is of the type %q", ErrInvalid, typ)
	}
	if header.JSONWebKey != nil {
		return nil, fmt.Errorf("%w: it brings a key", ErrInvalid)
	}
	i := slices.IndexFunc(keys, func(k jose.JSONWebKey) bool { return k.KeyID == header.KeyID })
	if i < 0 {
		return nil, fmt.Errorf("%w: it is of the key %q, which is none of ours", ErrInvalid, header.KeyID)
	}
	payload, err := parsed.Verify(keys[i].Key)
	if err != nil {
		return nil, fmt.Errorf("%w: its signature is wrong", ErrInvalid)
	}
	c := &Claims{}
	if err := json.Unmarshal(payload, c); err != nil {
		return nil, fmt.Errorf("%w: its claims cannot be read", ErrInvalid)
	}
	switch {
	case c.Issuer != issuer:
		return nil, fmt.Errorf("%w: it is from %q", ErrInvalid, c.Issuer)
	case c.Audience != audience:
		return nil, fmt.Errorf("%w: it is for %q", ErrInvalid, c.Audience)
	case c.ID == "" || c.Subject == "" || c.ClientID == "" || c.Account == "":
		return nil, fmt.Errorf("%w: it lacks a claim", ErrInvalid)
	case now.Add(leeway).Before(time.Unix(c.IssuedAt, 0)):
		return nil, fmt.Errorf("%w: it is from the future", ErrInvalid)
	case !now.Before(time.Unix(c.Expires, 0)):
		return nil, ErrExpired
	}
	return c, nil
}

// KeyID is the key that a token names, before anything is checked: for a look whether it is known. It is empty if
// there is none.
func KeyID(text string) string {
	head, _, _ := strings.Cut(text, ".")
	if len(head) > 1<<10 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		ID string `json:"kid"`
	}
	if err != nil || json.Unmarshal(raw, &header) != nil {
		return ""
	}
	return header.ID
}
