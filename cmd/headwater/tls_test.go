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

// certificates makes a CA and a certificate of it for the loopback, as files.
func certificates(t *testing.T) tlsConfig {
	t.Helper()
	dir := t.TempDir()
	issue := func(name string, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			parent, signer = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
			if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return c, key
	}
	now := time.Now()
	ca, key := issue("ca", &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	issue("node", &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, ca, key)
	return tlsConfig{Cert: filepath.Join(dir, "node.pem"), Key: filepath.Join(dir, "node.key"), CA: filepath.Join(dir, "ca.pem")}
}

// Between regions and gateways both sides show certificates; people need none,
// and are not let in where regions and gateways are.
func TestRegionsAndGatewaysShowCertificates(t *testing.T) {
	secure := certificates(t)
	c := defaultConfig()
	c.asRegion, c.Region, c.Listen, c.Data, c.MinFree, c.TLS = true, "eu", "127.0.0.1:0", t.TempDir(), -1, secure
	region, err := open(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	at := startForTest(t, region.run)
	url, _ := gatewayForTest(t, func(c *gatewayConfig) { c.TLS = secure })
	pool := x509.NewCertPool()
	pem, err := os.ReadFile(secure.CA)
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		t.Fatal(err)
	}
	person := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	t.Cleanup(person.CloseIdleConnections)
	post := func(address, body string) (int, string) {
		t.Helper()
		res, err := person.Post(address, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	_, event := killEvent(1)
	if status, body := post(at+"/api/v1/lineage?wait=applied", event); status != http.StatusCreated {
		t.Fatalf("a person's event: %d %s", status, body)
	}
	if status, body := post(url+"/graphql", `{"query": "mutation { setRegion(name: \"eu\", addresses: [\"`+strings.TrimPrefix(at, "https://")+`\"]) { changed } }"}`); !strings.Contains(body, `"changed":true`) {
		t.Fatalf("a region is put in: %d %s", status, body)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for answer := ""; !strings.Contains(answer, `"t2"`); {
		if ctx.Err() != nil {
			t.Fatalf("the gateway does not answer over the region: %s", answer)
		}
		_, answer = post(url+"/graphql", `{"query": "{ lineage(of: {namespace: \"db\", name: \"hub\"}, direction: DOWNSTREAM) { nodes { node { name } } } }"}`)
	}
	for _, address := range []string{at + "/internal/region/v1/status", at + "/internal/region/v1/bus/follow", url + "/internal/catalog"} {
		if status, body := post(address, "{}"); status != http.StatusUnauthorized || !strings.Contains(body, "certificate") {
			t.Errorf("%s without a certificate: %d %s", address, status, body)
		}
	}
}

func TestCertificatesAreReadAgain(t *testing.T) {
	first, second := certificates(t), certificates(t)
	server, _, err := first.both()
	if err != nil {
		t.Fatal(err)
	}
	one, err := server.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{second.Key: first.Key, second.Cert: first.Cert} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(first.Cert, later, later); err != nil {
		t.Fatal(err)
	}
	two, err := server.GetCertificate(nil)
	if err != nil || string(two.Certificate[0]) == string(one.Certificate[0]) {
		t.Errorf("the certificate is the old one, %v", err)
	}
}
