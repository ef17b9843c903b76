package catalog

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// mutualTLS returns a configuration in which both sides show a certificate of
// one authority.
func mutualTLS(t *testing.T) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gateway"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// TestGatewaysOverTLS runs three on the machine's own network, clock and disk.
func TestGatewaysOverTLS(t *testing.T) {
	c := &cluster{t: t, dir: t.TempDir(), nodes: map[string]*Replica{}, side: map[string]int{}}
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("g", i+1)
		c.peers = append(c.peers, Peer{name, l.Addr().String(), "https://" + name})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	secure := mutualTLS(t)
	for _, p := range c.peers {
		r, err := Open(Options{Self: p, First: c.peers, Dir: filepath.Join(c.dir, p.Name), TLS: secure, Forwarder: forwarder{c, p.Name}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[p.Name] = r
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range 20 {
		if _, err := c.node(fmt.Sprint("g", i%3+1)).Change(ctx, notice(fmt.Sprint("n", i))); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if _, err := c.node(c.followers()[0]).Change(ctx, notice("one")); err != nil {
		t.Fatal(err)
	}
	t.Logf("a change at a follower took %v", time.Since(began))
	if conn, err := tls.Dial("tcp", c.peers[0].Address, &tls.Config{RootCAs: secure.RootCAs}); err == nil {
		if _, err = conn.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger without a certificate is heard")
		}
		conn.Close()
	}
	old, _ := c.leader()
	c.kill(old)
	_, took := c.leader()
	t.Logf("a new leader after %v", took)
	if took >= limit {
		t.Errorf("a new leader after %v", took)
	}
	if _, err := c.node(c.names()[0]).Change(ctx, notice("two")); err != nil {
		t.Fatal(err)
	}
	c.same()
}
