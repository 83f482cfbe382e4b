package spec

import (
	"fmt"
	"strconv"
	"time"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// readCuts reads how the rows of a person are cut into episodes.
func readCuts(d config.Data, o *trajectory.Options) (err error) {
	if d.Episodes == nil {
		return nil
	}
	gap, restart := d.Episodes["gap"], d.Episodes["restart"]
	switch {
	case len(d.Episodes) != 1 || gap == "" && restart == "":
		return fmt.Errorf("%w: data.episodes wants one key: gap, such as {gap: 30d}, or {restart: step}", config.ErrConfig)
	case gap != "":
		o.Gap, err = span(gap)
		return err
	case restart != "step":
		return fmt.Errorf("%w: data.episodes.restart is %q; want step", config.ErrConfig, restart)
	}
	o.Restart = true
	return nil
}

// units are those of a time.
var units = map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}

// longest is the longest time, in years of 365 days.
const longest = 200

// span reads a time such as 30d: a day has 24 hours.
func span(text string) (time.Duration, error) {
	last := len(text) - 1
	n, err := strconv.ParseUint(text[:last], 10, 32)
	unit := units[text[last]]
	if err != nil || n == 0 || unit == 0 || n > uint64(longest*365*24*time.Hour/unit) {
		return 0, fmt.Errorf("%w: data.episodes.gap is %q; want a whole number above 0 of days, hours, minutes or seconds, such as 30d, 12h, 90m or 45s, of %d years at most", config.ErrConfig, text, longest)
	}
	return time.Duration(n) * unit, nil
}
