// Package discreet evaluates policies on people's trajectories under differential privacy, and
// trains policies under local differential privacy. The command of the same name is a thin
// layer over it.
//
// Start with [Load], or a config.Config made in Go, and [Evaluate]:
//
//	cfg, err := discreet.Load("evaluate.yaml")
//	plan, err := discreet.Plan(cfg)              // cost and expected error; the data stays closed
//	result, err := discreet.Evaluate(ctx, cfg)   // plan, check, charge, run
//	checked, err := discreet.Verify(result.JSON, key)
//
// A configuration says where the data is, what is publicly known about the problem,
// which policy to evaluate by which method, and which guarantee to give. The
// unit of privacy is a person by default; the adjacency is always stated. With its section
// ledger the budget of the dataset is charged before any noise is drawn, and the release is
// recorded there before it is returned ([WithKey] makes that safe to repeat); without it the
// release says that nothing was charged.
//
// [Validate] shows the curator what is wrong with the data, [Audit] tries to refute what a plan
// claims, and [Train] runs a fleet of simulated agents that report under local privacy; package
// train has the protocol for real fleets.
//
// # What stays
//
// Files are read by every later version: configurations, releases, ledgers, policies and
// contracts; a test reads those of each version that was made. Exported names, error sentinels
// and exit codes change only with a line in CHANGELOG.md, and before version 1 they may. What a
// method draws for a seed may change with any version.
//
// # Layout
//
// Two halves do not import each other: dp/... (events, accounting, noise,
// mechanisms, ledger) and rl/... (trajectories, features, policies, values,
// simulators). Packages evaluate and train, and those above them, combine them. This package
// is the door: the steps of an evaluation are below internal.
package discreet
