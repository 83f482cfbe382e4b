package discreet

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// checkDesign holds what a release says of importance ratios against what it says of the
// policies that they follow from. Of a table or a tree it tells the hash of the file
// alone, and nothing can be compared.
func checkDesign(r *evaluate.Release, b Behavior) error {
	v, told := r.Public["design"]
	if !told {
		return nil
	}
	var d evaluate.Design
	if err := strictly(v, &d); err != nil {
		return fmt.Errorf("design: %w", err)
	}
	horizon, _ := r.Public["horizon"].(float64)
	single, _ := r.Public["one_decision"].(bool)
	switch {
	case b.recorded() || b.Kind == "columns" || b.Kind == "softmax":
		return fmt.Errorf("kind %s does not bound the ratios, and public.design does", orColumn(b.Kind))
	case d.Supported && b.Source != "design":
		return fmt.Errorf("source is %s, and public.design says that actions were drawn so", b.Source)
	case d.Ended && r.Public["end"] != "terminated" && !single && horizon != 1:
		return errors.New("public.design says that no record was cut off, and public.end does not")
	}
	if _, stated := r.Public["records"]; d.Complete != stated {
		return errors.New("public.design and public.records differ in whether nothing is lost")
	}
	words, _ := r.Public["target"].(string) // a list, where there are several
	target, err := targetIn(words)
	if target == nil || err != nil || b.Kind != "uniform" && b.Kind != "constant_by_step" {
		return err
	}
	behaviour, err := b.policy(Config{})
	if err != nil {
		return err
	}
	want := evaluate.NewDesign(behaviour, b.Source == "design", d.Ended, target)
	if want != nil {
		want.Complete = d.Complete
	}
	if want == nil || !reflect.DeepEqual(*want, d) {
		return errors.New("public.design is not what the two policies say of ratios")
	}
	return nil
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
