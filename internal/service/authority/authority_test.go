package authority_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/authority"
)

func Example() {
	dir, err := os.MkdirTemp("", "authority")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	now := time.Now()
	ca, err := authority.Create(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key"), "clinic", now, 24*time.Hour)
	if err != nil {
		panic(err)
	}
	key, err := authority.NewKey()
	if err != nil {
		panic(err)
	}
	request, err := authority.Request(key)
	if err != nil {
		panic(err)
	}
	c, err := ca.Issue(request, authority.Subject{Role: "device", Name: "7f"}, now, time.Hour)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Subject.OrganizationalUnit[0], c.Subject.CommonName, c.Issuer.CommonName)
	// Output: device 7f clinic
}

func make2(t testing.TB) (*authority.Authority, string) {
	t.Helper()
	dir := t.TempDir()
	ca, err := authority.Create(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key"), "test", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return ca, dir
}

func request(t testing.TB, key any, r x509.CertificateRequest) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &r, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func p256(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestRequestsThatAreRefused(t *testing.T) {
	ca, _ := make2(t)
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := p256(t)
	good := request(t, key, x509.CertificateRequest{})
	if _, err := authority.CheckRequest(good); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	stolen := bytes.Clone(good) // another's key under this signature
	mine, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := p256(t).PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	stolen = bytes.Replace(stolen, mine, theirs, 1)
	for name, der := range map[string][]byte{
		"empty": nil, "RSA": request(t, weak, x509.CertificateRequest{}), "P-384": request(t, other, x509.CertificateRequest{}),
		"a host": request(t, key, x509.CertificateRequest{DNSNames: []string{"server"}}),
		"wants to be an authority": request(t, key, x509.CertificateRequest{ExtraExtensions: []pkix.Extension{
			{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Value: []byte{0x30, 3, 1, 1, 0xff}}}}),
		"SHA-512":   request(t, key, x509.CertificateRequest{SignatureAlgorithm: x509.ECDSAWithSHA512}),
		"signature": flipped, "another's key": stolen, "more behind it": append(bytes.Clone(good), 0),
		"long": request(t, key, x509.CertificateRequest{Subject: pkix.Name{CommonName: string(make([]byte, 2000))}}),
	} {
		if c, err := ca.Issue(der, authority.Subject{Role: "device", Name: "x"}, time.Now(), time.Hour); !errors.Is(err, authority.ErrRequest) || c != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARequestChoosesNothing but its key: whatever name it has, the certificate has
// the authority's.
func TestARequestChoosesNothing(t *testing.T) {
	ca, _ := make2(t)
	key := p256(t)
	now := time.Now().Truncate(time.Second)
	c, err := ca.Issue(request(t, key, x509.CertificateRequest{Subject: pkix.Name{CommonName: "boss", OrganizationalUnit: []string{"operator"}}}),
		authority.Subject{Role: "device", Name: "7f"}, now, 30*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if c.Subject.CommonName != "7f" || len(c.Subject.OrganizationalUnit) != 1 || c.Subject.OrganizationalUnit[0] != "device" || c.IsCA || len(c.DNSNames) > 0 {
		t.Errorf("issued %v", c.Subject)
	}
	if c.KeyUsage != x509.KeyUsageDigitalSignature || len(c.ExtKeyUsage) != 1 || c.ExtKeyUsage[0] != x509.ExtKeyUsageClientAuth {
		t.Errorf("for %v %v", c.KeyUsage, c.ExtKeyUsage)
	}
	if !c.PublicKey.(*ecdsa.PublicKey).Equal(&key.PublicKey) {
		t.Error("for another key")
	}
	if !c.NotAfter.Equal(ca.Certificate().NotAfter) {
		t.Errorf("good until %v, and the authority until %v", c.NotAfter, ca.Certificate().NotAfter)
	}
}

// TestOpenSSLAgrees that the chain is one, and for whom.
func TestOpenSSLAgrees(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("NOT TESTED WITH OPENSSL: there is none")
	}
	ca, dir := make2(t)
	for _, c := range []struct {
		purpose string
		hosts   []string
	}{{"sslclient", nil}, {"sslserver", []string{"localhost", "127.0.0.1"}}} {
		cert, err := ca.Issue(request(t, p256(t), x509.CertificateRequest{}), authority.Subject{Role: "r", Name: "n", Hosts: c.hosts}, time.Now(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.purpose)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, purpose := range []string{"sslclient", "sslserver"} {
			out, err := exec.Command(openssl, "verify", "-x509_strict", "-purpose", purpose, "-CAfile", filepath.Join(dir, "ca.pem"), path).CombinedOutput()
			if (err == nil) != (purpose == c.purpose) {
				t.Errorf("%s as %s: %s", c.purpose, purpose, out)
			}
		}
	}
}

func TestFilesOfAnAuthority(t *testing.T) {
	ca, dir := make2(t)
	cert, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key")
	again, err := authority.Open(cert, key)
	if err != nil || !again.Certificate().Equal(ca.Certificate()) {
		t.Errorf("opened %v", err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v %v", info.Mode(), err)
	}
	if _, err := authority.Create(cert, key, "test", time.Now(), time.Hour); err == nil {
		t.Error("an authority was written over another")
	}
	_, elsewhere := make2(t)
	for name, files := range map[string][2]string{
		"another's key": {cert, filepath.Join(elsewhere, "ca.key")}, "no file": {cert, filepath.Join(dir, "absent")},
		"a certificate for a key": {cert, cert}, "a key for a certificate": {key, key},
	} {
		if _, err := authority.Open(files[0], files[1]); !errors.Is(err, authority.ErrFiles) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCheckRequest(f *testing.F) {
	key, err := authority.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request(f, key, x509.CertificateRequest{}))
	f.Add(request(f, key, x509.CertificateRequest{DNSNames: []string{"x"}}))
	f.Fuzz(func(t *testing.T, der []byte) {
		public, err := authority.CheckRequest(der)
		if (err == nil) != (public != nil) || err != nil && !errors.Is(err, authority.ErrRequest) {
			t.Errorf("%v, %v", public, err)
		}
		if public != nil && public.Curve != elliptic.P256() {
			t.Error("another curve")
		}
	})
}

// TestIssuedKnowsItsOwn, whenever they end, and those of roots that overlap.
func TestIssuedKnowsItsOwn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	now := time.Now()
	fresh := func(name string) *authority.Authority {
		a, err := authority.Create(at(name+".pem"), at(name+".key"), "same name", now, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	earlier, mine, foreign := fresh("earlier"), fresh("mine"), fresh("foreign")
	if err := authority.WriteCertificates(at("both.pem"), mine.Certificate().Raw, earlier.Certificate().Raw); err != nil {
		t.Fatal(err)
	}
	both, err := authority.Open(at("both.pem"), at("mine.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	csr, err := authority.Request(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		by   *authority.Authority
		want error
	}{"its own": {mine, nil}, "an earlier one's": {earlier, nil}, "a foreign one's": {foreign, authority.ErrRequest}} {
		cert, err := c.by.Issue(csr, authority.Subject{Role: "device", Name: "d"}, now.Add(-1000*time.Hour), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := both.Issued(cert.Raw); !errors.Is(err, c.want) || err == nil && !got.Equal(cert) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, der := range map[string][]byte{"an authority": mine.Certificate().Raw, "nothing": nil, "a request": csr} {
		if _, err := both.Issued(der); !errors.Is(err, authority.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
