package aggregator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/service"
)

// Config says how an aggregator is run.
type Config struct {
	// Listen is host:port. Connections are TLS 1.3 always.
	Listen string
	// Page is host:port of loopback where the page is served without TLS to whoever is on this
	// machine; "" for none. Elsewhere, an operator's certificate is asked for.
	Page string
	// Version is the program's, for the page.
	Version string
	// Store is the path of a SQLite file, or a PostgreSQL URL, which replicas share.
	Store string
	Keys  *Keys
	// Grace is how long after a round's upload_until its reports are taken, for those
	// on their way; 5 s if 0.
	Grace time.Duration
	// Keep is of how many rounds that are over the store keeps the reports; 2 at least, for answers that were lost.
	Keep uint64
	// Queue is how many reports may wait for their commit, 4096 if 0, and Batch how many
	// are committed together at most, 256 if 0.
	Queue, Batch int
	// MostRequest is the largest upload in bytes, 4096 if 0. A run whose reports are larger
	// is refused.
	MostRequest int
	// Tick is how often a replica looks at its runs, 1 s if 0.
	Tick time.Duration
	// Certificates of devices are good for Valid, 30 days if 0.
	Valid time.Duration
	// Limits of connections; one without a request is closed after 5 s if IdleTime is 0.
	Limits service.Limits
	// PerDevice is how often one device may ask for something; once a second with a burst
	// of 5 if zero.
	PerDevice service.Rate
	// PerAddress is how often one address may ask for enrolment, before it has a
	// certificate; 20 times a second with a burst of 200 if zero: a whole fleet may be
	// behind it.
	PerAddress service.Rate
	Log        *slog.Logger
	Metrics    *service.Metrics
	// Now is the clock of a SQLite store and of certificates, for tests; time.Now if nil.
	Now func() time.Time
}

// LogKeys are what an aggregator's log takes; for [service.NewLog].
func LogKeys() map[string]service.Kind {
	return map[string]service.Kind{
		"round": service.Number, "version": service.Number, "revision": service.Number, "accepted": service.Number, "fence": service.Number,
		"state": service.Word, "kind": service.Word, "listen": service.Text, "page": service.Text, "store": service.Text, "error": service.Text, service.StackKey: service.Text,
	}
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&c.Grace, 5*time.Second)
	set(&c.Tick, time.Second)
	set(&c.Valid, 30*24*time.Hour)
	if c.Queue == 0 {
		c.Queue = 4096
	}
	if c.Batch == 0 {
		c.Batch = 256
	}
	if c.MostRequest == 0 {
		c.MostRequest = 4 << 10
	}
	if c.PerDevice.Every == 0 {
		c.PerDevice = service.Rate{Every: time.Second, Burst: 5}
	}
	if c.Limits.IdleTime == 0 {
		c.Limits.IdleTime = 5 * time.Second // who has reported comes back in the next round
	}
	if c.PerAddress.Every == 0 {
		c.PerAddress = service.Rate{Every: 50 * time.Millisecond, Burst: 200}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Validate tells what is out of range, wrapping [ErrConfig].
func (c Config) Validate() error {
	switch {
	case c.Store == "":
		return fmt.Errorf("%w: no store; name a file, or a postgres:// URL", ErrConfig)
	case c.Keys == nil:
		return fmt.Errorf("%w: no keys", ErrConfig)
	case c.PerAddress.Every < 0 || c.PerAddress.Burst < 0 || c.PerDevice.Burst < 0:
		return fmt.Errorf("%w: enrolments every %v, bursts of %d and %d; want none below 0", ErrConfig, c.PerAddress.Every, c.PerAddress.Burst, c.PerDevice.Burst)
	}
	for _, n := range []struct {
		name            string
		is, least, most int64
	}{
		{"keep_rounds", int64(min(c.Keep, 1<<40)), 2, 1 << 32},
		{"limits.queue (reports that wait)", int64(c.Queue), 1, 1 << 18},
		{"limits.batch (reports a commit)", int64(c.Batch), 1, 1 << 13},
		{"limits.request_bytes", int64(c.MostRequest), 256, 1 << 21},
		{"limits.connections", int64(c.Limits.Connections), 16, 1 << 20},
		{"limits.connections_per_address", int64(c.Limits.AddressConnections), 1, 1 << 20},
	} {
		if n.is != 0 && (n.is < n.least || n.is > n.most) {
			return fmt.Errorf("%w: %s is %d; want %d to %d", ErrConfig, n.name, n.is, n.least, n.most)
		}
	}
	for _, d := range []struct {
		name            string
		is, least, most time.Duration
	}{
		{"limits.grace_seconds", c.Grace, time.Millisecond, time.Hour},
		{"the time between looks at the runs", c.Tick, time.Millisecond, time.Hour},
		{"limits.seconds_between_requests", c.PerDevice.Every, time.Microsecond, time.Hour},
		{"certificate_days", c.Valid, time.Hour, 400 * 24 * time.Hour},
	} {
		if d.is != 0 && (d.is < d.least || d.is > d.most) {
			return fmt.Errorf("%w: %s is %v; want %v to %v", ErrConfig, d.name, d.is, d.least, d.most)
		}
	}
	return nil
}

// revocations are loaded so often, and a list may be so old: together within 30 s.
const (
	loadRevoked   = 10 * time.Second
	oldestRevoked = 25 * time.Second
)

// committers commit at the same time on PostgreSQL.
const committers = 2

// Aggregator serves the runs of one store.
type Aggregator struct {
	cfg     Config
	store   *store.Store
	server  *service.Server
	local   *service.Server // of the page on loopback; nil for none
	began   time.Time
	revoked *service.Revocations
	commits *committer[store.Report, store.Outcome]
	draws   *committer[store.Draw, store.Drawn]

	refreshing sync.Mutex // held by the one who reads the store into runs

	mu   sync.Mutex
	runs map[store.RunID]*live
	only *live // the run that requests mean which name none: the oldest

	verdicts  map[string]prometheus.Counter
	rounds    map[string]prometheus.Counter
	age       prometheus.Gauge
	fence     prometheus.Gauge
	applying  prometheus.Histogram
	exhausted prometheus.Counter
}

// New opens the store and makes the server. Close releases the store if Run is not
// called.
func New(ctx context.Context, c Config) (*Aggregator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	a := &Aggregator{cfg: c, runs: map[store.RunID]*live{}, began: c.Now()}
	m := c.Metrics
	if m == nil || c.Log == nil {
		return nil, fmt.Errorf("%w: an aggregator needs a log and metrics", ErrConfig)
	}
	s, err := store.Open(ctx, c.Store, store.Options{Now: c.Now})
	if err != nil {
		return nil, err
	}
	a.store = s
	seconds := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	a.commits = &committer[store.Report, store.Outcome]{batch: c.Batch, queue: make(chan waiting[store.Report, store.Outcome], c.Queue), now: time.Now,
		do: func(ctx context.Context, at place, reports []store.Report) ([]store.Outcome, error) {
			return s.Commit(ctx, at.run, at.round, reports, c.Grace)
		},
		size:    m.Histogram("batch_reports", "Reports committed together.", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}),
		seconds: m.Histogram("commit_seconds", "Time of a commit, with its retries.", seconds)}
	a.draws = &committer[store.Draw, store.Drawn]{batch: c.Batch, queue: make(chan waiting[store.Draw, store.Drawn], c.Queue), now: time.Now,
		do:   a.drawAll,
		size: prometheus.ObserverFunc(func(float64) {}), seconds: prometheus.ObserverFunc(func(float64) {})}
	a.verdicts = m.Counters("uploads_total", "Reports by verdict.", "verdict", verdictNames()...)
	a.rounds = m.Counters("rounds_total", "Rounds that this process ended, by how.", "state", string(store.StateApplied), string(store.StateAbandoned))
	a.age = m.Gauge("round_age_seconds", "Time since the last round opened.")
	a.fence = m.Gauge("fence", "The last fence that this process had.")
	a.applying = m.Histogram("apply_seconds", "Time to decode, add up and commit a round.", seconds)
	a.exhausted = m.Counter("overload_total", "Reports that were sent back because the queue was full.")
	m.GaugeFunc("queue_reports", "Reports that wait for their commit.", func() float64 { return float64(len(a.commits.queue)) })
	a.revoked = &service.Revocations{Every: loadRevoked, Oldest: oldestRevoked, Load: a.loadRevoked,
		Failed: func(err error) { c.Log.Error("the list of revoked certificates cannot be read", "error", err) }}
	a.server, err = service.New(service.Config{
		Listen: c.Listen, TLS: c.Keys.TLS(), OneRequest: true, Operators: RoleOperator, Limits: c.Limits, Admit: a.revoked.Check,
		Ready: a.store.Ready, Log: c.Log, Metrics: m, Now: c.Now,
	})
	if err == nil && c.Page != "" {
		a.local, err = service.New(service.Config{Listen: c.Page, Log: c.Log, Metrics: service.NewMetrics("fleet_page"), Ready: a.store.Ready, Now: c.Now})
	}
	if err == nil {
		err = a.revoked.Refresh(ctx)
	}
	if err == nil {
		err = a.refresh(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	a.mount()
	a.mountPages()
	return a, nil
}

func (a *Aggregator) loadRevoked(ctx context.Context) ([]service.Serial, error) {
	list, err := a.store.Revoked(ctx)
	out := make([]service.Serial, len(list))
	for i, h := range list {
		out[i] = h
	}
	return out, err
}

// Close releases the store of an aggregator that is not run.
func (a *Aggregator) Close() error { return a.store.Close() }

// Listen opens the port, so that its number is known before Run serves it.
func (a *Aggregator) Listen(ctx context.Context) (net.Addr, error) { return a.server.Listen(ctx) }

// ListenPage opens the port of the page on loopback; the address is nil if there is none.
func (a *Aggregator) ListenPage(ctx context.Context) (net.Addr, error) {
	if a.local == nil {
		return nil, nil
	}
	return a.local.Listen(ctx)
}

// Run serves until ctx ends. Requests that are under way are answered, and what
// waits for its commit is committed.
func (a *Aggregator) Run(ctx context.Context) error {
	defer a.store.Close()
	// What serves requests outlives the server by the time that it takes to stop.
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	n := committers
	if a.store.Lite() {
		n = 1
	}
	for range n {
		wg.Go(func() { a.commits.run(behind) })
		wg.Go(func() { a.draws.run(behind) })
	}
	wg.Go(func() { a.revoked.Run(behind) })
	ctx, end := context.WithCancel(ctx)
	defer end()
	wg.Go(func() { a.lead(ctx) })
	var shown error
	if a.local != nil {
		wg.Go(func() {
			if shown = a.local.Run(ctx); shown != nil {
				end()
			}
		})
	}
	err := a.server.Run(ctx)
	end()
	stop()
	wg.Wait()
	return errors.Join(err, shown)
}

// mostOther is the largest request of an operator: a run with a million weights.
const mostOther = 9 << 20

// mount makes a route of every procedure of the protocol.
func (a *Aggregator) mount() {
	device := []string{RoleDevice, RoleOperator}
	asks := service.Access{Roles: device, Rate: a.cfg.PerDevice}
	operator := service.Access{Roles: []string{RoleOperator}, Body: mostOther}
	o := []connect.HandlerOption{connect.WithCompression("gzip", nil, nil)} // a body that grows when it is read is none
	_, enrol := fleetv1.NewEnrolServiceHandler(enrolServer{a}, o...)
	_, run := fleetv1.NewRunServiceHandler(runServer{a}, o...)
	_, report := fleetv1.NewReportServiceHandler(reportServer{a}, o...)
	_, operate := fleetv1.NewOperatorServiceHandler(operatorServer{a}, o...)
	for procedure, route := range map[string]struct {
		h http.Handler
		a service.Access
	}{
		fleetv1.EnrolServiceEnrolProcedure:  {enrol, service.Access{Anonymous: true, Rate: a.cfg.PerAddress}},
		fleetv1.EnrolServiceRenewProcedure:  {enrol, service.Access{Roles: []string{RoleDevice}, Rate: a.cfg.PerDevice}},
		fleetv1.RunServiceGetRunProcedure:   {run, asks},
		fleetv1.RunServiceGetRoundProcedure: {run, asks},
		fleetv1.ReportServiceDrawProcedure:  {report, service.Access{Roles: []string{RoleDevice}, Rate: a.cfg.PerDevice}},
		fleetv1.ReportServiceUploadProcedure: {report,
			service.Access{Roles: []string{RoleDevice}, Body: int64(a.cfg.MostRequest), Rate: a.cfg.PerDevice}},
		fleetv1.OperatorServiceCreateRunProcedure:     {operate, operator},
		fleetv1.OperatorServiceOpenRoundProcedure:     {operate, operator},
		fleetv1.OperatorServiceCloseRoundProcedure:    {operate, operator},
		fleetv1.OperatorServiceRevokeProcedure:        {operate, operator},
		fleetv1.OperatorServiceRotateKeyProcedure:     {operate, operator},
		fleetv1.OperatorServiceStatusProcedure:        {operate, operator},
		fleetv1.OperatorServiceEndRunProcedure:        {operate, operator},
		fleetv1.OperatorServiceCreateCodesProcedure:   {operate, operator},
		fleetv1.OperatorServiceGetPolicyProcedure:     {operate, operator},
		fleetv1.OperatorServiceGetTranscriptProcedure: {operate, operator},
	} {
		a.server.Handle("POST "+procedure, route.a, route.h)
	}
}

// Routes lists every route with who may use it.
func (a *Aggregator) Routes() map[string]service.Access { return a.server.Routes() }
