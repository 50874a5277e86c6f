package apitest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificate is one that an authority of its own has signed, as files in PEM.
type Certificate struct{ File, Key, Authority string }

// MakeCertificate makes one for names and addresses that is valid until a time.
func MakeCertificate(t testing.TB, until time.Time, names ...string) Certificate {
	t.Helper()
	folder := t.TempDir()
	c := Certificate{File: filepath.Join(folder, "certificate.pem"), Key: filepath.Join(folder, "key.pem"),
		Authority: filepath.Join(folder, "authority.pem")}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "An authority of a test"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "A relay of a test"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	rootKey, leafKey := newKey(t), newKey(t)
	write(t, c.Authority, "CERTIFICATE", sign(t, root, root, rootKey, rootKey))
	write(t, c.File, "CERTIFICATE", sign(t, leaf, root, leafKey, rootKey))
	key, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.Key, "PRIVATE KEY", key)
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, one, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	text, err := x509.CreateCertificate(rand.Reader, one, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t testing.TB, file, kind string, content []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Trusting asks servers over TLS that have a certificate of one authority.
func Trusting(t testing.TB, c Certificate) *http.Client {
	t.Helper()
	text, err := os.ReadFile(c.Authority)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
