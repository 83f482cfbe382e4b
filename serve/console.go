package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/webpage"
	"github.com/discreet-rl/discreet/serve/internal/pages"
)

// console is the pages. Each of them does what a call does, by the call's permission.
type console struct{ *Service }

// policyOfReport is what the report may load. It has its style in it.
const policyOfReport = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'; sandbox"

// routes mounts the pages.
func (c console) routes() {
	at := func(rate service.Rate, pattern string, h func(http.ResponseWriter, *http.Request)) {
		c.server.Handle(pattern, service.Access{Anonymous: true, Body: longestQuestion + 8<<10, Rate: rate}, c.sameOrigin(addressed(http.HandlerFunc(h))))
	}
	open := func(pattern string, h func(http.ResponseWriter, *http.Request)) { at(service.Rate{}, pattern, h) }
	page := func(pattern string, h func(http.ResponseWriter, *http.Request)) { open(pattern, c.signedIn(h)) }
	open("GET /style.css", webpage.Style)
	open("POST /signin", c.signIn)
	open("POST /signout", c.signOut)
	if c.issuer != nil {
		open("GET /signin/issuer", c.toIssuer)
		at(returnRate, "GET /signin/callback", c.fromIssuer)
	}
	page("GET /{$}", c.list)
	page("GET /datasets/{dataset}", c.dataset)
	page("POST /datasets/{dataset}/plan", c.planForm)
	page("POST /datasets/{dataset}/ask", c.askForm)
	page("GET /datasets/{dataset}/notices", c.notices)
	page("POST /datasets/{dataset}/clear", c.clear)
	page("GET /datasets/{dataset}/audit", c.audit)
	page("GET /asks/{ask}", c.askPage)
	page("GET /asks/{ask}/report", c.report)
	page("GET /asks/{ask}/release.json", c.download)
	page("POST /asks/{ask}/verify", c.verifyForm)
	page("POST /asks/{ask}/withdraw", c.withdraw)
	page("POST /asks/{ask}/decide", c.decideForm)
}

// sameOrigin refuses forms of other sites. The page of this host that came by http is another's:
// whoever is on the way may have written it.
func (c console) sameOrigin(next http.Handler) http.Handler {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusForbidden
		if c.told(c.events.stranger(r.RemoteAddr, refusesSite)) != nil {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, http.StatusText(status), status)
	})
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(refuse)
	protected := p.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o := r.Header.Get("Origin"); r.Method == http.MethodPost && c.secure() && o != "" && !strings.HasPrefix(o, "https://") {
			refuse(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// show writes a page.
func (c console) show(w http.ResponseWriter, status int, v pages.View) {
	if err := webpage.Show(w, status, func(to io.Writer) error { return pages.Write(to, v) }); err != nil {
		c.log.Error("a page could not be made", "error", err)
	}
}

// sorry shows why a page cannot be shown.
func (c console) sorry(w http.ResponseWriter, r *http.Request, err error) {
	status, title := http.StatusServiceUnavailable, "This does not work at the moment"
	switch connect.CodeOf(err) {
	case connect.CodeNotFound:
		status, title = http.StatusNotFound, "There is no such page, or it is not yours"
	case connect.CodePermissionDenied:
		status, title = http.StatusForbidden, "Your role does not allow that"
	case connect.CodeInvalidArgument, connect.CodeFailedPrecondition, connect.CodeResourceExhausted:
		status, title = http.StatusBadRequest, "That cannot be done"
	}
	c.show(w, status, pages.Sorry{Frame: pages.Frame{Title: title, Person: person(r.Context()), Problem: words(err)}})
}

// words are those of an error for a reader.
func words(err error) string {
	var e *connect.Error
	if errors.As(err, &e) {
		return e.Message()
	}
	return err.Error()
}

func person(ctx context.Context) string {
	id, _ := service.IdentityOf(ctx)
	return id.Name
}

func (c console) frame(r *http.Request, title string) pages.Frame {
	return pages.Frame{Title: title, Person: person(r.Context())}
}

// back shows a page after a form.
func (c console) back(w http.ResponseWriter, r *http.Request, to string, err error) {
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
