package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"headwater/ingest/source"
)

// A tlsConfig is what a server shows, and what it believes.
type tlsConfig struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// CA is who vouches for regions and gateways.
	CA string `yaml:"ca"`
}

func (c *tlsConfig) settings() []setting {
	return []setting{
		{"tls-cert", "PEM `file` of the certificate that is shown, to clients and to regions and gateways; it is read again when it changes", (*text)(&c.Cert)},
		{"tls-key", "PEM `file` of its key", (*text)(&c.Key)},
		{"tls-ca", "PEM `file` of who vouches for regions and gateways: they have to show a certificate of theirs", (*text)(&c.CA)},
	}
}

func (c *tlsConfig) check() error {
	if (c.Cert == "") != (c.Key == "") || c.CA != "" && c.Cert == "" {
		return errors.New("tls: a certificate and its key are needed, and with them ca where regions and gateways show theirs")
	}
	return nil
}

// both returns what a server listens with and what it asks others with; nil is
// without TLS.
func (c *tlsConfig) both() (server, client *tls.Config, err error) {
	if c.Cert == "" {
		return nil, nil, nil
	}
	p := &keyPair{cert: c.Cert, key: c.Key}
	if _, err := p.get(); err != nil {
		return nil, nil, fmt.Errorf("tls: %w", err)
	}
	server = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.get() }}
	client = &tls.Config{MinVersion: tls.VersionTLS12, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return p.get() }}
	if c.CA != "" {
		b, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, nil, fmt.Errorf("tls: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(b) {
			return nil, nil, fmt.Errorf("tls: there is no certificate in %s", c.CA)
		}
		// People need none; forCluster asks regions and gateways for theirs.
		server.ClientCAs, server.ClientAuth = pool, tls.VerifyClientCertIfGiven
		client.RootCAs = pool
	}
	return server, client, nil
}

// each returns what both sides of a connection between gateways use.
func each(server, client *tls.Config) *tls.Config {
	if server == nil {
		return nil
	}
	c := server.Clone()
	c.GetClientCertificate, c.RootCAs = client.GetClientCertificate, client.RootCAs
	if c.ClientCAs != nil {
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c
}

// A keyPair is a certificate that is read again when its file changes.
type keyPair struct {
	cert, key string

	mu   sync.Mutex // guards both below
	at   time.Time
	have *tls.Certificate
}

func (p *keyPair) get() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st, err := os.Stat(p.cert)
	switch {
	case err == nil && p.have != nil && st.ModTime().Equal(p.at):
		return p.have, nil
	case err == nil:
		var c tls.Certificate
		if c, err = tls.LoadX509KeyPair(p.cert, p.key); err == nil {
			p.have, p.at = &c, st.ModTime()
			return p.have, nil
		}
	}
	if p.have != nil {
		return p.have, nil // it is being replaced, and will be whole soon
	}
	return nil, err
}

// forCluster lets those through who show the token of the cluster and, where
// certificates are asked for, one.
func forCluster(token string, secure *tls.Config, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case secure != nil && secure.ClientCAs != nil && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0):
			http.Error(w, "regions and gateways show a certificate here", http.StatusUnauthorized)
		case !source.HasToken(r, token):
			http.Error(w, "regions and gateways show Authorization: Bearer TOKEN, that of the cluster", http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// scheme is that of the URLs of a server.
func scheme(secure *tls.Config) string {
	if secure == nil {
		return "http://"
	}
	return "https://"
}

// listenOn serves on a listener until the server is shut down.
func listenOn(s *http.Server, ln net.Listener) error {
	serve := s.Serve
	if s.TLSConfig != nil {
		serve = func(ln net.Listener) error { return s.ServeTLS(ln, "", "") }
	}
	if err := serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
