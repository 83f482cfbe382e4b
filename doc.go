// Package discreet evaluates policies on people's trajectories under
// differential privacy, and trains policies under local privacy. It is the whole job
// as a library: the command of the same name calls nothing else.
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
// which policy to evaluate by which method, and what guarantee to give. The
// unit of privacy is a person; the adjacency is always stated.
//
// [Train] runs a fleet of simulated agents, each of which reports under local privacy,
// as a file says that [LoadTraining] reads; package train is the protocol for others.
//
// # Layout
//
// Two pillars that do not know each other: dp/... (events, accounting, noise,
// mechanisms, ledger) and rl/... (trajectories, features, policies, values,
// simulators). They meet in package evaluate, and only there and above.
package discreet
