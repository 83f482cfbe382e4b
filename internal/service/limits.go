package service

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Limits bound what anybody can make the service hold or wait for.
type Limits struct {
	// Header is the size of a request's header in bytes; 8 KiB if 0.
	Header int
	// HeaderTime is how long a header may take, 10 s if 0; RequestTime a whole
	// request and its answer, 30 s if 0; IdleTime a connection without a request, 60 s
	// if 0.
	HeaderTime, RequestTime, IdleTime time.Duration
	// Connections are open at the same time at most; 32768 if 0, or three quarters of the
	// files that the process may have open, if these are fewer: stores need the rest.
	Connections int
	// AddressConnections of these may be of one address (of IPv6 the first 64 bits); others are
	// closed at once. A quarter of Connections if 0, and 16 at least: what passes TCP through to the
	// service, or a network of many clients, is one address too.
	AddressConnections int
	// AddressRate is how often one address may ask for anything; 2,000 times a second with a
	// burst of 20,000 if zero.
	AddressRate Rate
}

func (l Limits) withDefaults() Limits {
	if l.Header == 0 {
		l.Header = 8 << 10
	}
	if l.HeaderTime == 0 {
		l.HeaderTime = 10 * time.Second
	}
	if l.RequestTime == 0 {
		l.RequestTime = 30 * time.Second
	}
	if l.IdleTime == 0 {
		l.IdleTime = time.Minute
	}
	if l.Connections == 0 {
		l.Connections = min(32<<10, max(1, openFiles()/4*3))
	}
	if l.AddressConnections == 0 {
		l.AddressConnections = min(l.Connections, max(16, l.Connections/4))
	}
	if l.AddressRate == (Rate{}) {
		l.AddressRate = Rate{Every: 500 * time.Microsecond, Burst: 20_000}
	}
	return l
}

func (l Limits) validate() error {
	if l.AddressConnections < 1 || l.AddressRate.Every <= 0 || l.AddressRate.Burst < 1 {
		return fmt.Errorf("%w: limits of an address: %d connections, a request in %v, %d at once; want numbers above 0", ErrConfig, l.AddressConnections, l.AddressRate.Every, l.AddressRate.Burst)
	}
	if l.Header < 1 || l.HeaderTime < 0 || l.RequestTime < 0 || l.IdleTime < 0 || l.Connections < 1 {
		return fmt.Errorf("%w: limits: header %d bytes, %v, request %v, idle %v, %d connections; want numbers above 0", ErrConfig, l.Header, l.HeaderTime, l.RequestTime, l.IdleTime, l.Connections)
	}
	return nil
}

// limited accepts no more than so many connections at a time; others wait in the
// system's queue. Those of an address that has its share are closed.
type limited struct {
	net.Listener
	free    chan struct{}
	each    int
	open    func(int)
	refused func()
	done    chan struct{}
	once    sync.Once

	mu  sync.Mutex
	per map[string]int // connections of each address that has any
}

func limit(l net.Listener, most Limits, open func(int), refused func()) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, most.Connections), each: most.AddressConnections, open: open, refused: refused, done: make(chan struct{}), per: map[string]int{}}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		select {
		case l.free <- struct{}{}:
		case <-l.done:
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.free
			return nil, err
		}
		who := network(c.RemoteAddr().String())
		if l.enter(who) {
			l.open(1)
			return &limitedConn{Conn: c, release: func() { l.open(-1); l.leave(who); <-l.free }}, nil
		}
		l.refused()
		_ = c.Close()
		<-l.free
	}
}

func (l *limited) enter(who string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.per[who] >= l.each {
		return false
	}
	l.per[who]++
	return true
}

func (l *limited) leave(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.per[who]--; l.per[who] == 0 {
		delete(l.per, who)
	}
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	return err
}

// Rate is how often somebody may ask: Burst times at once, and then once every
// Every.
type Rate struct {
	Every time.Duration
	Burst int
}

// Pace bounds how often each of many may do something, where who it is is known to the handler alone.
type Pace struct{ rates *rates }

// NewPace makes one; now is the clock, time.Now if nil.
func NewPace(r Rate, now func() time.Time) *Pace {
	if now == nil {
		now = time.Now
	}
	return &Pace{newRates(r, now)}
}

// Wait counts a request of who, and tells how long they have to wait if it is one too many.
func (p *Pace) Wait(who string) time.Duration { return p.rates.allow(who) }

// rates keeps, for each who asked, when they will have paid for what they asked
// (the generic cell rate algorithm). Who has paid is forgotten.
type rates struct {
	rate Rate
	now  func() time.Time

	mu    sync.Mutex
	until map[string]time.Time
	swept time.Time
}

func newRates(r Rate, now func() time.Time) *rates {
	return &rates{rate: r, now: now, until: map[string]time.Time{}}
}

// allow reports whether who may ask now, or else how long they have to wait.
func (r *rates) allow(who string) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.sweep(now)
	paid := r.until[who]
	if paid.Before(now) {
		paid = now
	}
	if ahead := paid.Sub(now) - time.Duration(r.rate.Burst-1)*r.rate.Every; ahead > 0 {
		return ahead
	}
	r.until[who] = paid.Add(r.rate.Every)
	return 0
}

// sweep forgets who has paid, now and then.
func (r *rates) sweep(now time.Time) {
	span := max(time.Second, time.Duration(r.rate.Burst)*r.rate.Every)
	if now.Sub(r.swept) < span {
		return
	}
	r.swept = now
	for who, paid := range r.until {
		if !paid.After(now) {
			delete(r.until, who)
		}
	}
}
