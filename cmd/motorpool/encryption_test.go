package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pairFor writes a certificate of some names and its key, which sign themselves, and returns those who trust it.
func pairFor(t *testing.T, cert, key string, serial int64, names ...string) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "motorpool test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour), DNSNames: names,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	whole := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	roots.AppendCertsFromPEM(whole)
	for path, text := range map[string][]byte{cert: whole,
		key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return roots
}

// secured serves a word by HTTPS as the interface is, and leads there from HTTP; it returns both addresses.
func secured(t *testing.T, c *encryptionSettings, data string, log *slog.Logger) (https, plain string, e *encryption) {
	t.Helper()
	e, err := newEncryption(c, data, log)
	if err != nil {
		t.Fatal(err)
	}
	m := manners{Head: 5 * time.Second, Idle: time.Minute, Crowd: crowd{All: 100, PerAddress: 100}}
	half, err := listen("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS != nil, " ", r.Proto)
	}), m, log)
	if err != nil {
		t.Fatal(err)
	}
	half.server.TLSConfig = e.config
	lead, err := listen("127.0.0.1:0", e.wrap(e.redirectTo(half.addr())), m, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- half.run(ctx) }()
	go func() { done <- lead.run(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	return half.addr(), lead.addr(), e
}

// greet connects as a client that trusts some roots, and returns the connection and the serial number that it was
// greeted with.
func greet(t *testing.T, addr, name string, roots *x509.CertPool,
	change ...func(*tls.Config)) (*tls.Conn, int64, error) {
	t.Helper()
	config := &tls.Config{ServerName: name, RootCAs: roots}
	for _, f := range change {
		f(config)
	}
	conn, err := tls.Dial("tcp", addr, config)
	if err != nil {
		return nil, 0, err
	}
	t.Cleanup(func() { conn.Close() })
	return conn, conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

// said is what the server answers on a connection.
func said(t *testing.T, conn net.Conn) string {
	t.Helper()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: fleet.example.com\r\n\r\n")
	buffer := make([]byte, 4096)
	n, err := conn.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

func TestACertificateIsReadAgainAndABrokenOneChangesNothing(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	var log strings.Builder
	roots := pairFor(t, cert, key, 1, "fleet.example.com")
	addr, plain, e := secured(t, &encryptionSettings{TLSCert: cert, TLSKey: key}, dir,
		slog.New(slog.NewTextHandler(&log, nil)))
	first, serial, err := greet(t, addr, "fleet.example.com", roots)
	if err != nil || serial != 1 || !strings.HasSuffix(said(t, first), "true HTTP/1.1") {
		t.Fatalf("%d, %v", serial, err)
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if _, _, err := greet(t, addr, "fleet.example.com", roots, func(c *tls.Config) {
			c.MinVersion, c.MaxVersion = version, version
		}); err == nil {
			t.Errorf("it speaks %s", tls.VersionName(version))
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { e.watch(ctx); close(watched) }()
	newer := pairFor(t, cert, key, 2, "fleet.example.com")
	for end := time.Now().Add(time.Minute); serial != 2 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		_, serial, _ = greet(t, addr, "fleet.example.com", newer)
	}
	if serial != 2 || !strings.HasSuffix(said(t, first), "true HTTP/1.1") {
		t.Errorf("greeted with %d; the connection from before does not go on", serial)
	}
	stop()
	<-watched

	pairFor(t, filepath.Join(dir, "other"), key, 3, "fleet.example.com") // a key that is another certificate's
	files := &certificateFiles{cert: cert, key: key}
	if changed, err := files.load(); !changed || err == nil {
		t.Errorf("a key of another certificate is taken: %v", err)
	}
	broken, stopBroken := context.WithTimeout(t.Context(), certificateTurn+2*time.Second)
	defer stopBroken()
	e.watch(broken)
	if _, serial, err = greet(t, addr, "fleet.example.com", newer); err != nil || serial != 2 {
		t.Errorf("after a broken pair greeted with %d, %v", serial, err)
	}
	if !strings.Contains(log.String(), "a new certificate cannot be used") || strings.Contains(log.String(), "PRIVATE") {
		t.Errorf("logged %s", log.String())
	}

	for _, c := range []struct {
		method, host string
		status       int
	}{{"GET", "fleet.example.com", 301}, {"GET", "FLEET.example.com:80", 301}, {"POST", "fleet.example.com", 403},
		{"GET", "evil.example", 421}, {"GET", "", 421}, {"GET", "127.0.0.1", 421}} {
		conn, err := net.Dial("tcp", plain)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s /v1/vehicles?q=a%%0d%%0ab HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", c.method, c.host)
		text, _ := io.ReadAll(conn)
		conn.Close()
		_, port, _ := net.SplitHostPort(addr)
		if !strings.HasPrefix(string(text), fmt.Sprintf("HTTP/1.1 %d", c.status)) || c.status == 301 && !strings.Contains(
			strings.ToLower(string(text)), "\r\nlocation: https://fleet.example.com:"+port+"/v1/vehicles?q=a%0d%0ab\r\n") {
			t.Errorf("%s of %q: %s", c.method, c.host, text)
		}
	}
}

func TestHalfOfAPairIsRefusedInWords(t *testing.T) {
	for want, c := range map[string]encryptionSettings{
		"--tls-key is not":         {TLSCert: "a"},
		"--tls-cert is not":        {TLSKey: "a"},
		"exclude each other":       {TLSCert: "a", TLSKey: "b", ACMEDomains: []string{"fleet.example.com"}},
		"name the domains":         {ACMEEmail: "a@example.com"},
		"leads to HTTPS":           {HTTPRedirect: ":80"},
		`"*.example.com" is no`:    {ACMEDomains: []string{"*.example.com"}, ACMEDirectory: "https://acme.example"},
		`"127.0.0.1" is no name`:   {ACMEDomains: []string{"127.0.0.1"}, ACMEDirectory: "https://acme.example"},
		`"http://acme.example" is`: {ACMEDomains: []string{"fleet.example.com"}, ACMEDirectory: "http://acme.example"},
		"no such file":             {TLSCert: "/nowhere/cert.pem", TLSKey: "/nowhere/key.pem"},
	} {
		if _, err := newEncryption(&c, t.TempDir(), slog.New(slog.DiscardHandler)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	if e, err := newEncryption(&encryptionSettings{}, t.TempDir(), slog.New(slog.DiscardHandler)); e != nil || err != nil {
		t.Errorf("without a setting: %v, %v", e, err)
	}
}
