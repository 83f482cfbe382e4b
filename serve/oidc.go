package serve

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/pages"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

var (
	// errIssuer marks what an issuer said that identifies nobody.
	errIssuer = errors.New("the issuer's answer identifies nobody of this service")
	// errAway marks an issuer that did not answer.
	errAway = errors.New("the issuer cannot be reached")
)

const (
	// longestClaims bounds a token, whose signature is looked at before anything else.
	longestClaims = 6 << 10
	// longestAnswer bounds what is read of an issuer, and issuerTime how long it may take.
	longestAnswer = 1 << 20
	issuerTime    = 10 * time.Second
	// An issuer's keys are read so many times at once, and then once in so long.
	keysBurst = 10
	keysEvery = time.Second
)

// returnRate bounds how often one address comes back from the issuer, which is asked then.
var returnRate = service.Rate{Every: time.Second, Burst: 10}

// issuer identifies people by the tokens of an issuer of OpenID Connect.
type issuer struct {
	claim    string
	verifier *oidc.IDTokenVerifier
	flow     oauth2.Config // without the address to come back to
	client   *http.Client  // for the flow
}

// openIssuer reads what an issuer says of itself. When it cannot be reached later, told
// learns why.
func openIssuer(ctx context.Context, c OIDC, told func(error)) (*issuer, error) {
	client := func(t http.RoundTripper) *http.Client {
		// What an issuer says of itself stands where it says that it does.
		return &http.Client{Timeout: issuerTime, Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	answers := &bounded{next: http.DefaultTransport, told: told}
	i := &issuer{claim: c.Claim, client: client(answers)}
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, client(&seldom{next: answers, now: time.Now})), c.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: oidc.issuer: %w", ErrConfig, err)
	}
	var keys struct {
		URL string `json:"jwks_uri"`
	}
	if err := p.Claims(&keys); err != nil {
		return nil, fmt.Errorf("%w: oidc.issuer: %w", ErrConfig, err)
	}
	i.flow = oauth2.Config{ClientID: c.Audience, Endpoint: p.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile"}}
	i.flow.Endpoint.AuthStyle = oauth2.AuthStyleInParams // the client has no secret
	for name, text := range map[string]string{"jwks_uri": keys.URL, "authorization_endpoint": i.flow.Endpoint.AuthURL, "token_endpoint": i.flow.Endpoint.TokenURL} {
		if err := secureURL(text); err != nil {
			return nil, fmt.Errorf("%w: oidc.issuer: its %s %w", ErrConfig, name, err)
		}
	}
	i.verifier = p.Verifier(&oidc.Config{ClientID: c.Audience})
	return i, nil
}

// person is whom a token names: by its signature, issuer, audience, times and claim.
func (i *issuer) person(ctx context.Context, raw string) (string, error) {
	t, err := i.verified(ctx, raw)
	if err != nil {
		return "", err
	}
	return i.named(t)
}

func (i *issuer) verified(ctx context.Context, raw string) (*oidc.IDToken, error) {
	if len(raw) > longestClaims {
		return nil, errIssuer
	}
	t, err := i.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIssuer, err)
	}
	return t, nil
}

// named is the name in the claim, exactly as it stands there.
func (i *issuer) named(t *oidc.IDToken) (string, error) {
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return "", fmt.Errorf("%w: %w", errIssuer, err)
	}
	name, _ := claims[i.claim].(string)
	if !nameForm().MatchString(name) {
		return "", errIssuer
	}
	return name, nil
}

// bounded reads no more of an issuer's answer than it may have to say.
type bounded struct {
	next http.RoundTripper
	told func(error)
}

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err != nil {
		b.told(err)
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, longestAnswer), answer.Body}
	return answer, nil
}

// seldom bounds how often an issuer is asked for its keys: a token of an unknown key,
// which anybody can write, has them read again.
type seldom struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	paid time.Time
}

func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.allow() {
		return nil, errAway
	}
	return s.next.RoundTrip(r)
}

func (s *seldom) allow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.paid.Before(now) {
		s.paid = now
	}
	if s.paid.Sub(now) > (keysBurst-1)*keysEvery {
		return false
	}
	s.paid = s.paid.Add(keysEvery)
	return true
}

const (
	attemptCookie = "discreet_signin"
	// attemptTime is how long a browser may take at the issuer's.
	attemptTime = 10 * time.Minute
	// nonceTime is how long it is known that an attempt was used; an issuer's code and
	// token are long over by then.
	nonceTime = 24 * time.Hour
	// issuedTime is how long a session is good that an issuer began: the issuer is asked
	// again then, so that who left is out.
	issuedTime = time.Hour
)

// attempt is what a browser keeps while it is at the issuer's.
type attempt struct{ state, nonce, verifier string }

func (a attempt) String() string { return strings.Join([]string{a.state, a.nonce, a.verifier}, ".") }

func attemptOf(r *http.Request) (attempt, bool) {
	k, err := r.Cookie(attemptCookie)
	if err != nil || len(k.Value) > 256 {
		return attempt{}, false
	}
	parts := strings.Split(k.Value, ".")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return attempt{}, false
	}
	return attempt{parts[0], parts[1], parts[2]}, true
}

// attemptCookie is sent with the issuer's redirection, which comes from another site.
func (c console) attemptCookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: attemptCookie, Value: value, Path: "/signin", MaxAge: age, HttpOnly: true, Secure: c.secure(), SameSite: http.SameSiteLaxMode}
}

// flow is the issuer's, with the address to come back to; false where there is none.
func (c console) flow() (oauth2.Config, bool) {
	f := c.issuer.flow
	f.RedirectURL = c.address + "/signin/callback"
	return f, c.address != ""
}

// toIssuer sends a browser to the issuer.
func (c console) toIssuer(w http.ResponseWriter, r *http.Request) {
	flow, ok := c.flow()
	if !ok {
		c.askWho(w, "The configuration of the service lacks oidc.address. Sign in with a token.")
		return
	}
	a := attempt{state: tokens.New(""), nonce: tokens.New(""), verifier: oauth2.GenerateVerifier()}
	http.SetCookie(w, c.attemptCookie(a.String(), int(attemptTime/time.Second)))
	http.Redirect(w, r, flow.AuthCodeURL(a.state, oidc.Nonce(a.nonce), oauth2.S256ChallengeOption(a.verifier)), http.StatusSeeOther)
}

// fromIssuer begins a session for whom the issuer names.
func (c console) fromIssuer(w http.ResponseWriter, r *http.Request) {
	a, ok := attemptOf(r)
	http.SetCookie(w, c.attemptCookie("", -1))
	if !ok || subtle.ConstantTimeCompare([]byte(r.FormValue("state")), []byte(a.state)) != 1 {
		c.turnAway(w, r, refusesIssuers, "That sign-in was not begun here, or took too long. Begin again.")
		return
	}
	person, err := c.exchange(r, a)
	if err != nil && !errors.Is(err, errIssuer) {
		c.sorry(w, r, c.broken(err))
		return
	}
	if err != nil {
		c.turnAway(w, r, refusesIssuers, "Your organisation's answer identifies nobody of this service. Ask your steward whether your name is in its configuration.")
		return
	}
	if err := c.told(c.events.person(person, r.RemoteAddr, signsInByIssuer)); err != nil {
		c.sorry(w, r, err)
		return
	}
	session := tokens.New(sessionPrefix)
	if err := c.store.NewSession(r.Context(), tokens.Hash(session), asks.Session{Person: person}, issuedTime); err != nil {
		c.sorry(w, r, c.broken(err))
		return
	}
	http.SetCookie(w, c.cookie(session, int(issuedTime/time.Second)))
	c.show(w, http.StatusOK, pages.SignedIn{Frame: pages.Frame{Title: "Signed in", Person: person, Onward: "/"}})
}

// exchange has the issuer say for whom its code stands. A code, and a nonce, is good once.
func (c console) exchange(r *http.Request, a attempt) (string, error) {
	flow, _ := c.flow()
	answer, err := flow.Exchange(oidc.ClientContext(r.Context(), c.issuer.client), r.FormValue("code"), oauth2.VerifierOption(a.verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return "", errIssuer
	}
	if err != nil {
		return "", errAway // told by bounded
	}
	raw, _ := answer.Extra("id_token").(string)
	t, err := c.issuer.verified(r.Context(), raw)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(a.nonce)) != 1 {
		return "", errIssuer
	}
	if err := c.store.UseOnce(r.Context(), tokens.Hash(a.nonce), nonceTime); errors.Is(err, asks.ErrExists) {
		return "", errIssuer
	} else if err != nil {
		return "", err
	}
	person, err := c.issuer.named(t)
	if err != nil {
		return "", err
	}
	if !c.config.knows(person) {
		return "", errIssuer
	}
	return person, nil
}
