package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// experiment asks what a comparison of arms needs. The arms are in the column of the action, as words
// that were named or as the numbers from 0 on.
func (t *talk) experiment() {
	action, known := t.has("action")
	arms, worded := t.Facts[actions]
	if !known || !worded && action.Type == "text" {
		t.say("  A comparison needs the column of the arms, and their words: give by (docs/experiments.md).")
		return
	}
	values := arms
	if !worded {
		listed, ok := t.ask("All arms in "+scalar(action.Name)+", by the protocol, such as 0, 1", "", func(s string) error {
			if n := strings.Count(s, ",") + 1; t.choices > 0 && n != t.choices {
				return fmt.Errorf("%d are listed, and there were %d actions to choose from", n, t.choices)
			}
			return numbers(s)
		})
		if !ok {
			return
		}
		arms, values = list(listed), "["+listed+"]"
	}
	of := strings.Split(strings.Trim(arms, "[]"), ", ")
	control, ok := t.ask("Which arm is the control?", of[0], func(s string) error {
		if slices.Contains(of, scalar(s)) {
			return nil
		}
		return oneOf(of...)(s)
	})
	if !ok {
		return
	}
	if !slices.Contains(of, control) {
		control = scalar(control)
	}
	t.Facts[by] = fmt.Sprintf("{column: %s, values: %s, names: %s, group: may_change}", scalar(action.Name), values, arms)
	drawn := ""
	if equal := t.Facts[behavior]; strings.HasPrefix(equal, "{source: design") {
		drawn = ", allocation: {" + strings.Join(shares(of), ", ") + "}"
	}
	t.Facts[method] = "dp-experiment, control: " + control + drawn
	before, ok := t.ask("A column from before arms were drawn that goes with the outcome, with the least and the most that it can be, such as age 20 90", none, func(s string) error {
		if s == none {
			return nil
		}
		_, err := ranges(s, slices.DeleteFunc(slices.Clone(t.of.Columns), func(c file.Column) bool { return c.Name == action.Name }))
		if err == nil && strings.Contains(s, ",") {
			err = fmt.Errorf("want one column")
		}
		return err
	})
	if ok && before != none {
		t.Facts[features], _ = ranges(before, t.of.Columns)
	}
	t.complete()
}

// shares gives every arm the same.
func shares(arms []string) []string {
	var out []string
	for _, arm := range arms {
		out = append(out, fmt.Sprintf("%s: %.17g", arm, 1/float64(len(arms))))
	}
	return out
}

// complete asks whether records are lost.
func (t *talk) complete() {
	if whole, _ := t.ask("Are all decisions and outcomes of all persons in the data, and none lost? (yes or no)", "no", oneOf("yes", "no")); whole == "yes" {
		t.Facts[records] = "complete"
	}
}
