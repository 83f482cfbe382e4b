// Package neighbours draws pairs of neighbouring datasets from public facts alone: of
// records at and around every edge that the facts name, on which an estimator shows
// the most of one person.
//
//	s, err := neighbours.New(public, columns, nil, seed)
//	pair, err := s.Pair()
//	result, err := replay.Check(ctx, plan, pair.Data, pair.Neighbour, seed)
//
// Rewards lie at both ends of their range, beside them and beyond; importance weights at
// caps, beside them, at zero and far above; persons have the most episodes and
// decisions, one, or none; all are alike, or one is alone in a state; observations are
// sometimes no state at all. The person in whom the two differ is the first, the
// last, or any.
//
// The draws are no noise and protect nobody: the data are made up, and a seed makes
// them the same on every machine.
package neighbours
