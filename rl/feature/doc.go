// Package feature turns what was observed before a decision into a vector
// phi(s) of fixed length, the only view of a state that the estimators have.
//
// Start with [NewTabular], [NewAggregation] or [NewColumns], with [NewFourier],
// [NewPolynomial] or [NewRBF] for a basis over continuous columns, or with [Spec]
// for the form that configuration files use; then tie the map to the columns of
// a dataset with [Map.Bind]:
//
//	m, err := feature.NewTabular(40, "obs_state")
//	b, err := m.Bind(data.Columns)
//	ok := b.Apply(phi, data.Observation(row))
//
// A map is public: it is chosen before the data is seen, and none of its
// parameters may be read off private data (a column's smallest and largest
// value, say). In return [Map.NormBound] holds for every person whatever they
// recorded, and a private estimator may rely on it.
//
// An observation that a map cannot read (missing, not finite, a state number
// that is not one) becomes the zero vector: inside a release every record must
// have a contribution, and that one gives nothing away. [Check] tells the
// curator about such rows beforehand; its errors are for the curator alone.
//
// Units: tabular and aggregated features are 0 or 1; columns are scaled to
// [0, 1] or [-1, 1] without unit, and so are the features of every basis. Maps are immutable and may be shared.
//
// Source: Sutton and Barto, Reinforcement Learning: An Introduction, 2nd
// edition (2018), chapter 9, for state aggregation and linear features;
// Konidaris, Osentoski and Thomas (2011) for the Fourier basis.
package feature
