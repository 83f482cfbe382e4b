package meter_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/ledger/meter"
)

func Example() {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-6}
	m, err := meter.New(dp.AddRemoveOne, budget, account.GaussianDP, account.FilterOptions{})
	if err != nil {
		panic(err)
	}
	limits, err := m.Limits(budget, dp.Budget{})
	if err != nil {
		panic(err)
	}
	cost, err := m.Cost(context.Background(), dp.Gaussian{NoiseMultiplier: 8})
	fmt.Println(cost.Sum, cost.Within(limits.Most), err)
	// Output: 0.015625 true <nil>
}
