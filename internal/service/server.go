package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config says how a service is run.
type Config struct {
	// Listen is host:port. Without TLS the host has to be of loopback.
	Listen string
	// TLS names the certificate; nil for none.
	TLS *TLS
	// Operators is the role that may read /metrics. Without TLS, on loopback,
	// anybody may.
	Operators string
	Limits    Limits
	// OneRequest says that clients mostly come, ask once and go: then HTTP/1.1 alone is
	// spoken, which costs less to begin and holds less memory than HTTP/2.
	OneRequest bool
	// Drain is how long requests may take to end when the service stops; 10 s if 0.
	Drain time.Duration
	// Identify tells who asks; [FromCertificate] if nil. Where it fails, the request is
	// anonymous, or, with [ErrAway], answered by 503.
	Identify func(*http.Request) (Identity, error)
	// Admit, unless nil, may refuse somebody who was identified: [Revocations.Check].
	Admit func(Identity) error
	// Refused, unless nil, is told before a request is refused by its gate, for a reason of
	// [Reasons] but "away"; id is of nobody where nobody was identified. Where it fails, the answer
	// is 503.
	Refused func(r *http.Request, id Identity, reason string) error
	// Ready tells whether requests can be served; always if nil.
	Ready   func(context.Context) error
	Log     *slog.Logger
	Metrics *Metrics
	// Now is the clock of the rates; time.Now if nil.
	Now func() time.Time
}

// Validate tells what is out of range, wrapping [ErrConfig].
func (c Config) Validate() error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("%w: listen is %q; want host:port, such as 127.0.0.1:8443", ErrConfig, c.Listen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%w: listen is %q: port %q; want 0 to 65535", ErrConfig, c.Listen, port)
	}
	if c.TLS == nil && !loopback(host) {
		return fmt.Errorf("%w: listen is %q, which is not loopback, and there is no TLS: what clients send could be read on the way; name certificate and key, or listen on 127.0.0.1", ErrConfig, c.Listen)
	}
	if c.Log == nil || c.Metrics == nil {
		return fmt.Errorf("%w: a service needs a log and metrics", ErrConfig)
	}
	if c.Drain < 0 {
		return fmt.Errorf("%w: drain is %v; want 0 or more", ErrConfig, c.Drain)
	}
	return c.Limits.withDefaults().validate()
}

// loopback reports that a host is reached from this machine alone. A name is not:
// what it stands for is decided elsewhere.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Access says who may use a route, and how much.
type Access struct {
	// Roles may use it; Anonymous lets anybody, identified or not.
	Roles     []string
	Anonymous bool
	// Body is the largest request in bytes; 4 KiB if 0.
	Body int64
	// Rate bounds how often one identity asks; no bound if Every is 0. Who is
	// anonymous is told apart by the address, which is kept in memory for as long as
	// the bound needs.
	Rate Rate
}

// Server is a service that has routes and is ready to run.
type Server struct {
	cfg      Config
	mux      *http.ServeMux
	keeper   *keeper
	stopping atomic.Bool
	routes   map[string]Access
	refused  map[string]prometheus.Counter
	broken   prometheus.Counter
	open     prometheus.Gauge
	listener net.Listener
	asked    *rates // by address
	turned   prometheus.Counter
	panics   prometheus.Counter
}

// Reasons are why a request is refused before its handler sees it.
func Reasons() []string {
	return []string{"anonymous", "away", "role", "revoked", "rate", "address"}
}

// New makes a server and reads its certificate. It serves /healthz and /readyz to
// anybody, and /metrics.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Limits = c.Limits.withDefaults()
	if c.Drain == 0 {
		c.Drain = 10 * time.Second
	}
	if c.Identify == nil {
		c.Identify = FromCertificate
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Server{cfg: c, mux: http.NewServeMux(), routes: map[string]Access{},
		refused: c.Metrics.Counters("refused_total", "Requests refused before they were looked at, by reason.", "reason", Reasons()...),
		broken:  c.Metrics.Counter("connection_errors_total", "Connections that failed: handshakes, foreign certificates, broken requests."),
		open:    c.Metrics.Gauge("connections", "Open connections."),
		turned:  c.Metrics.Counter("connections_refused_total", "Connections closed at once, because their address had as many as it may."),
		panics:  c.Metrics.Counter("panics_total", "Requests that ended in a panic; the log says where."),
		asked:   newRates(c.Limits.AddressRate, c.Now),
	}
	if c.TLS != nil {
		var err error
		if s.keeper, err = newKeeper(*c.TLS, c.OneRequest, func(err error) {
			c.Log.Error("a TLS file cannot be used; what was read before stays in force", "error", err)
		}); err != nil {
			return nil, err
		}
	}
	if s.keeper != nil {
		c.Metrics.GaugeFunc("certificate_remaining_seconds", "Time until the server's certificate ends.", func() float64 { return s.keeper.ends().Sub(c.Now()).Seconds() })
	}
	s.Handle("GET /healthz", Access{Anonymous: true}, http.HandlerFunc(s.healthz))
	s.Handle("GET /readyz", Access{Anonymous: true}, http.HandlerFunc(s.readyz))
	metrics := c.Metrics.Handler()
	if c.TLS == nil {
		metrics = Here(metrics) // anybody on this machine may read them, and nobody else
	}
	s.Handle("GET /metrics", Access{Roles: []string{c.Operators}, Anonymous: c.TLS == nil}, metrics)
	return s, nil
}

// Handle mounts a handler on a pattern of [http.ServeMux].
func (s *Server) Handle(pattern string, a Access, h http.Handler) {
	if a.Body == 0 {
		a.Body = 4 << 10
	}
	var r *rates
	if a.Rate.Every > 0 {
		a.Rate.Burst = max(a.Rate.Burst, 1)
		r = newRates(a.Rate, s.cfg.Now)
	}
	s.routes[pattern] = a
	s.mux.Handle(pattern, &gate{s, a, r, h})
}

// Routes lists every route with who may use it.
func (s *Server) Routes() map[string]Access {
	out := map[string]Access{}
	for pattern, a := range s.routes {
		a.Roles = slices.Clone(a.Roles)
		out[pattern] = a
	}
	return out
}

// gate lets a request through to its handler, or not.
type gate struct {
	s     *Server
	a     Access
	rates *rates
	next  http.Handler
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.TLS != nil {
		h.Set("Strict-Transport-Security", strictTransport)
	}
	if wait := g.s.asked.allow(network(r.RemoteAddr)); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		g.refuse(w, r, Identity{}, "address", http.StatusTooManyRequests)
		return
	}
	defer g.s.recovered()
	id, err := g.s.cfg.Identify(r)
	known := err == nil
	who := ""
	switch {
	case known && g.s.cfg.Admit != nil && !g.a.Anonymous:
		if err := g.s.cfg.Admit(id); errors.Is(err, ErrRevoked) {
			// In the form of an error of Connect, without which its clients do not see the header.
			if !g.told(r, id, "revoked") {
				http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
				return
			}
			h.Set(RefusedHeader, RefusedRevoked)
			h.Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code":"permission_denied","message":"the certificate was revoked"}`)
			return
		} else if err != nil {
			g.refuse(w, r, id, "revoked", http.StatusServiceUnavailable)
			return
		}
	case errors.Is(err, ErrAway) && !g.a.Anonymous:
		g.refuse(w, r, id, "away", http.StatusServiceUnavailable)
		return
	case !known && !g.a.Anonymous:
		g.refuse(w, r, Identity{}, "anonymous", http.StatusUnauthorized)
		return
	}
	if known {
		who = id.Role + "\x00" + id.Name
	} else {
		who = network(r.RemoteAddr)
	}
	if !g.a.Anonymous && !slices.Contains(g.a.Roles, id.Role) {
		g.refuse(w, r, id, "role", http.StatusForbidden)
		return
	}
	if g.rates != nil {
		if wait := g.rates.allow(who); wait > 0 {
			h.Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			g.refuse(w, r, id, "rate", http.StatusTooManyRequests)
			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, g.a.Body)
	if known {
		r = r.WithContext(WithIdentity(r.Context(), id))
	}
	g.next.ServeHTTP(w, r)
}

// strictTransport has browsers come by https alone for a year.
const strictTransport = "max-age=31536000"

// RefusedHeader says of an answer why the request was refused, where that is for the caller to
// know: RefusedRevoked of a certificate that was revoked.
const (
	RefusedHeader  = "Discreet-Refused"
	RefusedRevoked = "revoked"
)

// network is the address of a peer, of IPv6 the first 64 bits: who has one of those
// has them all.
func network(peer string) string {
	host, _, _ := net.SplitHostPort(peer)
	ip := net.ParseIP(host)
	if ip4 := ip.To4(); ip4 != nil {
		return string(ip4)
	}
	if len(ip) == net.IPv6len {
		return string(ip[:8])
	}
	return host
}

func (g *gate) refuse(w http.ResponseWriter, r *http.Request, id Identity, reason string, code int) {
	if !g.told(r, id, reason) {
		code = http.StatusServiceUnavailable
	}
	http.Error(w, http.StatusText(code), code)
}

// told counts a refusal, and reports that whoever has to know of it does.
func (g *gate) told(r *http.Request, id Identity, reason string) bool {
	g.s.refused[reason].Inc()
	return reason == "away" || g.s.cfg.Refused == nil || g.s.cfg.Refused(r, id, reason) == nil
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }

// readiness is how long the answer to /readyz may take.
const readiness = 2 * time.Second

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readiness)
	defer cancel()
	if s.stopping.Load() {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	if s.cfg.Ready != nil {
		if err := s.cfg.Ready(ctx); err != nil {
			s.cfg.Log.Warn("not ready", "error", err)
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
	}
	_, _ = io.WriteString(w, "ready\n")
}

// Listen opens the port, so that its number is known before Run serves it.
func (s *Server) Listen(ctx context.Context) (net.Addr, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w: listen: %w", ErrConfig, err)
	}
	s.listener = limit(l, s.cfg.Limits, func(n int) { s.open.Add(float64(n)) }, s.turned.Inc)
	return l.Addr(), nil
}

// Run serves until ctx ends. Then /readyz says so, no new connection is taken,
// requests have the time of Drain to end, and what is left is cut off.
func (s *Server) Run(ctx context.Context) error {
	if s.listener == nil {
		if _, err := s.Listen(ctx); err != nil {
			return err
		}
	}
	l := s.cfg.Limits
	h := &http.Server{
		Handler: s.mux, MaxHeaderBytes: l.Header, ReadHeaderTimeout: l.HeaderTime,
		ReadTimeout: l.RequestTime, WriteTimeout: l.RequestTime, IdleTimeout: l.IdleTime,
		// Its lines name peers: they are counted and not written.
		ErrorLog: log.New(counting{s.broken}, "", 0),
	}
	ended := make(chan error, 1)
	go func() {
		if s.keeper == nil {
			ended <- h.Serve(s.listener)
			return
		}
		h.TLSConfig = base()
		h.TLSConfig.GetConfigForClient = s.keeper.config
		if s.cfg.OneRequest {
			h.Protocols = new(http.Protocols)
			h.Protocols.SetHTTP1(true)
		}
		h.TLSConfig.Certificates = s.keeper.made.Certificates
		ended <- h.ServeTLS(s.listener, "", "")
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Drain)
	defer cancel()
	err := h.Shutdown(late)
	if err != nil {
		_ = h.Close()
		err = fmt.Errorf("requests did not end within %v and were cut off", s.cfg.Drain)
	}
	<-ended
	return err
}

// counting counts lines and drops them.
type counting struct{ lines prometheus.Counter }

func (c counting) Write(p []byte) (int, error) {
	c.lines.Inc()
	return len(p), nil
}
