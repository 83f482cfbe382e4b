package trajectory

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// mostJoined bounds the columns of an id.
const mostJoined = 4

// validateJoined checks the ids of several columns. These may also be the whole id of a
// person or an episode, but nothing else.
func (o *Options) validateJoined() error {
	for name, columns := range o.Joined {
		_, twice := o.Columns[name]
		switch {
		case name != canon.Episode && name != canon.Unit:
			return fmt.Errorf("%w: %s is mapped to %d columns; only %s and %s may be of several", ErrOptions, name, len(columns), canon.Episode, canon.Unit)
		case twice:
			return fmt.Errorf("%w: %s is mapped to one column and to several; choose", ErrOptions, name)
		case len(columns) < 2 || len(columns) > mostJoined:
			return fmt.Errorf("%w: %s is mapped to %d columns; want one, or 2 to %d", ErrOptions, name, len(columns), mostJoined)
		}
		for i, column := range columns {
			if column == "" || column == NoColumn || slices.Contains(columns[:i], column) {
				return fmt.Errorf("%w: %s is mapped to %q; want the names of different columns", ErrOptions, name, columns)
			}
			for other, mapped := range o.Columns {
				if mapped == column && other != canon.Episode && other != canon.Unit {
					return twoNames(column, min(name, other), max(name, other))
				}
			}
		}
	}
	return nil
}
