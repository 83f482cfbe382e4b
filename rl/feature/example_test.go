package feature_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/feature"
)

func Example() {
	m, err := feature.NewColumns(
		[]string{"obs_age", "obs_bili"},
		[]feature.Range{{Low: 0, High: 100}, {Low: 0, High: 40}},
		feature.ColumnsOptions{Intercept: true},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := m.Bind([]string{"obs_bili", "obs_sex_f", "obs_age"})
	if err != nil {
		fmt.Println(err)
		return
	}
	phi := make([]float64, m.Dim())
	fmt.Println(b.Apply(phi, []float64{10, 1, 58}), phi)
	fmt.Printf("norm at most %.4f\n", m.NormBound())
	// Output:
	// true [1 0.58 0.25]
	// norm at most 1.7321
}

func ExampleSpec() {
	m, err := feature.Spec{Kind: "aggregate", States: 40, Of: 4, Column: "obs_state"}.Map()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Dim(), m.Columns(), m.NormBound())
	// Output: 10 [obs_state] 1
}

func ExampleSpec_Features() {
	s := feature.Spec{
		Kind: "columns", Names: []string{"obs_age", "obs_sex"}, Low: []float64{0, 0}, High: []float64{100, 1},
		Intercept: true, Products: [][]string{{"obs_age", "obs_sex"}},
	}
	m, err := s.Map()
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := m.Bind(s.Names)
	if err != nil {
		fmt.Println(err)
		return
	}
	phi := make([]float64, m.Dim())
	b.Apply(phi, []float64{58, 1})
	for i, name := range s.Features() {
		fmt.Println(name, phi[i])
	}
	// Output:
	// intercept 1
	// obs_age 0.58
	// obs_sex 1
	// obs_age × obs_sex 0.58
}

func ExampleNewFourier() {
	m, err := feature.NewFourier(3,
		[]string{"obs_position", "obs_velocity"},
		[]feature.Range{{Low: -1.2, High: 0.6}, {Low: -0.07, High: 0.07}})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := m.Bind([]string{"obs_position", "obs_velocity"})
	if err != nil {
		fmt.Println(err)
		return
	}
	phi := make([]float64, m.Dim())
	b.Apply(phi, []float64{-1.2, 0.07})
	fmt.Println(m.Dim(), phi[:4], m.NormBound())
	// Output: 16 [1 -1 1 -1] 4
}
