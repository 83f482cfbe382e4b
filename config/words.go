package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Asks says in words what a configuration asks, a line for each part, from the configuration
// as it was read: whoever decides on a question reads what will run.
func (c Config) Asks() []string {
	var lines []string
	say := func(what, format string, args ...any) { lines = append(lines, what+": "+fmt.Sprintf(format, args...)) }
	if len(c.Targets) == 0 {
		say("policy", "%s", c.Target)
	}
	for _, t := range c.Targets {
		say("policy "+t.Name, "%s", t.Target())
	}
	if l := c.Levels; l != nil {
		switch {
		case l.None:
			say("values", "of no policy by itself")
		case len(l.Names) > 0:
			say("values", "of %s", strings.Join(l.Names, ", "))
		}
	}
	if d := c.Contrasts; d != nil {
		switch {
		case d.Word == "logged":
			say("differences", "of every policy and the one that made the data")
		case d.Word != "":
			say("differences", "of %s pairs of policies", d.Word)
		}
		for _, pair := range d.Pairs {
			say("difference", "%s less %s", pair[0], pair[1])
		}
	}
	if c.Select != nil {
		say("choice", "the best policy, by %s", c.Select.Best)
	}
	if c.By != nil {
		say("by groups", "%s", parsed(c.By))
	}
	if c.Start != nil {
		say("start", "%s", parsed(c.Start))
	}
	method := c.Method.Name
	for _, key := range slices.Sorted(maps.Keys(c.Method.Params)) {
		method += fmt.Sprintf(", %s %s", key, parsed(c.Method.Params[key]))
	}
	say("method", "%s", method)
	say("privacy", "epsilon %g, delta %g", c.Privacy.Epsilon, c.Privacy.Delta)
	if c.Justification != "" {
		say("justification", "%s", c.Justification)
	}
	return lines
}

// parsed is a part of a configuration as it was read.
func parsed(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
