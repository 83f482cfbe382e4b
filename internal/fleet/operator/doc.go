// Package operator is what the operator of a fleet does beside the server: to make a run
// and its keys, to speak to the server, and to know beforehand what a run costs.
//
// Start with [Run.Spec], which [fleet.SignRun] signs, and [Dial]. [NewPlan] says what a
// device spends, how many reports a policy has been seen to need, and what travels.
package operator
