//go:build acme

package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var acmeTools = flag.String("tools", "", "folder of pebble and pebble-challtestsrv, as make acme installs them")

// startTool runs a program until the test ends.
func startTool(t *testing.T, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	tool := exec.Command(filepath.Join(*acmeTools, name), args...)
	tool.Env = append(os.Environ(), env...)
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = tool.Process.Kill()
		_ = tool.Wait()
	})
	return tool
}

// freePort is a port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	_, port, _ := net.SplitHostPort(socket.Addr().String())
	return port
}

// A real server of ACME, which proves the name by connecting to us.
func TestACertificateIsHadByACME(t *testing.T) {
	dir := t.TempDir()
	cert, key, data := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key"), filepath.Join(dir, "data")
	pairFor(t, cert, key, 1, "localhost")
	directory, management, dns := freePort(t), freePort(t), freePort(t)
	var log strings.Builder
	settings := &encryptionSettings{ACMEDomains: []string{"fleet.example.com"}, ACMEEmail: "fleet@example.com",
		ACMEDirectory: "https://localhost:" + directory + "/dir", ACMECAFile: cert}
	https, plain, _ := secured(t, settings, data, slog.New(slog.NewTextHandler(&log, nil)))
	_, httpsPort, _ := net.SplitHostPort(https)
	_, plainPort, _ := net.SplitHostPort(plain)
	config := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"pebble":{"listenAddress":"127.0.0.1:%s","managementListenAddress":"127.0.0.1:%s",
		"certificate":%q,"privateKey":%q,"httpPort":%s,"tlsPort":%s}}`, directory, management, cert, key, plainPort,
		httpsPort), 0o600); err != nil {
		t.Fatal(err)
	}
	startTool(t, nil, "pebble-challtestsrv", "-dnsserver", "127.0.0.1:"+dns, "-http01", "", "-https01", "", "-tlsalpn01",
		"", "-doh", "", "-defaultIPv6", "", "-defaultIPv4", "127.0.0.1", "-management", "127.0.0.1:"+freePort(t))
	pebble := startTool(t, []string{"PEBBLE_VA_NOSLEEP=1"}, "pebble", "-config", config, "-dnsserver", "127.0.0.1:"+dns)

	// A failure is remembered for a minute.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+directory); err == nil {
			conn.Close()
			break
		}
	}
	trusting := func(c *tls.Config) { c.InsecureSkipVerify = true } // its authority is made anew at each start
	var conn *tls.Conn
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		if conn, _, err = greet(t, https, "fleet.example.com", nil, trusting); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("no certificate: %v\n%s", err, log.String())
	}
	leaf := conn.ConnectionState().PeerCertificates[0]
	if !strings.Contains(leaf.Issuer.CommonName, "Pebble") || leaf.VerifyHostname("fleet.example.com") != nil ||
		!strings.HasSuffix(said(t, conn), "true HTTP/1.1") {
		t.Errorf("the certificate is of %s for %v", leaf.Issuer, leaf.DNSNames)
	}
	if _, _, err := greet(t, https, "evil.example", nil, trusting); err == nil {
		t.Error("a name that nobody gave is asked a certificate for")
	}
	files := 0
	if err := filepath.WalkDir(filepath.Join(data, "acme"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if d.IsDir() && info.Mode().Perm() != 0o700 || !d.IsDir() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read by others: %v", path, info.Mode())
		}
		files++
		return err
	}); err != nil || files < 3 {
		t.Errorf("%d files and folders of ACME, %v", files, err)
	}

	// A restart finds what there is, and asks nobody.
	if err := pebble.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	again, _, _ := secured(t, settings, data, slog.New(slog.DiscardHandler))
	second, _, err := greet(t, again, "fleet.example.com", nil, trusting)
	if err != nil || second.ConnectionState().PeerCertificates[0].SerialNumber.Cmp(leaf.SerialNumber) != 0 {
		t.Errorf("after a restart without a server of ACME: %v", err)
	}
}
