package llm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"homeagent/agent/provider"
	"homeagent/tools/fakellm"
)

// authority signs certificates for test servers.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

// server is the fake model behind TLS, with a certificate for that time and address.
func (a authority) server(t *testing.T, ip string, from, to time.Time) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test server"}, IPAddresses: []net.IP{net.ParseIP(ip)},
		NotBefore: from, NotAfter: to, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	fake := fakellm.New(fakellm.Say("ok"))
	fake.Key = key
	srv := httptest.NewUnstartedServer(fake)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestUnreachable(t *testing.T) {
	trusted, stranger := newAuthority(t), newAuthority(t)
	date := func(y int) time.Time { return time.Date(y, 5, 6, 7, 8, 0, 0, time.UTC) }
	now := date(2026)
	fine := trusted.server(t, "127.0.0.1", date(2025), date(2027))
	ended := trusted.server(t, "127.0.0.1", date(2020), date(2021))
	unknown := stranger.server(t, "127.0.0.1", date(2025), date(2027))
	other := trusted.server(t, "192.0.2.1", date(2025), date(2027))
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	tests := []struct {
		name, url string
		now       time.Time
		key       string
		clock     bool
		kind      provider.Kind
		zh, en    []string
	}{
		{name: "clock in 1970", url: fine, now: time.Unix(60, 0).UTC(), clock: true,
			zh: []string{"时钟多半不对", "1970-01-01 00:01", "2025-05-06", "对时"}, en: []string{"clock is probably wrong", "1970-01-01 00:01", "begins on 2025-05-06", "sets its clock"}},
		{name: "clock in 2019", url: fine, now: date(2019), clock: true,
			zh: []string{"时钟多半不对", "2019-05-06 07:08"}, en: []string{"clock is probably wrong", "2019-05-06 07:08"}},
		{name: "clock far ahead", url: fine, now: date(2050), clock: true,
			zh: []string{"2050-05-06", "到 2027-05-06 为止"}, en: []string{"it says 2050-05-06 07:08", "ended on 2027-05-06"}},
		{name: "a certificate that has run out", url: ended, now: now, clock: true,
			zh: []string{"服务器的证书过期"}, en: []string{"certificate has run out: tell whoever runs it"}},
		{name: "clock in 1970 and an unknown authority", url: unknown, now: time.Unix(0, 0).UTC(), clock: true,
			zh: []string{"时钟多半不对"}, en: []string{"clock is probably wrong"}},
		{name: "unknown authority", url: unknown, now: now, zh: []string{"不是可信的机构"}, en: []string{"nobody I trust"}},
		{name: "another host's certificate", url: other, now: now, zh: []string{"拿不出"}, en: []string{"has no certificate for 127.0.0.1"}},
		{name: "no TLS there", url: strings.Replace(plain.URL, "http:", "https:", 1), now: now, zh: []string{"http://"}, en: []string{"begin with http://"}},
		{name: "no such host", url: "https://nowhere.invalid", now: now, zh: []string{"nowhere.invalid"}, en: []string{"nowhere.invalid", "Check"}},
		{name: "refused", url: closed.URL, now: now, zh: []string{"没有程序在听"}, en: []string{"Nothing listens at 127.0.0.1:"}},
		{name: "wrong key", url: fine, now: now, key: "sk-wrong-wrong-wrong", kind: provider.Auth},
		{name: "all well", url: fine, now: now, kind: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(Config{Kind: "openai", BaseURL: tt.url, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			if tt.key != "" {
				c.cfg.Key = tt.key
			}
			c.now = func() time.Time { return tt.now }
			roots := x509.NewCertPool()
			roots.AddCert(trusted.cert)
			c.http.Transport.(*http.Transport).TLSClientConfig.RootCAs = roots
			_, err = c.Chat(t.Context(), ask("hello"))
			if tt.en == nil && tt.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *provider.Error
			if !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			var u *Unreachable
			if tt.en == nil {
				if e.Kind != tt.kind || errors.As(err, &u) {
					t.Errorf("%v", err)
				}
				return
			}
			if e.Kind != provider.Network || !errors.As(err, &u) {
				t.Fatalf("no words for %v", err)
			}
			if u.Clock != tt.clock || strings.Contains(u.In("en"), "clock is") != tt.clock {
				t.Errorf("clock %t: %s", u.Clock, u.In("en"))
			}
			for _, part := range tt.zh {
				if !strings.Contains(u.In("zh"), part) {
					t.Errorf("no %q in %s", part, u.In("zh"))
				}
			}
			for _, part := range tt.en {
				if !strings.Contains(u.In("en"), part) || !strings.Contains(e.Error(), part) {
					t.Errorf("no %q in %s", part, e)
				}
			}
		})
	}
}
