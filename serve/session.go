package serve

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/pages"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

const (
	sessionCookie = "discreet_session"
	sessionPrefix = "session_"
	// sessionTime is how long a browser is signed in.
	sessionTime = 12 * time.Hour
)

// signIn puts a session in the place of a token.
func (c console) signIn(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("token")
	name, known, err := c.tokens.Person(token)
	if err != nil {
		c.sorry(w, r, c.broken(err))
		return
	}
	if !known || !c.config.knows(name) {
		c.turnAway(w, r, refusesSignIn, "That is no token, or not any more. Ask your steward for one.")
		return
	}
	if err := c.told(c.events.person(name, r.RemoteAddr, signsIn)); err != nil {
		c.sorry(w, r, err)
		return
	}
	session := tokens.New(sessionPrefix)
	if err := c.store.NewSession(r.Context(), tokens.Hash(session), asks.Session{Token: tokens.Hash(token)}, sessionTime); err != nil {
		c.sorry(w, r, c.broken(err))
		return
	}
	http.SetCookie(w, c.cookie(session, int(sessionTime/time.Second)))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// turnAway is askWho for who presented something that identifies nobody.
func (c console) turnAway(w http.ResponseWriter, r *http.Request, what, problem string) {
	if err := c.told(c.events.stranger(r.RemoteAddr, what)); err != nil {
		c.sorry(w, r, err)
		return
	}
	c.askWho(w, problem)
}

// askWho shows the ways to sign in.
func (c console) askWho(w http.ResponseWriter, problem string) {
	c.show(w, http.StatusUnauthorized, pages.SignIn{Frame: pages.Frame{Title: "Sign in", Problem: problem}, Issuer: c.issuer != nil})
}

// cookie holds a session. On loopback, without TLS, browsers would not send a secure one.
func (c console) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: c.sessionCookie(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.secure(), SameSite: http.SameSiteStrictMode}
}

// secure tells that browsers come by https, to this service or to what stands before it.
func (c console) secure() bool {
	return c.config.TLS != nil || strings.HasPrefix(c.address, "https://")
}

// sessionCookie is its name. Under one that begins with __Host- browsers take a cookie from this
// host alone, so that a neighbour of its domain cannot put a session of its own in the place of
// somebody's.
func (c console) sessionCookie() string {
	if c.secure() {
		return "__Host-" + sessionCookie
	}
	return sessionCookie
}

// signOut ends the session.
func (c console) signOut(w http.ResponseWriter, r *http.Request) {
	if k, err := r.Cookie(c.sessionCookie()); err == nil {
		name, err := c.holder(r)
		if err == nil {
			err = c.told(c.events.person(name, r.RemoteAddr, signsOut))
		}
		if err != nil && !errors.Is(err, asks.ErrNone) {
			c.sorry(w, r, c.broken(err))
			return
		}
		if err := c.store.EndSession(r.Context(), tokens.Hash(k.Value)); err != nil {
			c.sorry(w, r, c.broken(err))
			return
		}
	}
	http.SetCookie(w, c.cookie("", -1))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// signedIn lets a request through to its page for whoever is signed in, or has shown a
// certificate; others are asked for a token.
func (c console) signedIn(next func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if id, known := service.IdentityOf(r.Context()); known && id.Role == personRole {
			if c.inTurn(w, r, id.Name) {
				next(w, r)
			}
			return
		}
		name, err := c.holder(r)
		switch {
		case errors.Is(err, asks.ErrNone) && c.presents(r):
			c.turnAway(w, r, refusesSession, "")
		case errors.Is(err, asks.ErrNone):
			c.askWho(w, "")
		case err != nil:
			c.sorry(w, r, c.broken(err))
		case !c.inTurn(w, r, name):
		default:
			next(w, r.WithContext(service.WithIdentity(r.Context(), service.Identity{Role: personRole, Name: name})))
		}
	}
}

// presents tells that a request says whose it is.
func (c console) presents(r *http.Request) bool {
	_, err := r.Cookie(c.sessionCookie())
	return err == nil || r.Header.Get("Authorization") != ""
}

// inTurn holds whoever is signed in to as many pages a second as they may make calls.
func (c console) inTurn(w http.ResponseWriter, r *http.Request, name string) bool {
	wait := c.pages.Wait(name)
	if wait <= 0 {
		return true
	}
	if err := c.told(c.events.person(name, r.RemoteAddr, refusesPages)); err != nil {
		c.sorry(w, r, err)
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
	c.show(w, http.StatusTooManyRequests, pages.Sorry{Frame: pages.Frame{Title: "Too many pages at once", Problem: "Wait a second, and load the page again. Nothing was done."}})
	return false
}

// holder is whose session a request belongs to. One that was begun with a token is good as
// long as the token is.
func (c console) holder(r *http.Request) (string, error) {
	k, err := r.Cookie(c.sessionCookie())
	if err != nil || len(k.Value) > tokens.Longest {
		return "", asks.ErrNone
	}
	of, err := c.store.Session(r.Context(), tokens.Hash(k.Value))
	if err != nil {
		return "", err
	}
	if of.Person != "" {
		if c.issuer == nil || !c.config.knows(of.Person) {
			return "", asks.ErrNone // the configuration changed since
		}
		return of.Person, nil
	}
	name, known, err := c.tokens.PersonOf(of.Token)
	if err == nil && (!known || !c.config.knows(name)) {
		err = asks.ErrNone
	}
	return name, err
}
