package topic

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestLoginByEveryMechanism(t *testing.T) {
	for mechanism, kind := range map[string]string{"plain": "PLAIN", "scram-sha-256": "SCRAM-SHA-256",
		"scram-sha-512": "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			addr, _ := embeddedtest.FakeBroker(t, kfake.EnableSASL(), kfake.Superuser(kind, "pool", "right"))
			c := config(t, addr)
			c.SASL = SASL{Mechanism: mechanism, User: "pool", PasswordFile: writeFile(t, "password", []byte("right\n"))}
			exchange(t, c)

			c.SASL = SASL{Mechanism: mechanism, User: "pool", Password: "wrong"}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := Ping(ctx, c); err == nil {
				t.Error("a wrong password was taken")
			}
		})
	}
}

func TestTLSWithOurAuthorityAndCertificate(t *testing.T) {
	authority, authorityKey := certificate(t, nil, nil)
	server, serverKey := certificate(t, authority, authorityKey)
	client, clientKey := certificate(t, authority, authorityKey)
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	addr, _ := embeddedtest.FakeBroker(t, kfake.TLS(&tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: pool,
	}))
	key, err := x509.MarshalECPrivateKey(clientKey)
	if err != nil {
		t.Fatal(err)
	}
	c := config(t, addr)
	c.TLS = TLS{
		Enabled:    true,
		CAFile:     writeFile(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})),
		CertFile:   writeFile(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: client.Raw})),
		KeyFile:    writeFile(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key})),
		ServerName: "broker.test",
	}
	exchange(t, c)

	for name, change := range map[string]func(*TLS){
		"another name":        func(s *TLS) { s.ServerName = "elsewhere.test" },
		"another authority":   func(s *TLS) { s.CAFile = "" },
		"without certificate": func(s *TLS) { s.CertFile, s.KeyFile = "", "" },
		"without encryption":  func(s *TLS) { *s = TLS{} },
	} {
		wrong := c
		change(&wrong.TLS)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		if err := Ping(ctx, wrong); err == nil {
			t.Errorf("%s: the broker was reached", name)
		}
		cancel()
	}
}

// exchange makes the topics, publishes through the client and reads through the dialer.
func exchange(t *testing.T, c Config) {
	t.Helper()
	if _, err := Ensure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := openFeed(t, c).PublishRaw(t.Context(), c.Telemetry, []Message{{Value: []byte("v")}}); err != nil {
		t.Fatal(err)
	}
	read(t, c, c.Telemetry, 1)
	if findings, err := Check(t.Context(), c); err != nil || !findings[0].OK {
		t.Errorf("%+v, %v", findings, err)
	}
}

func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes a certificate, signed by an authority or, without one, an authority.
func certificate(t *testing.T, parent *x509.Certificate,
	parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"broker.test"}, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: parent == nil,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}
