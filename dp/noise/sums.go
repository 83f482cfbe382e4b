package noise

import "github.com/discreet-rl/discreet/internal/dp/hook"

// Join makes every sum that takes its noise from this source go through x, from the next release
// on. A zero Source, which has no key, then has no noise: a release either uses the values that x
// has stored for it, or panics at its first draw. The type of x is internal to this module; shards
// and replays use it.
func (s *Source) Join(x hook.Sums) { s.sums = x }

// Sums returns what [Source.Join] set, nil by default.
func (s *Source) Sums() hook.Sums { return s.sums }
