package feature

import (
	"fmt"
	"slices"
	"strings"
)

// Spec is the written form of a map, in configuration and policy files:
//
//	{kind: tabular, states: 40, column: obs_state}
//	{kind: aggregate, states: 40, of: 2, column: obs_state}
//	{kind: columns, names: [obs_age, obs_bili], low: [0, 0], high: [100, 40], intercept: true}
//	{kind: columns, names: [obs_x, obs_v], scale: {obs_x: 2.4, obs_v: 3}}
//	{kind: columns, names: [obs_age, obs_sex], low: [0, 0], high: [100, 1], products: [[obs_age, obs_sex]]}
//	{kind: fourier, order: 3, names: [obs_x, obs_v], low: [-1.2, -0.07], high: [0.6, 0.07]}
//	{kind: polynomial, order: 2, names: [obs_x, obs_v], low: [-1.2, -0.07], high: [0.6, 0.07]}
//	{kind: rbf, centers: 5, width: 0.2, normalized: true, names: [obs_x], low: [0], high: [1]}
//
// Columns are scaled from [low, high] to [0, 1] (with symmetric: true to
// [-1, 1], for columns and polynomial), or, where scale is given instead (columns
// alone), from [-scale, scale] to [-1, 1]. Ranges are public. A product is a feature
// of its own (columns alone), of columns that were scaled so.
// A field that its kind does not use must be left out.
type Spec struct {
	// Kind is tabular, aggregate, columns, fourier, polynomial or rbf.
	Kind string `json:"kind" yaml:"kind"`
	// States is the number of states (tabular, aggregate).
	States int `json:"states,omitempty" yaml:"states,omitempty"`
	// Of is how many adjacent states share a feature (aggregate).
	Of int `json:"of,omitempty" yaml:"of,omitempty"`
	// Order is the highest frequency or degree per column (fourier, polynomial).
	Order int `json:"order,omitempty" yaml:"order,omitempty"`
	// Centers is the number of centers per column (rbf).
	Centers int `json:"centers,omitempty" yaml:"centers,omitempty"`
	// Width is the width of a basis function, relative to the range of a column (rbf).
	Width float64 `json:"width,omitempty" yaml:"width,omitempty"`
	// Column holds the state number (tabular, aggregate).
	Column string `json:"column,omitempty" yaml:"column,omitempty"`
	// Names are the observation columns.
	Names []string `json:"names,omitempty" yaml:"names,omitempty"`
	// Low are the public lower ends of the ranges, one per column.
	Low []float64 `json:"low,omitempty" yaml:"low,omitempty"`
	// High are the public upper ends of the ranges, one per column.
	High []float64 `json:"high,omitempty" yaml:"high,omitempty"`
	// Scale gives symmetric public ranges by column, instead of Low and High (columns).
	Scale map[string]float64 `json:"scale,omitempty" yaml:"scale,omitempty"`
	// Products lists products of columns, each a feature of its own (columns).
	Products [][]string `json:"products,omitempty" yaml:"products,omitempty"`
	// Symmetric scales to [-1, 1] instead of [0, 1] (columns, polynomial).
	Symmetric bool `json:"symmetric,omitempty" yaml:"symmetric,omitempty"`
	// Intercept adds a constant feature (columns).
	Intercept bool `json:"intercept,omitempty" yaml:"intercept,omitempty"`
	// Normalized divides the basis functions by their sum (rbf).
	Normalized bool `json:"normalized,omitempty" yaml:"normalized,omitempty"`
}

// kinds lists the kinds that [Spec.Map] knows, sorted.
func kinds() []string {
	return []string{"aggregate", "columns", "fourier", "polynomial", "rbf", "tabular"}
}

// Map builds the map that s describes.
func (s Spec) Map() (Map, error) {
	switch s.Kind {
	case "tabular":
		if err := s.only("states", "column"); err != nil {
			return nil, err
		}
		return orNil(NewTabular(s.States, s.Column))
	case "aggregate":
		if err := s.only("states", "of", "column"); err != nil {
			return nil, err
		}
		return orNil(NewAggregation(s.States, s.Of, s.Column))
	case "columns":
		return s.columns()
	case "fourier":
		if err := s.only("order", "names", "low", "high"); err != nil {
			return nil, err
		}
		return s.boxed(func(r []Range) (Map, error) { return orNil(NewFourier(s.Order, s.Names, r)) })
	case "polynomial":
		if err := s.only("order", "names", "low", "high", "symmetric"); err != nil {
			return nil, err
		}
		return s.boxed(func(r []Range) (Map, error) { return orNil(NewPolynomial(s.Order, s.Names, r, s.Symmetric)) })
	case "rbf":
		if err := s.only("centers", "width", "normalized", "names", "low", "high"); err != nil {
			return nil, err
		}
		return s.boxed(func(r []Range) (Map, error) { return orNil(NewRBF(s.Centers, s.Width, s.Normalized, s.Names, r)) })
	}
	return nil, fmt.Errorf("%w: kind is %q; want one of %s", ErrMap, s.Kind, strings.Join(kinds(), ", "))
}

func (s Spec) columns() (Map, error) {
	o := ColumnsOptions{Symmetric: s.Symmetric, Intercept: s.Intercept, Products: s.Products}
	if len(s.Scale) == 0 {
		if err := s.only("names", "low", "high", "symmetric", "intercept", "products"); err != nil {
			return nil, err
		}
		return s.boxed(func(r []Range) (Map, error) { return orNil(NewColumns(s.Names, r, o)) })
	}
	if err := s.only("names", "scale", "symmetric", "intercept", "products"); err != nil {
		return nil, err
	}
	o.Symmetric = true
	ranges := make([]Range, 0, len(s.Names))
	for _, name := range s.Names {
		scale, ok := s.Scale[name]
		if !ok {
			return nil, fmt.Errorf("%w: columns: scale of %q is missing", ErrMap, name)
		}
		ranges = append(ranges, Range{Low: -scale, High: scale})
	}
	if len(s.Scale) > len(s.Names) {
		return nil, fmt.Errorf("%w: columns: scale has %d entries for %d names", ErrMap, len(s.Scale), len(s.Names))
	}
	return orNil(NewColumns(s.Names, ranges, o))
}

// Features names the features of a map of kind columns in their order, nil for
// other kinds: those are known by their number.
func (s Spec) Features() []string {
	if s.Kind != "columns" {
		return nil
	}
	var names []string
	if s.Intercept {
		names = append(names, "intercept")
	}
	names = append(names, s.Names...)
	for _, p := range s.Products {
		names = append(names, strings.Join(p, " × "))
	}
	return names
}

// boxed builds a map over ranges given by low and high.
func (s Spec) boxed(build func([]Range) (Map, error)) (Map, error) {
	if len(s.Low) != len(s.Names) || len(s.High) != len(s.Names) {
		return nil, fmt.Errorf("%w: %s: %d names, %d in low, %d in high; give each column a public low and high",
			ErrMap, s.Kind, len(s.Names), len(s.Low), len(s.High))
	}
	ranges := make([]Range, len(s.Names))
	for i := range ranges {
		ranges[i] = Range{Low: s.Low[i], High: s.High[i]}
	}
	return build(ranges)
}

// only refuses a field that is set but not among those that the kind uses.
func (s Spec) only(fields ...string) error {
	set := []struct {
		name string
		set  bool
	}{
		{"states", s.States != 0}, {"of", s.Of != 0}, {"column", s.Column != ""},
		{"order", s.Order != 0}, {"centers", s.Centers != 0}, {"width", s.Width != 0}, {"normalized", s.Normalized},
		{"names", len(s.Names) > 0}, {"low", len(s.Low) > 0}, {"high", len(s.High) > 0},
		{"scale", len(s.Scale) > 0}, {"products", len(s.Products) > 0}, {"symmetric", s.Symmetric}, {"intercept", s.Intercept},
	}
	for _, f := range set {
		if f.set && !slices.Contains(fields, f.name) {
			return fmt.Errorf("%w: %s does not use %s; leave it out", ErrMap, s.Kind, f.name)
		}
	}
	return nil
}

// orNil keeps a failed constructor from handing out a zero map.
func orNil[M Map](m M, err error) (Map, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
