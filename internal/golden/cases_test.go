package golden

import "strings"

// question is one evaluation: what it asks of which log.
type question struct {
	name   string
	log    string // of logs
	target string
	method string
	// noPrivacy asks for a reference; only limits a private method to one adjacency.
	noPrivacy bool
	only      string
	more      string // features, or another section
	privacy   string // further keys of privacy
}

// logs are the sections data and problem of the three logs.
var logs = map[string]string{
	"visits":   "data: {path: visits.csv, behavior: {source: logged}}\nproblem: {persons: 60, gamma: 0.875, reward: {min: 0, max: 1}, horizon: 15, episodes: 3}\n",
	"single":   "data: {path: single.csv, behavior: {source: logged}}\nproblem: {persons: 60, gamma: 0.875, reward: {min: 0, max: 1}, horizon: 5}\n",
	"paid":     "data: {path: single.csv, behavior: {source: logged}}\nproblem: {persons: 60, gamma: 1, discounts: true, reward: {min: 0.125, max: 0.875, outside: clip}, return: {min: 0, max: 3}, horizon: 4}\n",
	"untold":   "data: {path: visits.csv, behavior: {kind: estimate, column: obs_state, states: 5, actions: 4, once: false}}\nproblem: {persons: 60, gamma: 0.875, reward: {min: 0, max: 1}, horizon: 15, episodes: 3}\n",
	"bare":     "data: {path: bandit.csv, one_row_episodes: true, behavior: {kind: estimate, actions: 4, once: false}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 1}\n",
	"cells":    "data: {path: bandit.csv, one_row_episodes: true, behavior: {kind: estimate, actions: 2, once: false}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 1}\n",
	"cellular": "data: {path: bandit.csv, one_row_episodes: true, behavior: {kind: estimate, column: obs_state, states: 1, actions: 2, once: false}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 1}\n",
	"fitted":   "data: {path: bandit.csv, one_row_episodes: true, behavior: {kind: estimate, by: features, actions: 2, once: false, share: 0.6}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 1}\n",
	"drawn":    "data: {path: bandit.csv, one_row_episodes: true, behavior: {source: design, kind: uniform, actions: 4}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 1, records: complete}\n",
	"trial":    "data: {path: visits.csv, behavior: {source: design, kind: constant_by_step, probs: [[0.25, 0.75], 1]}}\nproblem: {persons: 60, gamma: 0.875, reward: {min: 0, max: 1}, horizon: 15, episodes: 3}\n",
	"stays":    "data: {path: single.csv, outcome: {causes: {discharge: 1}}}\nproblem: {persons: 60, horizon: 5, episodes: 1}\n",
	"times":    "data: {path: bandit.csv, outcome: {time: reward, event: obs_state, causes: {relapse: 1, death: 2}, censored: [0, 3], every: 0.25, until: 1}}\nproblem: {persons: 200}\n",
	"lives":    "data: {path: bandit.csv, behavior: {source: design, kind: uniform, actions: 4}, outcome: {time: reward, event: obs_state, causes: {relapse: 1, death: 2}, censored: [0, 3], every: 0.25, until: 1}}\nproblem: {persons: 200}\n",
	"bandit":   "data: {path: bandit.csv, one_row_episodes: true, behavior: {source: logged}}\nproblem: {persons: 200, gamma: 1, reward: {min: 0, max: 1}, horizon: 1}\n",
}

const (
	logged  = "{kind: logged}"
	column  = "{kind: column}"
	first   = "{kind: constant, action: 1}"
	softmax = "{kind: softmax, path: softmax.json}"
	table   = "{kind: table, path: table.csv, column: obs_state}"
	wide    = "{kind: table, path: wide.csv, column: obs_state}" // of four actions
	uniform = "{kind: uniform, actions: 4}"

	states  = "features: {kind: tabular, states: 5, column: obs_state}\n"
	pairs   = "features: {kind: aggregate, states: 5, of: 2, column: obs_state}\n"
	linear  = "features: {kind: columns, names: [obs_x, obs_y], low: [0, -1], high: [1, 1], intercept: true}\n"
	plain   = "features: {kind: columns, names: [obs_state], low: [0], high: [4]}\n"
	fourier = "features: {kind: fourier, names: [obs_x, obs_y], order: 1, low: [0, -1], high: [1, 1]}\n"
)

func private() []question {
	return []question{
		{name: "auto-value", log: "single", target: logged, method: "{name: auto}", more: states},
		{name: "auto-scalar", log: "visits", target: column, method: "{name: auto}"},
		{name: "constant", log: "visits", target: logged, method: "{name: constant}"},
		{name: "constant-given", log: "visits", target: logged, method: "{name: constant, value: 0.25}"},

		{name: "dp-is-logged", log: "visits", target: logged, method: "{name: dp-is}"},
		{name: "dp-is-complete", log: "drawn", target: logged, method: "{name: dp-is}"},
		{name: "dp-is", log: "visits", target: column, method: "{name: dp-is}"},
		{name: "dp-is-auto", log: "bandit", target: uniform, method: "{name: dp-is, clip: auto, clip_share: 0.3, diagnostics: 0.1, max_weight: 4}"},
		{name: "dp-pdis", log: "visits", target: first, method: "{name: dp-pdis}"},
		{name: "dp-pdis-auto", log: "visits", target: column, method: "{name: dp-pdis, clip: auto, diagnostics: 0.1, max_weight: 4}"},
		{name: "dp-pdis-discounts", log: "paid", target: softmax, method: "{name: dp-pdis}"},
		{name: "dp-wis", log: "bandit", target: column, method: "{name: dp-wis}"},
		{name: "dp-wis-softmax", log: "visits", target: softmax, method: "{name: dp-wis, clip_share: 0.3, max_weight: 4}"},
		{name: "dp-wis-estimated", log: "untold", target: table, method: "{name: dp-wis, confounding: 1.25}"},
		{name: "dp-wis-cells", log: "cells", target: first, method: "{name: dp-wis}"},
		{name: "several-cells", log: "cells", method: "{name: dp-wis}", more: "targets: [{name: first, kind: constant, action: 1}, {name: as was, kind: logged}]\ncontrasts: all\nselect: best\n", privacy: ", noise_family: gaussian"},
		{name: "dp-wis-fitted", log: "fitted", target: table, method: "{name: dp-wis}", more: "features: {kind: columns, names: [obs_state], low: [0], high: [4], intercept: true}\n"},
		{name: "dp-wis-auto", log: "bandit", target: uniform, method: "{name: dp-wis, clip: auto, diagnostics: 0.1}"},
		{name: "dp-wis-design", log: "drawn", target: first, method: "{name: dp-wis}"},
		{name: "dp-dr-design", log: "drawn", target: first, method: "{name: dp-dr, diagnostics: 0.1}"},
		{name: "dp-pdis-design", log: "trial", target: first, method: "{name: dp-pdis}"},
		{name: "several-wis", log: "bandit", method: "{name: dp-wis}", more: "targets: [{name: even, kind: uniform, actions: 4}, {name: given, kind: column}]\ncontrasts: all\nselect: best\n"},
		{name: "dp-wis-histogram", log: "drawn", target: wide, method: "{name: dp-wis}", privacy: ", noise_family: gaussian"},
		{name: "dp-dr-histogram", log: "drawn", target: wide, method: "{name: dp-dr}"},
		{name: "dp-fqe-histogram", log: "drawn", target: wide, method: "{name: dp-fqe}", more: "features: {kind: tabular, states: 5, column: obs_state}\n"},
		{name: "several-histogram", log: "drawn", method: "{name: dp-wis}", more: "targets: [{name: table, kind: table, path: wide.csv, column: obs_state}, {name: even, kind: uniform, actions: 4}]\ncontrasts: all\n"},
		{name: "several-near", log: "drawn", method: "{name: dp-wis}", more: "targets: [{name: first, kind: constant, action: 0}]\ncontrasts: logged\nlevels: none\n"},
		{name: "several-design", log: "drawn", method: "{name: dp-wis}", more: "targets: [{name: first, kind: constant, action: 0}, {name: second, kind: constant, action: 1}]\ncontrasts: all\nselect: best\n"},
		{name: "several-choice", log: "bandit", method: "{name: dp-wis}", more: "targets: [{name: even, kind: uniform, actions: 4}, {name: given, kind: column}, {name: as was, kind: logged}]\nselect: {best: permute-and-flip, gap: 0.25}\n"},
		{name: "several-likelier", log: "drawn", method: "{name: auto}", more: "targets: [{name: first, kind: constant, action: 0}, {name: second, kind: constant, action: 1}]\nselect: {best: auto, value: 0.25}\n"},
		{name: "several-estimated", log: "untold", method: "{name: dp-wis}", more: "targets: [{name: table, kind: table, path: table.csv, column: obs_state}, {name: as was, kind: logged}]\ncontrasts: all\nselect: best\n"},
		{name: "several-tied", log: "untold", method: "{name: dp-wis}", more: "targets: [{name: first, kind: constant, action: 1}, {name: none, kind: constant, action: 0}]\nselect: best\n"},
		{name: "several-fitted", log: "fitted", method: "{name: dp-is}", more: "targets: [{name: one, kind: constant, action: 1}, {name: none, kind: constant, action: 0}]\nlevels: none\ncontrasts: all\nfeatures: {kind: columns, names: [obs_state], low: [0], high: [4], intercept: true}\n"},
		{name: "several-pdis", log: "visits", method: "{name: dp-pdis}",
			more: "targets: [{name: first, kind: constant, action: 1}, {name: none, kind: constant, action: 0}, {name: as was, kind: logged}]\nlevels: [first]\ncontrasts: all\n"},
		{name: "several-auto", log: "visits", method: "{name: auto, max_weight: 4}", more: "targets: [{name: table, kind: table, path: table.csv, column: obs_state}]\nlevels: none\ncontrasts: logged\n"},
		{name: "groups-wis", log: "bandit", target: uniform, method: "{name: dp-wis, max_weight: 4}", more: "by: {column: obs_state, values: [0, 1], group: may_change, guess: {0: 70}}\n", only: "replace_one"},
		{name: "groups-dr", log: "bandit", target: column, method: "{name: dp-dr}", more: "by: {column: obs_state, values: [2, 0], names: [two, none], group: fixed, persons: {2: 76, 0: 73}}\n", only: "replace_one"},
		{name: "groups-estimated", log: "bare", target: uniform, method: "{name: dp-wis, max_weight: 4}", more: "by: {column: obs_state, values: [0, 1], group: may_change}\n", only: "replace_one"},
		{name: "groups-logged", log: "bandit", target: logged, method: "{name: auto}", more: "by: {column: obs_state, values: [0, 1, 2]}\n", only: "add_remove_one"},
		{name: "dp-dr", log: "visits", target: table, method: "{name: dp-dr}", more: states},
		{name: "dp-dr-state", log: "visits", target: column, method: "{name: dp-dr, baseline: state, diagnostics: 0.1}", more: states},
		{name: "dp-dr-value", log: "visits", target: column, method: "{name: dp-dr, baseline: value, baseline_share: 0.2, clip: public}"},
		{name: "dp-dr-none", log: "visits", target: logged, method: "{name: dp-dr, baseline: none, max_weight: 3}"},
		{name: "dp-dr-logged", log: "bandit", target: logged, method: "{name: dp-dr}"},
		{name: "dp-dr-complete", log: "drawn", target: logged, method: "{name: dp-dr}"},
		{name: "dp-dr-constant", log: "visits", target: column, method: "{name: dp-dr, constant: 1.5, clip_share: 0.3}"},
		{name: "dp-dr-states", log: "visits", target: first, method: "{name: dp-dr, state_values: [0.5, 1, 1.5, 2, 2.5]}", more: states},
		{name: "dp-dr-action", log: "bandit", target: uniform, method: "{name: dp-dr}"},
		{name: "dp-dr-actions", log: "bandit", target: uniform, method: "{name: dp-dr, action_values: [0.25, 0.5, 0.5, 0.75]}"},

		{name: "dp-dr-model", log: "visits", target: table, method: "{name: dp-dr, baseline: model}", more: states},
		{name: "dp-dr-linear", log: "visits", target: column, method: "{name: dp-dr, baseline: model}", more: fourier},
		{name: "dp-fqe", log: "visits", target: table, method: "{name: dp-fqe}", more: states},
		{name: "dp-fqe-action", log: "visits", target: first, method: "{name: dp-fqe, form: action, interval: none}", more: pairs},
		{name: "dp-fqe-state", log: "visits", target: column, method: "{name: dp-fqe, form: state, max_ratio: 3, interval_share: 0.5, start_share: 0.1}", more: states},
		{name: "dp-fqe-linear", log: "visits", target: softmax, method: "{name: dp-fqe, form: linear, interval: none}", more: linear},
		{name: "dp-fqe-linear-state", log: "visits", target: column, method: "{name: dp-fqe, max_ratio: 3}", more: fourier},
		{name: "dp-fqe-pooled", log: "single", target: logged, method: "{name: dp-fqe, form: pooled}", more: states},

		{name: "dp-lsw", log: "single", target: logged, method: "{name: dp-lsw}", more: states},
		{name: "dp-lsw-balle16", log: "single", target: logged, method: "{name: dp-lsw, constants: balle16, weights: [1, 2, 1, 0.5, 1]}", more: pairs},
		{name: "dp-lsl", log: "single", target: logged, method: "{name: dp-lsl}", more: states},
		{name: "dp-lsl-balle16", log: "paid", target: logged, method: "{name: dp-lsl, constants: balle16, lambda: 20}", more: states},

		{name: "dp-refine", log: "visits", target: logged, method: "{name: dp-refine}", more: states},
		{name: "dp-refine-start", log: "single", target: logged, method: "{name: dp-refine}", more: states + "start: {kind: weights, weights: [3, 1, 0, 0, 1]}\n"},
		{name: "dp-refine-off", log: "visits", target: column, method: "{name: dp-refine, max_weight: 4, rounds: 10}", more: pairs},
		{name: "dp-refine-regression", log: "visits", target: logged, method: "{name: dp-refine}", more: linear},
		{name: "dp-refine-regression-off", log: "single", target: softmax, method: "{name: dp-refine, rounds: 2}", more: fourier},
		{name: "dp-refine-lstd", log: "visits", target: logged, method: "{name: dp-refine, form: lstd}", more: states},
		{name: "dp-refine-lstd-off", log: "paid", target: column, method: "{name: dp-refine, form: lstd, spread: 0.1, deviation: 0.05}", more: linear},

		{name: "dp-distribution", log: "visits", target: column, method: "{name: dp-distribution, bins: 4, max_weight: 1.5, lower_tails: [0.2, 1]}"},
		{name: "dp-distribution-logged", log: "visits", target: logged, method: "{name: dp-distribution, ends: [0, 1], quantiles: [0.5]}"},
		{name: "dp-experiment", log: "bandit", method: "{name: dp-experiment, control: two, allocation: {two: 0.6, none: 0.4}, guess: {mean: 0.25, sd: 0.3}}", more: "by: {column: obs_state, values: [2, 0], names: [two, none], group: may_change}\n", only: "replace_one"},
		{name: "dp-experiment-before", log: "visits", method: "{name: dp-experiment, control: first}", more: "features: {kind: columns, names: [obs_x], low: [0], high: [1]}\nby: {column: obs_state, values: [1, 0, 3], names: [first, none, third]}\n", only: "add_remove_one"},
		{name: "dp-experiment-fixed", log: "bandit", method: "{name: dp-experiment, control: two, differences_only: true}", more: "by: {column: obs_state, values: [2, 0], names: [two, none], group: fixed, persons: {2: 76, 0: 73}}\n", only: "replace_one"},
		{name: "dp-learn", log: "bandit", target: "{kind: learned, actions: 4}", method: "{name: dp-learn}", more: states, privacy: ", noise_family: gaussian"},
		{name: "dp-learn-tree", log: "bandit", target: "{kind: learned, actions: 4}", method: "{name: dp-learn, depth: 1, bins: 2}", more: plain, privacy: ", noise_family: gaussian"},
		{name: "dp-learn-drawn", log: "bandit", target: "{kind: learned, actions: 4}", method: "{name: dp-learn, bins: 3}", more: plain},
		{name: "dp-learn-linear", log: "bandit", target: "{kind: learned, actions: 4}", method: "{name: dp-learn, rule: linear}", more: plain},
		{name: "dp-learn-limits", log: "bandit", target: "{kind: learned, actions: 4}", method: "{name: dp-learn, budget: 0.6, monotone: {obs_state: down}, never: [{action: 3, column: obs_state, above: 1}]}", more: states},
		{name: "dp-learn-cells", log: "cellular", target: "{kind: learned, actions: 2}", method: "{name: dp-learn}", more: "features: {kind: tabular, states: 1, column: obs_state}\n"},
		{name: "dp-learn-lives", log: "lives", target: "{kind: learned, actions: 4}", method: "{name: dp-learn, depth: 1, bins: 2}", more: plain},
		{name: "dp-survival", log: "times", method: "{name: dp-survival}", privacy: ", noise_family: gaussian"},
		{name: "dp-survival-laplace", log: "times", method: "{name: dp-survival, until: 0.75, guess: {events: 0.4, dropout: 0.2}}", privacy: ", noise_family: laplace"},
		{name: "dp-survival-stays", log: "stays", method: "{name: dp-survival}"},
		{name: "dp-survival-arms", log: "stays", method: "{name: dp-survival, control: other}", more: "by: {column: obs_state, values: [0, 1], names: [first, other], group: may_change, guess: {0: 20}}\n", only: "replace_one"},

		{name: "gpope", log: "visits", target: logged, method: "{name: gpope}", more: states},
		{name: "gpope-off", log: "visits", target: column, method: "{name: gpope, momentum: 0.5, clip: 0.5, average: false, start: 1}", more: linear},
		{name: "gpope-uniform", log: "single", target: logged, method: "{name: gpope, sampling: uniform, batch: 12, iterations: 8, schedule: polynomial, exponent: 0.5}", more: states, only: "replace_one"},
		{name: "gpope-everyone", log: "visits", target: logged, method: "{name: gpope, sampling: everyone, iterations: 10, schedule: diminishing, lambda_min: 0.5}", more: pairs},
		{name: "gpope-transition", log: "visits", target: logged, method: "{name: gpope, weighting: transition, length: 3, iterations: 20}", more: states},
		{name: "gpope-one", log: "single", target: logged, method: "{name: gpope, batch: 1, iterations: 200}", more: states},
		{name: "gpope-fast", log: "single", target: logged, method: "{name: gpope, iterations: 20}", more: states, privacy: ", noise: fast"},
		{name: "gpope-xie19", log: "single", target: logged, method: "{name: gpope, batch: 1, sampling: uniform, iterations: 100, accountant: xie19}", more: states, only: "replace_one"},
	}
}

func references() []question {
	all := []question{
		{name: "is", log: "visits", target: column, method: "{name: is}"},
		{name: "pdis", log: "visits", target: softmax, method: "{name: pdis}"},
		{name: "wis", log: "bandit", target: uniform, method: "{name: wis}"},
		{name: "dr", log: "visits", target: table, method: "{name: dr}", more: states},
		{name: "dr-bandit", log: "bandit", target: uniform, method: "{name: dr, prior: 10}"},
		{name: "distribution", log: "visits", target: column, method: "{name: distribution, bins: 6, upper_tails: [0.3]}"},
		{name: "survival", log: "stays", method: "{name: survival, until: 4}"},
		{name: "lsw", log: "visits", target: logged, method: "{name: lsw}", more: states},
		{name: "lsl", log: "visits", target: logged, method: "{name: lsl, lambda: 2, weights: [1, 2, 1, 0.5, 1]}", more: pairs},
		{name: "lstd", log: "visits", target: column, method: "{name: lstd}", more: states},
		{name: "lstd-trajectory", log: "paid", target: logged, method: "{name: lstd, weighting: trajectory}", more: linear},
		{name: "wis-lstd", log: "visits", target: column, method: "{name: wis-lstd, lambda: 0.5, ridge: 0.1}", more: states},
		{name: "gtd2", log: "visits", target: logged, method: "{name: gtd2, steps: 1000, seed: 3}", more: states},
	}
	for i := range all {
		all[i].noPrivacy = true
	}
	return all
}

// config is the configuration of a question in YAML.
func (q question) config(adjacency string) string {
	var b strings.Builder
	b.WriteString(logs[q.log])
	if q.target != "" {
		b.WriteString("target: " + q.target + "\n")
	}
	b.WriteString("method: " + q.method + "\n" + q.more)
	if q.noPrivacy {
		return b.String() + "privacy: none\n"
	}
	return b.String() + "privacy: {unit: person, adjacency: " + adjacency + ", epsilon: 2, delta: 1e-4" + q.privacy + "}\n"
}
