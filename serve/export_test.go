package serve

import "time"

// Hold changes how long a worker that is not heard of keeps its ask; it is for tests, before Run.
func (s *Service) Hold(d time.Duration) { s.hold = d }
