// Package device trains an agent whose environment is written in Go: it plays
// episodes with the weights of a task and computes the vector that package train
// randomises and reports.
//
//	d, err := device.New(local, randomizer)
//	player, err := d.Player(env)
//	// for each task that the agent accepted
//	vector, _ := d.Learn(&task, theta, player, rng)
//	report, err := agent.Report(ctx, &task, vector)
//
// Its results are not private, and it spends nothing: they must
// leave the device only through [train.Agent.Report]. Scores are sums of the problem's own
// rewards; steps of optimizers are lengths in weight space (momentum), or
// multiples of the gradient (sgd).
package device
