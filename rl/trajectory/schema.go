package trajectory

import "github.com/discreet-rl/discreet/rl/trajectory/internal/canon"

// CanonicalNames lists the columns of the canonical schema. The three that end
// in a placeholder stand for families: obs_<name>, next_obs_<name>, prob_<k>.
func CanonicalNames() []string { return canon.Names() }
