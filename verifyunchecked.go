package discreet

import "github.com/discreet-rl/discreet/evaluate"

// notChecked names the fields of a release that neither its plan nor other fields
// determine, and that are no noisy numbers of which others are made.
func notChecked(r *evaluate.Release) []string {
	var out []string
	if r.Public["features"] != nil {
		out = append(out, "public.features: which column was read, and how many states it has if the release has no number for each state")
	}
	if r.Public["state_names"] != nil {
		out = append(out, "public.state_names: which word stands for which state")
	}
	if r.Public["by"] != nil {
		out = append(out, "public.by: which column was read, and which of its values make a group")
	}
	if r.Diagnostics["model"] != nil {
		out = append(out, "diagnostics.model (value, std_sampling, std_privacy, state_values, action_values, constant, weights), diagnostics.sums.xz, and the estimate's value and standard deviations, which follow the model: the noisy counts or moments behind the model are not in the release; the interval does not depend on them")
	}
	if b, ok := r.Diagnostics["baseline"].(map[string]any); ok && (b["state_values"] != nil || b["action_values"] != nil) {
		out = append(out, "diagnostics.baseline (state_values, action_values): the estimate uses one number computed from them")
	}
	return out
}
