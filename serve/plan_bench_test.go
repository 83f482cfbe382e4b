package serve_test

import (
	"testing"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

func BenchmarkPlan(b *testing.B) {
	h := opened(b, "")
	c := h.client("ann")
	for b.Loop() {
		if _, err := c.Plan(b.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.5)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBudget(b *testing.B) {
	h := opened(b, "")
	c := h.client("ann")
	for b.Loop() {
		if _, err := c.GetBudget(b.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"}); err != nil {
			b.Fatal(err)
		}
	}
}
