package noise

import "github.com/discreet-rl/discreet/internal/dp/hook"

// Join has sums that become noisy from this source ask x, from the next release on. A source
// without a key, which is its zero value, then has no noise: a release either ends in what x
// knows of it, or panics at its first draw. What x may be is internal to this module: shards
// and replays use it.
func (s *Source) Join(x hook.Sums) { s.sums = x }

// Sums returns what [Source.Join] set, nil by default.
func (s *Source) Sums() hook.Sums { return s.sums }
