package spec_test

import (
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The columns of the data keep their order, as that of a list must, under the names by which
// the configuration knows them, and each is there once.
func TestImportColumns(t *testing.T) {
	s := spec.Spec{Reading: trajectory.Options{Observations: []string{"age", "stage_2", "score"}, Encode: map[string]trajectory.Vocabulary{
		"action": {Words: []string{"a", "b"}}, "stage": {Words: []string{"1", "2"}, OneHot: true}, "obs_sex": {Words: []string{"f", "m"}}}}}
	got := s.ImportColumns([]string{"obs_weight", "obs_age", "obs_sex"})
	if want := []string{"obs_weight", "age", "obs_sex", "stage_2", "score", "stage_1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := new(spec.Spec).ImportColumns(nil); got == nil || len(got) != 0 {
		t.Errorf("got %#v, want none, and not nil, which stands for all", got)
	}
}
