package device

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is that of the agent, against which a run's min_client is held.
const Version = "1.0.0"

// enough tells whether this agent is new enough; the error wraps [ErrClient].
func enough(least string) error {
	if least == "" {
		return nil
	}
	want, err := numbers(least)
	if err != nil {
		return fmt.Errorf("%w: it asks for version %q; want three numbers", ErrClient, least)
	}
	have, err := numbers(Version)
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

func numbers(text string) (n [3]uint64, err error) {
	parts := strings.Split(text, ".")
	if len(parts) != len(n) {
		return n, strconv.ErrSyntax
	}
	for i, p := range parts {
		if n[i], err = strconv.ParseUint(p, 10, 32); err != nil {
			return n, err
		}
	}
	return n, nil
}
