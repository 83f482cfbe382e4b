package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Declares refuses a policy of the question over a column of observations that neither the
// steward's part nor more names, before anything is read: such a column may not be there,
// and then the check would fail and count.
func (s *Spec) Declares(more []string) error {
	known := map[string]bool{}
	add := func(names ...string) {
		for _, name := range names {
			known[strings.TrimPrefix(name, "obs_")] = true
		}
	}
	add(more...)
	if s.Public.Features != nil {
		add(s.Public.Features.Columns()...)
	}
	if s.Behavior != nil {
		add(columnsOf(s.Behavior)...)
	}
	data := s.Config.Data
	for name := range data.Columns {
		if strings.HasPrefix(name, "obs_") && data.Column(name) != trajectory.NoColumn {
			add(name)
		}
	}
	for name := range data.Means {
		add(name)
	}
	for name, v := range data.Encode {
		switch {
		case name == "reward" || name == "terminated" || name == "truncated":
		case v.OneHot:
			for _, word := range v.Words {
				add(name + "_" + word)
			}
		default:
			add(name)
		}
	}
	if s.Reading.Indicators {
		for name := range maps.Clone(known) {
			add(name + suffixMissing)
		}
		for name, v := range data.Encode {
			if v.OneHot {
				add(name + suffixMissing)
			}
		}
	}
	for i, p := range Policies(s.Public) {
		for _, name := range columnsOf(p) {
			if name = strings.TrimPrefix(name, "obs_"); !known[name] {
				return fmt.Errorf("%w: %s reads the column %s, which is not declared; declared are %s; ask the steward to declare it too (data.columns, features, or policy_columns of the service)", config.ErrConfig, s.Config.TargetKey(i), name, quoted(slices.Sorted(maps.Keys(known))))
			}
		}
	}
	return nil
}

// quoted lists names, or says that there are none.
func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
