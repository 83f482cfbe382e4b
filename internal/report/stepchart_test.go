package report_test

import (
	"fmt"
	"strings"
	"testing"
)

// States with names stand under the axis by them, or by their numbers where there is no
// room for words, and the page says so.
func TestTheAxisNamesStatesWhereThereIsRoom(t *testing.T) {
	r := scalarRelease()
	r.Answers, r.Public["features"] = nil, map[string]any{"kind": "tabular", "states": 40, "column": "obs_x"}
	for n, named := range map[int]bool{3: true, 40: false} {
		var names []string
		r.Values, r.Theta = nil, nil
		for i := range n {
			names = append(names, fmt.Sprintf("word%d", i))
			r.Values, r.Theta = append(r.Values, float64(i)/64), append(r.Theta, float64(i)/64)
		}
		r.Public["state_names"] = names
		page := render(t, r)
		if got := strings.Contains(page, `y="246" text-anchor="middle">word2</text>`); got != named {
			t.Errorf("%d states: named on the axis: %v", n, got)
		}
		if got := strings.Contains(page, "The axis numbers the states from 0"); got == named {
			t.Errorf("%d states: said to be numbered: %v", n, got)
		}
		if got := strings.Count(page, `<th scope="row">word2</th>`); got != 2 {
			t.Errorf("%d states: word2 is in %d tables; want values and weights", n, got)
		}
	}
}
