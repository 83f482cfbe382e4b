package discreet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// columnsOf are the observation columns that a policy looks at.
func columnsOf(p policy.Policy) []string {
	if reader, ok := p.(interface{ Columns() []string }); ok {
		return reader.Columns()
	}
	return nil
}

// declares refuses a policy of the question over a column of observations that neither the
// steward's part nor more names, before anything is read: such a column may not be there,
// and then the check would fail and count.
func (j *job) declares(more []string) error {
	known := map[string]bool{}
	add := func(names ...string) {
		for _, name := range names {
			known[strings.TrimPrefix(name, "obs_")] = true
		}
	}
	add(more...)
	if j.public.Features != nil {
		add(j.public.Features.Columns()...)
	}
	if j.behaviour != nil {
		add(columnsOf(j.behaviour)...)
	}
	data := j.config.Data
	for name, column := range data.Columns {
		if strings.HasPrefix(name, "obs_") && column != trajectory.NoColumn {
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
	for i, p := range policies(j.public) {
		for _, name := range columnsOf(p) {
			if name = strings.TrimPrefix(name, "obs_"); !known[name] {
				return fmt.Errorf("%w: %s reads the column %s, which is not declared; declared are %s; ask the steward to declare it too (data.columns, features, or policy_columns of the service)", ErrConfig, j.config.key(i), name, quoted(slices.Sorted(maps.Keys(known))))
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
