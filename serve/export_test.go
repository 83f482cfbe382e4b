package serve

import "time"

// Hold changes how long a worker that is not heard of keeps its ask; it is for tests, before Run.
func (s *Service) Hold(d time.Duration) { s.hold = d }

// Hurry has receivers of notices told, and tested, without rest between; it is for tests, before Run.
func (s *Service) Hurry() {
	s.pace = pace{rest: time.Millisecond, wait: 50 * time.Millisecond, test: 50 * time.Millisecond, again: 50 * time.Millisecond}
}
