// An issuer of tokens in this process, which signs, changes its keys and lets people sign in as a real one does.

package serve_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
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
