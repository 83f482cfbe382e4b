package serve_test

import (
	"testing"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// The methods are those that the steward allows, with what each releases.
func TestTheMethodsOfADatasetAreListed(t *testing.T) {
	h := opened(t, "")
	r, err := h.client("ann").ListMethods(t.Context(), &curatorv1.ListMethodsRequest{Dataset: "pbc"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range r.GetMethods() {
		names = append(names, m.GetName())
		if m.GetReleases() == "" || m.GetAssumes() == "" {
			t.Errorf("%s says nothing of itself", m.GetName())
		}
	}
	if len(names) != 2 || names[0] != "dp-is" || names[1] != "dp-wis" {
		t.Errorf("%q; want dp-is and dp-wis", names)
	}
}
