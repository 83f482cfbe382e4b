package canon

// Version is the version of the canonical schema. A format that can carry it does,
// under VersionKey, and refuses any other.
const (
	Version    = "1"
	VersionKey = "discreet_schema_version"
)
