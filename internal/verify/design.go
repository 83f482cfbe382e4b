package verify

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/policy"
)

// checkDesign holds what a release says of importance ratios against what it says of the
// policies that they follow from. Of a table or a tree it tells the hash of the file
// alone, and nothing can be compared.
func checkDesign(r *evaluate.Release, b config.Behavior) error {
	v, stated := r.Public["design"]
	if !stated {
		return nil
	}
	var told struct {
		evaluate.Design
		Ended, Complete bool // as older releases have them
	}
	if err := strictly(v, &told); err != nil {
		return fmt.Errorf("design: %w", err)
	}
	d := told.Design
	switch {
	case spec.Recorded(&b) || b.Kind == "columns" || b.Kind == "softmax":
		return fmt.Errorf("kind %s does not bound the ratios, and public.design does", spec.KindOf(&b))
	case d.Supported && b.Source != "design":
		return fmt.Errorf("source is %s, and public.design says that actions were drawn so", b.Source)
	}
	targets, err := targetsIn(r.Public["target"])
	if targets == nil || err != nil || b.Kind != "uniform" && b.Kind != "constant_by_step" {
		return err
	}
	behaviour, err := spec.BehaviorPolicy(&b, config.Config{})
	if err != nil {
		return err
	}
	want := evaluate.NewDesign(behaviour, b.Source == "design", targets...)
	if want != nil && d.Each == nil { // older releases have what is said of all together
		want.Each = nil
	}
	if want == nil || !reflect.DeepEqual(*want, d) {
		return errors.New("public.design is not what the two policies say of ratios")
	}
	return nil
}

// checkDifferences holds what a release says of the distance of two policies against the policies,
// where their words say all of them.
func checkDifferences(r *evaluate.Release, b config.Behavior) error {
	var t struct {
		Policies []struct {
			Name string `json:"name"`
		} `json:"policies"`
		Contrasts   [][2]string               `json:"contrasts"`
		Differences []*policy.DifferenceBound `json:"differences"`
	}
	var words []string
	if r.Public["targets"] == nil {
		return nil
	}
	if err := errors.Join(loosely(r.Public["targets"], &t), loosely(r.Public["target"], &words)); err != nil {
		return err
	}
	known := map[string]policy.Policy{}
	for i, p := range t.Policies {
		if i >= len(words) {
			return nil // which is told elsewhere
		}
		target, err := targetIn(strings.TrimPrefix(words[i], p.Name+": "))
		if strings.HasSuffix(words[i], ": "+config.Target{Kind: "logged"}.String()) && !spec.Recorded(&b) && b.Kind == "uniform" {
			target, err = spec.BehaviorPolicy(&b, config.Config{})
		}
		if err != nil {
			return err
		}
		known[p.Name] = target
	}
	for i, d := range t.Differences[:min(len(t.Differences), len(t.Contrasts))] {
		first, second := known[t.Contrasts[i][0]], known[t.Contrasts[i][1]]
		if d == nil || first == nil || second == nil {
			continue
		}
		if want, ok := policy.BoundDifference(first, second, nil); !ok || want.Distance != d.Distance {
			return fmt.Errorf("differences[%d] is not what the two policies say of each other", i)
		}
	}
	return nil
}

// checkCells holds what a release says of policies by cell against the policies, where their words
// say all of them.
func checkCells(r *evaluate.Release) error {
	var f struct {
		Target   any                         `json:"target"`
		Cells    [][]float64                 `json:"policies_by_cell"`
		Behavior *evaluate.EstimatedBehavior `json:"estimated_behavior"`
	}
	if err := loosely(r.Public, &f); err != nil || f.Cells == nil || f.Behavior == nil {
		return err
	}
	words := []string{fmt.Sprint(f.Target)}
	if list, several := f.Target.([]any); several {
		words = nil
		for _, one := range list {
			_, what, _ := strings.Cut(fmt.Sprint(one), ": ")
			words = append(words, what)
		}
	}
	if len(words) != len(f.Cells) {
		return fmt.Errorf("policies_by_cell has %d policies, and target %d", len(f.Cells), len(words))
	}
	for i, what := range words {
		if logged := what == (config.Target{Kind: "logged"}).String(); logged != (f.Cells[i] == nil) {
			return fmt.Errorf("policies_by_cell[%d] is not what %q does", i, what)
		}
		constant, uniform := constantTarget.FindStringSubmatch(what), uniformTarget.FindStringSubmatch(what)
		for j, v := range f.Cells[i] {
			action, want := j%max(f.Behavior.Actions, 1), v
			switch {
			case constant != nil && action == int(number(constant[1])):
				want = 1
			case constant != nil:
				want = 0
			case uniform != nil && action < int(number(uniform[1])):
				want = 1 / float64(number(uniform[1]))
			case uniform != nil:
				want = 0
			}
			if v != want {
				return fmt.Errorf("policies_by_cell[%d] is not what %q does", i, what)
			}
		}
	}
	return nil
}

// targetsIn are the policies that words say all of, one or a list of "name: policy"; nil where there are others.
func targetsIn(target any) (all []policy.Policy, err error) {
	list, several := target.([]any)
	if !several {
		list = []any{target}
	}
	for _, one := range list {
		words := fmt.Sprint(one)
		if _, what, named := strings.Cut(words, ": "); several && named {
			words = what
		}
		p, err := targetIn(words)
		if words == (config.Target{Kind: "logged"}).String() {
			p = policy.Logged{}
		}
		if p == nil || err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// targetIn is a policy that its words say all of, nil for others.
func targetIn(words string) (policy.Policy, error) {
	if m := uniformTarget.FindStringSubmatch(words); m != nil {
		return policy.NewUniform(int(number(m[1])))
	}
	if m := constantTarget.FindStringSubmatch(words); m != nil {
		return policy.NewConstant(int(number(m[1])))
	}
	return nil, nil
}
