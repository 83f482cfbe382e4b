// Package discreet evaluates policies on people's trajectories under
// differential privacy, and trains policies under local differential privacy. The
// command of the same name is a thin layer over it.
//
//	cfg, err := discreet.Load("evaluate.yaml")   // or a Config made in Go
//	plan, err := discreet.Plan(cfg)              // cost and expected error; the data stays closed
//	result, err := discreet.Evaluate(ctx, cfg)   // plan, check, charge, run
//	found, err := discreet.Verify(result.JSON, key)
//
// With [Config.Ledger] the budget of the dataset is charged before any noise is
// drawn, and the release is recorded there before it is returned ([WithKey] makes
// that safe to repeat); without it the release says that nothing was charged.
//
// A [Config] says where the data is, what is publicly known about the problem,
// which policy to evaluate by which method, and which guarantee to give. The
// unit of privacy is a person by default; the adjacency is always stated.
//
// [Train] runs a fleet of simulated agents that report under local privacy, from a
// file that [LoadTraining] reads; package train has the protocol for real fleets.
//
// # Layout
//
// Two halves do not import each other: dp/... (events, accounting, noise,
// mechanisms, ledger) and rl/... (trajectories, features, policies, values,
// simulators). Packages evaluate and train, and those above them, combine them.
package discreet
