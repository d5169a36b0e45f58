package webhook

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The example of the specification: its secret, message and signature.
func TestTheExampleOfTheSpecificationIsSigned(t *testing.T) {
	signature, err := Sign([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if signature != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || err != nil {
		t.Error(signature, err)
	}
}

func TestWhoKnowsOneOfTwoSecretsTakesAMessage(t *testing.T) {
	const id = "evt_1"
	body, now := []byte(`{"type":"booking.created"}`), time.Now()
	old, next, other := NewSecret(SignatureShared), NewSecret(SignatureShared), NewSecret(SignatureShared)
	signature, err := Sign([]string{old, next}, id, now, body)
	if err != nil {
		t.Fatal(err)
	}
	head := http.Header{}
	head.Set("webhook-id", id)
	head.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	head.Set("webhook-signature", signature)
	for secret, taken := range map[string]bool{old: true, next: true, other: false} {
		receiver, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Verify(body, head); (err == nil) != taken {
			t.Errorf("%v: %v", taken, err)
		}
		if receiver.Verify(append(body, ' '), head) == nil {
			t.Error("a body that was changed is taken")
		}
	}
}

func TestKeysSignWhatTheirPublicKeysCheck(t *testing.T) {
	secret := NewSecret(SignatureKeys)
	public, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(PublicKey(secret), "whpk_"))
	if err != nil || len(public) != ed25519.PublicKeySize {
		t.Fatal(err)
	}
	signature, err := Sign([]string{secret}, "evt_1", time.Unix(100, 0), []byte("body"))
	if err != nil || !strings.HasPrefix(signature, "v1a,") {
		t.Fatal(signature, err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1a,"))
	if err != nil || !ed25519.Verify(public, []byte("evt_1.100.body"), raw) {
		t.Error("the signature is not that of the key", err)
	}
	if PublicKey(NewSecret(SignatureShared)) != "" {
		t.Error("a secret that is shared has a public key")
	}
	_, err = Sign([]string{"whsk_abc"}, "evt_1", time.Unix(100, 0), nil)
	if err == nil || strings.Contains(err.Error(), "abc") {
		t.Error("a broken secret: ", err)
	}
}
