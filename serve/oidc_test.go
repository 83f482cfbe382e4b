package serve_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve"
)

const listDatasets = "/discreet.curator.v1.CuratorService/ListDatasets"

// A token of the issuer identifies the person that its claim names, and one that is wrong
// in any respect identifies nobody.
func TestATokenOfTheIssuerIdentifiesAPerson(t *testing.T) {
	h, a := issued(t)
	for name, token := range map[string]string{
		"a good one":             a.sign(a.claims("ann", nil)),
		"one of many audiences":  a.sign(a.claims("ann", map[string]any{"aud": []string{"other", client}})),
		"one of no further name": a.sign(a.claims("ann", map[string]any{"sub": nil})),
	} {
		if status, text := h.post(token, listDatasets, "{}"); status != http.StatusOK || !strings.Contains(text, `"role":"analyst"`) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, _ := h.post(h.tokens["ann"], listDatasets, "{}"); status != http.StatusOK {
		t.Errorf("the service's own token: %d", status)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&a.key.PublicKey)})
	der, err := x509.MarshalPKIXPublicKey(&a.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	hs := func(key []byte) string {
		text := a.body("HS256", a.kid, a.claims("ann", nil))
		m := hmac.New(sha256.New, key)
		m.Write([]byte(text))
		return text + "." + b64(m.Sum(nil))
	}
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := strings.Split(a.sign(a.claims("ann", nil)), ".")
	other := strings.Split(a.sign(a.claims("stella", nil)), ".")
	now := time.Now().Unix()
	for name, token := range map[string]string{
		"another audience":        a.sign(a.claims("ann", map[string]any{"aud": "shop"})),
		"no audience":             a.sign(a.claims("ann", map[string]any{"aud": nil})),
		"expired":                 a.sign(a.claims("ann", map[string]any{"exp": now - 1})),
		"no end":                  a.sign(a.claims("ann", map[string]any{"exp": nil})),
		"of tomorrow":             a.sign(a.claims("ann", map[string]any{"nbf": now + 86400, "exp": now + 90000})),
		"another issuer":          a.sign(a.claims("ann", map[string]any{"iss": "https://login.example.org"})),
		"the issuer with a slash": a.sign(a.claims("ann", map[string]any{"iss": a.URL + "/"})),
		"no algorithm":            a.body("none", a.kid, a.claims("ann", nil)) + ".",
		"no algorithm, signed":    a.body("none", a.kid, a.claims("ann", nil)) + "." + good[2],
		"HS256 by the PEM":        hs(public),
		"HS256 by the SPKI PEM":   hs(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"HS256 by the modulus":    hs(a.key.N.Bytes()),
		"a stranger's key":        a.signBy(stranger, a.kid, a.claims("ann", nil)),
		"a stranger's key, named": a.signBy(stranger, "mine", a.claims("ann", nil)),
		"no signature":            good[0] + "." + good[1] + ".",
		"another's claims":        good[0] + "." + other[1] + "." + good[2],
		"nobody of the service":   a.sign(a.claims("mallory", nil)),
		"no name":                 a.sign(a.claims("ann", map[string]any{"preferred_username": nil})),
		"a list of names":         a.sign(a.claims("ann", map[string]any{"preferred_username": []string{"ann"}})),
		"a name in capitals":      a.sign(a.claims("Ann", nil)),
		"a name with a space":     a.sign(a.claims("ann ", nil)),
		"a name with a line":      a.sign(a.claims("ann\n", nil)),
		"an address":              a.sign(a.claims("ann@example.org", nil)),
		"a name as sub":           a.sign(a.claims("x y", map[string]any{"sub": "ann"})),
		"no token":                "eyJhbGciOiJub25lIn0",
		"a long one":              a.sign(a.claims("ann", map[string]any{"more": strings.Repeat("x", 4600)})),
	} {
		if status, text := h.post(token, listDatasets, "{}"); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s; want 401", name, status, text)
		}
	}
}

// When the issuer changes its key, tokens of the new one are good at once, and those of
// the old one are good until the keys are read again. Tokens of unknown keys do not have
// the keys read for each of them.
func TestKeysChange(t *testing.T) {
	from := time.Now() // every reading counts, from the service's start
	h, a := issued(t)
	before := a.sign(a.claims("ann", nil))
	if status, _ := h.post(before, listDatasets, "{}"); status != http.StatusOK {
		t.Fatalf("before: %d", status)
	}
	a.rotate()
	if status, _ := h.post(a.sign(a.claims("ann", nil)), listDatasets, "{}"); status != http.StatusOK {
		t.Errorf("a token of the new key: %d", status)
	}
	if status, _ := h.post(before, listDatasets, "{}"); status != http.StatusUnauthorized {
		t.Errorf("a token of the old key: %d; want 401", status)
	}
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if status, _ := h.post(a.signBy(stranger, fmt.Sprint(i), a.claims("ann", nil)), listDatasets, "{}"); status != http.StatusUnauthorized {
			t.Errorf("a stranger's token: %d", status)
		}
	}
	a.mu.Lock()
	fetch := a.fetch
	a.mu.Unlock()
	if most := 10 + int(time.Since(from)/time.Second) + 1; fetch > most && most < 100 {
		t.Errorf("the keys were read %d times; want at most %d", fetch, most)
	}
	if status, _ := h.post(a.sign(a.claims("ann", nil)), listDatasets, "{}"); status != http.StatusOK {
		t.Errorf("a token of the known key, after all these: %d", status)
	}
}

// stops has a browser stay at each redirection.
func (b *browser) stops() *browser {
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

func (b *browser) follow(to string) (int, string, http.Header) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, to, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

// Through the issuer a person signs in to the pages; what was not begun in the same
// browser, or was used, or is for another attempt, signs nobody in.
func TestSigningInByTheIssuer(t *testing.T) {
	h, a := issued(t)
	// begun is a browser at the point where the issuer sends it back.
	begun := func() (b *browser, back string) {
		b = h.browser().stops()
		status, _, header := b.get("/signin/issuer")
		if status != http.StatusSeeOther {
			t.Fatalf("to the issuer: %d", status)
		}
		status, _, header = b.follow(header.Get("Location"))
		if status != http.StatusFound {
			t.Fatalf("the issuer refuses the request: %d", status)
		}
		return b, header.Get("Location")
	}
	if _, text, _ := h.browser().get("/"); !strings.Contains(text, `href="/signin/issuer"`) {
		t.Error("the page does not lead to the issuer")
	}
	b, back := begun()
	status, text, header := b.follow(back)
	if status != http.StatusOK || !strings.Contains(text, "signed in as ann") {
		t.Fatalf("back: %d %s", status, text)
	}
	for _, k := range (&http.Response{Header: header}).Cookies() {
		if k.Name == "discreet_session" && (!k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.MaxAge != 3600) {
			t.Errorf("the session's cookie is %v", k)
		}
	}
	if status, text, _ := b.get("/"); status != http.StatusOK || !strings.Contains(text, "<h1>Datasets</h1>") {
		t.Errorf("the pages: %d", status)
	}
	refused := func(name string, b *browser, back string) {
		t.Helper()
		if status, _, _ := b.follow(back); status != http.StatusUnauthorized {
			t.Errorf("%s: %d; want 401", name, status)
		}
		if status, _, _ := b.get("/"); status != http.StatusUnauthorized {
			t.Errorf("%s: the pages: %d; want 401", name, status)
		}
	}
	_, back = begun()
	refused("another browser", h.browser().stops(), back)
	other, theirs := begun()
	_, mine := begun()
	refused("another's state", other, mine)
	refused("the attempt after one that failed", other, theirs)
	b, back = begun()
	refused("another code", b, strings.Replace(back, "code=", "code=x", 1))
	// Another's code with one's own state: PKCE ties the code to who began.
	b, back = begun()
	_, stolen := begun()
	u, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	s, err := url.Parse(stolen)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("code", s.Query().Get("code"))
	u.RawQuery = q.Encode()
	refused("another's code", b, u.String())
	a.nonce = "one-of-before"
	b, back = begun()
	refused("a token of another attempt", b, back)
	a.nonce, a.user = "", "mallory"
	b, back = begun()
	refused("nobody of the service", b, back)

	// An issuer that takes a code twice, and a browser that keeps its cookie: the nonce
	// was used.
	a.user, a.again = "ann", true
	b, back = begun()
	place, err := url.Parse(h.url + "/signin/callback")
	if err != nil {
		t.Fatal(err)
	}
	kept := b.http.Jar.Cookies(place)
	if status, _, _ := b.follow(back); status != http.StatusOK {
		t.Fatalf("the first time: %d", status)
	}
	b = h.browser().stops()
	b.http.Jar.SetCookies(place, kept)
	refused("a nonce again", b, back)
	lines := h.since(new(int64))
	for _, want := range []string{"ann: signs in through the issuer", "(nobody): refused: sign-in through the issuer"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the log is %q and lacks %q", lines, want)
		}
	}
	if status, _ := h.post("eyJ.e30.x", "/discreet.curator.v1.CuratorService/ListDatasets", "{}"); status != http.StatusUnauthorized {
		t.Errorf("no token of the issuer: %d", status)
	}
	if after := h.since(new(int64)); !slices.Contains(after, "(nobody): refused: no valid token or certificate") {
		t.Errorf("the log is %q", after)
	}
}

// An issuer that cannot be trusted with tokens starts no service.
func TestAnIssuerHasToBeReachedSafely(t *testing.T) {
	h := furnish(t, "")
	whole := h.read("serve.yaml")
	for line, want := range map[string]string{
		"oidc: {issuer: 'http://login.example.org', audience: a, claim: sub}":                                           "want https",
		"oidc: {issuer: 'http://localhost:1', audience: a, claim: sub}":                                                 "want https",
		"oidc: {issuer: 'https://u:p@login.example.org', audience: a, claim: sub}":                                      "oidc.issuer",
		"oidc: {issuer: 'https://login.example.org', claim: sub}":                                                       "oidc.audience is missing",
		"oidc: {issuer: 'https://login.example.org', audience: a}":                                                      "oidc.claim is missing",
		"oidc: {issuer: 'https://login.example.org', audience: a, claim: sub, address: 'https://c.example.org/signin'}": "oidc.address",
		"oidc: {issuer: 'https://login.example.org', audience: a, claim: sub, address: 'http://c.example.org'}":         "oidc.address",
	} {
		h.write("serve.yaml", whole+line+"\n")
		if _, err := serve.Load(h.dir + "/serve.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", line, err, want)
		}
	}
	a := newAuthority(t)
	for name, change := range map[string]map[string]any{
		"of another name":       {"issuer": "https://login.example.org"},
		"keys of another host":  {"jwks_uri": "http://keys.example.org/"},
		"tokens of no URL":      {"token_endpoint": "token"},
		"a place to sign in at": {"authorization_endpoint": "http://login.example.org/"},
	} {
		bad := httptest.NewUnstartedServer(nil)
		says := map[string]any{"jwks_uri": a.URL + "/keys", "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token"}
		bad.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			says["issuer"] = "http://" + r.Host
			maps.Copy(says, change)
			a.answer(w, says)
		})
		bad.Start()
		h.write("serve.yaml", whole+fmt.Sprintf("oidc: {issuer: %q, audience: a, claim: sub}\n", bad.URL))
		if _, err := serve.Open(t.Context(), h.config()); err == nil || !strings.Contains(err.Error(), "oidc.issuer") {
			t.Errorf("%s: %v", name, err)
		}
		bad.Close()
	}
}
