package token

import (
	"crypto"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ProofType is the type of proofs (RFC 9449, section 4.2).
const ProofType = "dpop+jwt"

// ProofAlgorithms are those that proofs may be signed with.
var ProofAlgorithms = []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA}

// ProofLasts is how old a proof may be; for so long it is remembered that it was seen.
const ProofLasts = time.Minute

// ahead is how far the clock of a client may be ahead of ours.
const ahead = 15 * time.Second

// ErrProof says that a proof does not prove what it must.
var ErrProof = errors.New("the DPoP proof is not valid")

// Proof is a proof that was checked.
type Proof struct {
	Thumbprint string // of its key
	ID         string // the client gives each proof another one
}

// proofClaims are what a proof says.
type proofClaims struct {
	ID       string  `json:"jti"`
	Method   string  `json:"htm"`
	URL      string  `json:"htu"`
	IssuedAt float64 `json:"iat"`
	Token    string  `json:"ath"`
}

// ReadProof checks a proof of a request: it is signed by the key that it brings, is for that method and address, and
// was made just now. With an access token it must be for that one. Whether it was seen before is for the caller to
// ask.
func ReadProof(text, method, address, accessToken string, now time.Time) (*Proof, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("%w: it is too long", ErrProof)
	}
	parsed, err := jose.ParseSignedCompact(text, ProofAlgorithms)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be read, or is signed with something else than ES256 or EdDSA", ErrProof)
	}
	header := parsed.Signatures[0].Protected
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); typ != ProofType {
		return nil, fmt.Errorf("%w: its typ must be %s", ErrProof, ProofType)
	}
	key := header.JSONWebKey
	if key == nil || !key.Valid() || !key.IsPublic() {
		return nil, fmt.Errorf("%w: its header must bring a public key as jwk", ErrProof)
	}
	payload, err := parsed.Verify(key.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: its signature is not of the key that it brings", ErrProof)
	}
	var c proofClaims
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, fmt.Errorf("%w: its claims cannot be read", ErrProof)
	}
	issued := time.UnixMilli(int64(c.IssuedAt * 1000))
	switch {
	case c.ID == "" || len(c.ID) > 255:
		return nil, fmt.Errorf("%w: its jti must be there, and at most 255 characters", ErrProof)
	case c.Method != method:
		return nil, fmt.Errorf("%w: its htm must be %s", ErrProof, method)
	case !sameAddress(c.URL, address):
		return nil, fmt.Errorf("%w: its htu must be %s", ErrProof, address)
	case c.IssuedAt <= 0 || c.IssuedAt > 1e11 || now.Sub(issued) > ProofLasts || issued.Sub(now) > ahead:
		return nil, fmt.Errorf("%w: its iat must be now, and the clock of the client right", ErrProof)
	}
	if accessToken != "" {
		sum := sha256.Sum256([]byte(accessToken))
		want := base64.RawURLEncoding.EncodeToString(sum[:])
		if subtle.ConstantTimeCompare([]byte(c.Token), []byte(want)) != 1 {
			return nil, fmt.Errorf("%w: its ath must be the hash of the access token", ErrProof)
		}
	}
	thumbprint, err := Thumbprint(key)
	if err != nil {
		return nil, fmt.Errorf("%w: its key cannot be used", ErrProof)
	}
	return &Proof{Thumbprint: thumbprint, ID: c.ID}, nil
}

// Thumbprint names a public key by its hash (RFC 7638).
func Thumbprint(key *jose.JSONWebKey) (string, error) {
	sum, err := key.Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

// sameAddress compares what a proof says with the address of the request, without query and fragment, and with the
// parts that do not tell apart written alike (RFC 3986, section 6.2).
func sameAddress(said, address string) bool {
	a, err := url.Parse(said)
	b, err2 := url.Parse(address)
	return err == nil && err2 == nil && a.User == nil && a.Host != "" && plainAddress(a) == plainAddress(b)
}

func plainAddress(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else if scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return scheme + "://" + host + path
}
