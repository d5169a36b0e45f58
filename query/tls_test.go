package query_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// TestOpenWithTLSTrustsOurAuthorityAndNoOther reaches the real server through a listener that speaks TLS.
func TestOpenWithTLSTrustsOurAuthorityAndNoOther(t *testing.T) {
	config := schematest.Config(t)
	addr, authority := encrypted(t, config.Addrs[0])
	config.Addrs = []string{addr}
	config.TLS = query.TLS{Enabled: true, CAFile: authority, ServerName: "clickhouse.test"}
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var one uint8
	if err := db.QueryRow(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Fatalf("%d, %v", one, err)
	}
	for name, change := range map[string]func(*query.TLS){
		"another authority":  func(s *query.TLS) { s.CAFile = "" },
		"another name":       func(s *query.TLS) { s.ServerName = "elsewhere.test" },
		"without encryption": func(s *query.TLS) { *s = query.TLS{} },
	} {
		wrong := config
		wrong.DialTimeout = 2 * time.Second
		change(&wrong.TLS)
		if db, err := query.Open(t.Context(), wrong); err == nil {
			db.Close()
			t.Errorf("%s: connected", name)
		}
	}
}

// encrypted listens with TLS and passes what it hears on to a server; it returns its address and its
// certificate's file.
func encrypted(t *testing.T, server string) (addr, certificate string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clickhouse.test"}, DNSNames: []string{"clickhouse.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				// A client that fails to shake hands never gets as far as the server.
				if err := in.(*tls.Conn).Handshake(); err != nil {
					return
				}
				out, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer out.Close()
				go func() {
					_, _ = io.Copy(out, in)
					out.Close()
				}()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return listener.Addr().String(), certificate
}
