package trajectory

import "github.com/discreet-rl/discreet/rl/trajectory/internal/canon"

// SchemaVersion is the version of the canonical schema. A format that can
// carry it does, under SchemaVersionKey, and refuses any other.
const (
	SchemaVersion    = "1"
	SchemaVersionKey = "discreet_schema_version"
)

// CanonicalNames lists the columns of the canonical schema. The three that end
// in a placeholder stand for families: obs_<name>, next_obs_<name>, prob_<k>.
func CanonicalNames() []string { return canon.Names() }
