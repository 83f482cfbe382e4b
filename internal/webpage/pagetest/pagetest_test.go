package pagetest_test

import (
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/internal/webpage/pagetest"
)

func Example() {
	fmt.Println(pagetest.Faults("<h1>Hello</h1>"), pagetest.Faults("<h1>Hello</h1><script>"))
	// Output: [] [it has <script]
}

// Each fault is found where it is alone.
func TestEveryFaultIsFound(t *testing.T) {
	for _, bad := range []string{pagetest.Hostile, `<a href="javascript:x">`, `<a href="https://example.org">`, `<p style="color:red">`, `<p class="a" onclick="x">`, `<h1>again</h1>`, `<label for="x">`} {
		if got := pagetest.Faults("<h1>Hello</h1>" + bad); len(got) == 0 {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
	if got := pagetest.Faults(`<h1>Hello</h1><label for="x">X</label><input id="x"><p title="a onx=b">`); len(got) > 0 {
		t.Errorf("%v with a good page", got)
	}
}
