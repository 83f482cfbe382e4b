package device

import (
	"fmt"

	"github.com/discreet-rl/discreet/internal/fleet"
)

// Version is that of what an agent can do, against which a run's min_client is held; a build has its own.
const Version = "1.1.0"

// enough tells whether this agent is new enough; the error wraps [ErrClient].
func enough(least string) error {
	if least == "" {
		return nil
	}
	want, err := fleet.ParseVersion(least)
	if err != nil {
		return fmt.Errorf("%w: it asks for a version that is none: %w", ErrClient, err)
	}
	have, err := fleet.ParseVersion(Version)
	if err != nil {
		return err
	}
	for i := range want {
		if have[i] != want[i] {
			if have[i] > want[i] {
				return nil
			}
			return fmt.Errorf("%w: it asks for %s, and this is %s; update it", ErrClient, least, Version)
		}
	}
	return nil
}
