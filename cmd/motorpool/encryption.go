package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/time/rate"
)

// encryptionSettings say whether and how the interface is served by HTTPS.
type encryptionSettings struct {
	TLSCert       string   `name:"tls-cert" help:"PEM of the certificate that the interface is served with, and of those between it and its authority, by HTTPS. Read again when the file changes." type:"path" placeholder:"FILE"`
	TLSKey        string   `name:"tls-key" help:"PEM of its key." type:"path" placeholder:"FILE"`
	ACMEDomains   []string `name:"acme-domains" help:"Names that the interface is served under by HTTPS, with certificates that are asked for by ACME, and renewed. You agree to the terms of the authority that gives them." placeholder:"NAME"`
	ACMEEmail     string   `name:"acme-email" help:"Address to which that authority writes about them." placeholder:"ADDRESS"`
	ACMEDirectory string   `name:"acme-directory" help:"Where that authority is asked." default:"${acme_directory}" placeholder:"URL"`
	ACMECAFile    string   `name:"acme-ca-file" help:"PEM of who signed that authority's own certificate, instead of the system's, for one of your own." type:"path" placeholder:"FILE"`
	HTTPRedirect  string   `name:"http-redirect" help:"Address, such as :80, at which HTTP is answered with where HTTPS is, and with what ACME asks for." placeholder:"ADDRESS"`
}

// certificateTurn is how often files are looked at.
const certificateTurn = 3 * time.Second

// encryption gives the certificate that a client is greeted with.
type encryption struct {
	config   *tls.Config
	watch    func(ctx context.Context) // has what is greeted with be the newest, until ctx ends
	answers  func(host string) bool    // for which names there is a certificate
	wrap     func(http.Handler) http.Handler
	redirect *listener // of HTTP; nil if there is none
}

// Validate says what is missing, and what excludes what.
func (c *encryptionSettings) Validate() error {
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		return errors.New("--tls-cert is given and --tls-key is not: name the file of the certificate's key too")
	case c.TLSKey != "" && c.TLSCert == "":
		return errors.New("--tls-key is given and --tls-cert is not: name the file of the key's certificate too")
	case c.TLSCert != "" && len(c.ACMEDomains) > 0:
		return errors.New("--tls-cert and --acme-domains exclude each other: have a certificate of your own, or by ACME")
	case len(c.ACMEDomains) == 0 && (c.ACMEEmail != "" || c.ACMECAFile != ""):
		return errors.New("--acme-email and --acme-ca-file say how certificates are asked for, and none is: " +
			"name the domains by --acme-domains")
	case c.HTTPRedirect != "" && !c.enabled():
		return errors.New("--http-redirect leads to HTTPS, and there is none: give --tls-cert and --tls-key, " +
			"or --acme-domains")
	}
	for _, domain := range c.ACMEDomains {
		if net.ParseIP(domain) != nil || !strings.Contains(domain, ".") || strings.ContainsAny(domain, "*/: ") {
			return fmt.Errorf("--acme-domains: %q is no name of a host in public, such as fleet.example.com", domain)
		}
	}
	u, err := url.Parse(c.ACMEDirectory)
	if len(c.ACMEDomains) > 0 && (err != nil || u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("--acme-directory: %q is not the https:// address of a directory", c.ACMEDirectory)
	}
	return nil
}

func (c *encryptionSettings) enabled() bool { return c.TLSCert != "" || len(c.ACMEDomains) > 0 }

// newEncryption prepares HTTPS as the settings say; nil if they ask for none. What ACME gives is kept in data.
func newEncryption(c *encryptionSettings, data string, log *slog.Logger) (*encryption, error) {
	if err := c.Validate(); err != nil || !c.enabled() {
		return nil, err
	}
	if c.TLSCert != "" {
		return ownCertificate(c.TLSCert, c.TLSKey, log)
	}
	return acmeCertificates(c, data, log)
}

// safeTLS is what every listener takes at least. Ciphers and curves are those of the standard library.
func safeTLS(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get, NextProtos: []string{"http/1.1"}}
}

// certificateFiles are a certificate and its key, as they were when both were good last.
type certificateFiles struct {
	cert, key string
	log       *slog.Logger
	current   atomic.Pointer[tls.Certificate]
	read      []byte // of both, when they were looked at last; good or not
}

func ownCertificate(cert, key string, log *slog.Logger) (*encryption, error) {
	f := &certificateFiles{cert: cert, key: key, log: log}
	if _, err := f.load(); err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return &encryption{
		config: safeTLS(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.current.Load(), nil }),
		watch:  f.watch, wrap: func(h http.Handler) http.Handler { return h },
		answers: func(host string) bool { return f.current.Load().Leaf.VerifyHostname(host) == nil },
	}, nil
}

// load reads the files, and says whether they have changed. What is no pair leaves the one that was good.
func (f *certificateFiles) load() (changed bool, err error) {
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return false, err
	}
	key, err := os.ReadFile(f.key)
	if err != nil {
		return false, err
	}
	read := slices.Concat(cert, []byte{0}, key)
	if bytes.Equal(read, f.read) {
		return false, nil
	}
	f.read = read
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return true, fmt.Errorf("%s and %s are no certificate and its key: %w", f.cert, f.key, err)
	}
	f.current.Store(&pair)
	return true, nil
}

// watch looks at the files now and then. Connections that are open stay as they are.
func (f *certificateFiles) watch(ctx context.Context) {
	tell := rate.Sometimes{Interval: time.Minute}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(certificateTurn):
		}
		changed, err := f.load()
		switch {
		case err != nil && changed:
			f.log.WarnContext(ctx, "a new certificate cannot be used, and the one before stays", "error", err)
		case err != nil:
			tell.Do(func() {
				f.log.WarnContext(ctx, "the certificate cannot be read, and the one before stays", "error", err)
			})
		case changed:
			f.log.InfoContext(ctx, "a new certificate is used", "until", f.current.Load().Leaf.NotAfter)
		}
		if left := time.Until(f.current.Load().Leaf.NotAfter); left < 7*24*time.Hour {
			tell.Do(func() {
				f.log.WarnContext(ctx, "the certificate expires soon, or has: put a new one into its file",
					"file", f.cert, "until", f.current.Load().Leaf.NotAfter)
			})
		}
	}
}

func acmeCertificates(c *encryptionSettings, data string, log *slog.Logger) (*encryption, error) {
	client := &acme.Client{DirectoryURL: c.ACMEDirectory, UserAgent: "motorpool/" + version}
	if c.ACMECAFile != "" {
		text, err := os.ReadFile(c.ACMECAFile)
		if err != nil {
			return nil, fmt.Errorf("--acme-ca-file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--acme-ca-file: %s has no certificate in PEM", c.ACMECAFile)
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
		client.HTTPClient = &http.Client{Transport: transport}
	}
	manager := &autocert.Manager{
		Prompt: autocert.AcceptTOS, // as the help of --acme-domains says
		Cache:  autocert.DirCache(filepath.Join(data, "acme")), HostPolicy: autocert.HostWhitelist(c.ACMEDomains...),
		Email: c.ACMEEmail, Client: client,
	}
	names := make([]string, len(c.ACMEDomains))
	for i, name := range c.ACMEDomains {
		names[i] = strings.ToLower(name)
	}
	answers := func(host string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSuffix(host, "."))) }
	tell := rate.Sometimes{Interval: time.Minute}
	config := safeTLS(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		certificate, err := manager.GetCertificate(hello)
		if err != nil && answers(hello.ServerName) {
			tell.Do(func() {
				log.Warn("there is no certificate by ACME, and who asks for the name is turned away", "name", hello.ServerName,
					"error", err)
			})
		}
		return certificate, err
	})
	config.NextProtos = append(config.NextProtos, acme.ALPNProto)
	return &encryption{config: config, watch: func(context.Context) {}, answers: answers, wrap: manager.HTTPHandler}, nil
}

// redirectTo answers HTTP with where the same is by HTTPS, on the port of that listener, for the names that there is a
// certificate of: nobody is led elsewhere by a name that a client made up.
func (e *encryption) redirectTo(https string) http.Handler {
	_, port, _ := net.SplitHostPort(https)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Connection", "close")
		if !e.answers(host) {
			http.Error(w, "There is no such host here.", http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			// What it carried has crossed the network in plain; a redirect would hide that.
			http.Error(w, "Use HTTPS.", http.StatusForbidden)
			return
		}
		if port != "443" {
			host = net.JoinHostPort(host, port)
		}
		http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusMovedPermanently)
	})
}
