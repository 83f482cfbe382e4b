package serve_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve"
)

// authority is a small issuer of OpenID Connect: discovery, keys, and the authorization
// code flow with PKCE (RFC 7636), for a user who is signed in there. Its tokens are
// written and signed here, by RFC 7515 and 7519.
type authority struct {
	t *testing.T
	*httptest.Server

	mu     sync.Mutex
	key    *rsa.PrivateKey
	kid    string
	fetch  int // how often the keys were fetched
	user   string
	nonce  string // in place of the one that was asked for, unless empty
	again  bool   // codes are good for ever
	grants map[string]url.Values
}

const client = "curator"

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, user: "ann", grants: map[string]url.Values{}}
	a.rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		a.answer(w, map[string]any{
			"issuer": a.URL, "jwks_uri": a.URL + "/keys", "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			// HS256 is what an issuer for clients with a secret lists as well.
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.fetch++
		a.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": a.kid, "n": b64(a.key.N.Bytes()), "e": b64(big.NewInt(int64(a.key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authority) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.t.Error(err)
	}
}

// rotate has the issuer sign with another key.
func (a *authority) rotate() {
	a.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.key, a.kid = key, fmt.Sprintf("key-%x", key.N.Bytes()[:4])
}

// claims are those of a good token for a user, with some changed; nil leaves one out.
func (a *authority) claims(user string, change map[string]any) map[string]any {
	now := time.Now().Unix()
	c := map[string]any{"iss": a.URL, "aud": client, "sub": "7d1f", "preferred_username": user, "iat": now, "exp": now + 300}
	for k, v := range change {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

func (a *authority) body(alg, kid string, claims any) string {
	a.t.Helper()
	header, err := json.Marshal(map[string]string{"alg": alg, "typ": "JWT", "kid": kid})
	if err != nil {
		a.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		a.t.Fatal(err)
	}
	return b64(header) + "." + b64(payload)
}

// sign is a token, signed by RS256.
func (a *authority) sign(claims map[string]any) string {
	a.t.Helper()
	a.mu.Lock()
	key, kid := a.key, a.kid
	a.mu.Unlock()
	return a.signBy(key, kid, claims)
}

func (a *authority) signBy(key *rsa.PrivateKey, kid string, claims map[string]any) string {
	a.t.Helper()
	text := a.body("RS256", kid, claims)
	sum := sha256.Sum256([]byte(text))
	s, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return text + "." + b64(s)
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != client || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("nonce") == "" || q.Get("state") == "" || !strings.Contains(q.Get("scope"), "openid") {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	a.mu.Lock()
	a.grants[code] = q
	a.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	code := r.FormValue("code")
	a.mu.Lock()
	grant := a.grants[code]
	if !a.again {
		delete(a.grants, code)
	}
	user, nonce := a.user, a.nonce
	a.mu.Unlock()
	proof := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if grant == nil || grant.Get("redirect_uri") != r.FormValue("redirect_uri") || grant.Get("code_challenge") != b64(proof[:]) || r.FormValue("grant_type") != "authorization_code" || r.FormValue("client_id") != client {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": "invalid_grant"}`)
		return
	}
	if nonce == "" {
		nonce = grant.Get("nonce")
	}
	a.answer(w, map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": a.sign(a.claims(user, map[string]any{"nonce": nonce}))})
}

// issued is a service whose people an issuer identifies.
func issued(t *testing.T) (*house, *authority) {
	t.Helper()
	a := newAuthority(t)
	h := furnish(t, "")
	h.write("serve.yaml", h.read("serve.yaml")+fmt.Sprintf("oidc: {issuer: %q, audience: %s, claim: preferred_username}\n", a.URL, client))
	return h.open(), a
}

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
