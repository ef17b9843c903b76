package rpc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"headwater/graph"
)

// certificate returns a certificate that is its own authority, and a pool with
// it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
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
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestTLSBothWays(t *testing.T) {
	node, nodes := certificate(t)
	gateway, gateways := certificate(t)
	stranger, _ := certificate(t)
	var proto string
	h := newHandler(t, HandlerOptions{Reader: of(&fake{})})
	seen := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto = r.Proto
		h.ServeHTTP(w, r)
	})
	one := listen(t, seen, &tls.Config{Certificates: []tls.Certificate{node}})
	both := listen(t, seen, &tls.Config{Certificates: []tls.Certificate{node}, ClientCAs: gateways, ClientAuth: tls.RequireAndVerifyClientCert})
	for _, tc := range []struct {
		name, address string
		config        *tls.Config
		ok            bool
	}{
		{"of the node alone", one, &tls.Config{RootCAs: nodes}, true},
		{"of the node, which the gateway does not trust", one, &tls.Config{RootCAs: gateways}, false},
		{"not at all", one, nil, false},
		{"of both", both, &tls.Config{RootCAs: nodes, Certificates: []tls.Certificate{gateway}}, true},
		{"of both, but the gateway shows none", both, &tls.Config{RootCAs: nodes}, false},
		{"of both, but the gateway shows a stranger's", both, &tls.Config{RootCAs: nodes, Certificates: []tls.Certificate{stranger}}, false},
	} {
		proto = ""
		_, err := open(t, newClient(t, ClientOptions{TLS: tc.config}, tc.address)).Resolve(soon(t), graph.ID{})
		if tc.ok && (err != nil || proto != "HTTP/1.1") || !tc.ok && (!errors.Is(err, graph.ErrUnavailable) || proto != "") {
			t.Errorf("certificate %s: %v over %q", tc.name, err, proto)
		}
	}
	proto = ""
	resolve(t, open(t, newClient(t, ClientOptions{}, listen(t, seen, nil))), nil)
	if proto != "HTTP/1.1" {
		t.Errorf("without TLS it is %q, want HTTP/1.1", proto)
	}
}

func TestTokenIsWanted(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{}), Token: "secret"})
	address := listen(t, h, nil)
	resolve(t, open(t, newClient(t, ClientOptions{Token: "secret"}, address)), nil)
	for _, token := range []string{"", "secre", "secret1"} {
		_, err := open(t, newClient(t, ClientOptions{Token: token}, address)).Resolve(soon(t), graph.ID{})
		if !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), "401 Unauthorized: this region wants Authorization") {
			t.Errorf("token %q: %v, want 401", token, err)
		}
	}
}

func TestAnotherFormatIsRefusedWithBothNamed(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{})})
	older := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(headerFormat, "0.9")
		h.ServeHTTP(w, r)
	}), nil)
	newer := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(headerFormat, "7.7")
	}), nil)
	for address, want := range map[string]string{
		older: `400 Bad Request: the question is of format "0.9", and region "eu" answers format "2.3"`,
		newer: `the answer is of format "7.7", and this gateway reads format "2.3"`,
	} {
		_, err := open(t, newClient(t, ClientOptions{}, address)).Resolve(soon(t), graph.ID{})
		if !errors.Is(err, graph.ErrUnavailable) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAQuestionForAnotherRegionIsRefused(t *testing.T) {
	c, _ := connect(t, HandlerOptions{Reader: of(&fake{})})
	c.o.Region = "us"
	_, err1 := open(t, c).Resolve(soon(t), graph.ID{})
	_, err2 := c.Status(soon(t))
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), `this is region "eu" and not "us"`) {
			t.Errorf("%v, want that this is another region", err)
		}
	}
}

func TestWhatIsNoQuestionIsRefused(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{})})
	for _, tc := range []struct {
		method, path string
		want         int
	}{
		{"GET", Prefix + "leg", http.StatusMethodNotAllowed}, {"POST", Prefix + "legs", http.StatusNotFound}, {"POST", "/leg", http.StatusNotFound},
		{"POST", Prefix + "leg", http.StatusBadRequest}, // no format
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.want {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, w.Code, tc.want)
		}
	}
}
