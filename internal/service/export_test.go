package service

import "time"

// LookAtOnce has the TLS files looked at with every handshake.
func (s *Server) LookAtOnce() {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	s.keeper.every = 0
}

// Allow is what a route's rate says to who asks at that time.
func Allow(r Rate) func(who string, at time.Time) time.Duration {
	var now time.Time
	rates := newRates(r, func() time.Time { return now })
	return func(who string, at time.Time) time.Duration {
		now = at
		return rates.allow(who)
	}
}
