package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const issuer = "https://fleet.example.com"

// Whatever is made of tokens that we signed, none is taken but those that say what we signed.
func FuzzRead(f *testing.F) {
	key, err := NewKey()
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	claims := Claims{Issuer: issuer, Subject: "ocl_1", Audience: issuer, ClientID: "ocl_1", Scope: "vehicles:read",
		ID: "1", IssuedAt: now.Unix(), Expires: now.Add(time.Hour).Unix(), Account: "acc_1"}
	good, err := key.Sign(claims)
	if err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(good, ".")
	f.Add(parts[0], parts[1], parts[2])
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt"}`)), parts[1], "")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, head, payload, signature string) {
		text := head + "." + payload + "." + signature
		KeyID(text)
		read, err := Read(text, []jose.JSONWebKey{key.Public()}, issuer, issuer, now)
		if err == nil && *read != claims {
			t.Errorf("%s is taken as %v", text, read)
		}
	})
}

// A proof is taken only of the key that signed it, for its request.
func FuzzReadProof(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType(ProofType))
	if err != nil {
		f.Fatal(err)
	}
	want, err := Thumbprint(&jose.JSONWebKey{Key: key.Public()})
	if err != nil {
		f.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	f.Add(`{"jti":"1","htm":"POST","htu":"https://fleet.example.com/oauth/token","iat":1800000000}`, "")
	f.Add(`{"jti":"1","htm":"POST","htu":"HTTPS://FLEET.example.com:443/oauth/token?a#b","iat":1.8e9}`, "")
	f.Add(`{"jti":1,"iat":-1e300}`, "a.b.c")
	f.Fuzz(func(t *testing.T, payload, other string) {
		if _, err := ReadProof(other, "POST", issuer+"/oauth/token", "", now); err == nil {
			t.Errorf("%s is taken", other)
		}
		signed, err := signer.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		text, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		if proof, err := ReadProof(text, "POST", issuer+"/oauth/token", "", now); err == nil &&
			(proof.Thumbprint != want || proof.ID == "") {
			t.Errorf("%s is taken as %v", payload, proof)
		}
		if _, err := ReadProof(text, "POST", issuer+"/oauth/token", "token", now); err == nil {
			t.Errorf("%s is taken for a token that it does not name", payload)
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, verifier, challenge string) {
		sum := sha256.Sum256([]byte(verifier))
		own := base64.RawURLEncoding.EncodeToString(sum[:])
		if !GoodChallenge(own) {
			t.Errorf("%s is no challenge", own)
		}
		if Answers(verifier, challenge) && (challenge != own || len(verifier) < 43) {
			t.Errorf("%q answers %q", verifier, challenge)
		}
		if GoodChallenge(challenge) && len(challenge) != 43 {
			t.Errorf("%q is a challenge", challenge)
		}
	})
}
