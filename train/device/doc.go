// Package device is an agent's training where its environment is in Go: it plays
// episodes with the weights of a task and computes the vector that package train
// randomises and reports.
//
//	d, err := device.New(local, randomizer)
//	player, err := d.Player(env)
//	// for each task that the agent accepted
//	vector, _ := d.Learn(&task, theta, player, rng)
//	report, err := agent.Report(ctx, &task, vector)
//
// Nothing in it is private by itself, and it spends nothing: what it computes must
// leave through [train.Agent.Report] alone. Scores are sums of the problem's own
// rewards; steps of optimizers are lengths in the space of weights (momentum), or
// multiples of the gradient (sgd).
package device
