// Package device is a device's part of training over a network: an agent that decides what it takes part in, pays, randomises and
// sends, and that can be stopped at any moment without telling anything twice or for nothing.
//
//	agent, err := device.Open(ctx, config)
//	err = agent.Enrol(ctx, services.Enrol, code) // once
//	err = agent.Run(ctx, services, learner)
//
// [Dial] makes services of a URL over mutual TLS. The learner is [NewSimulator], [NewStdio] for a program in any language, or any
// other [Learner].
//
// # A round
//
// Its states are durable (SQLite, synchronous=FULL), each before what follows from it:
//
//	seen          the spec is verified, the owner's consent covers it, the coin fell for it, the time to send is drawn
//	trained       the learner has answered, or the time for it is over
//	debited       the wallet is asked to pay; whether it did, it knows
//	kept          the report is made and sealed
//	sent          the first attempt begins; every attempt sends the same bytes
//	acknowledged  the aggregator counts it
//	forfeited     paid for, and it does not count
//	skipped       nothing was paid: coin, budget, refusal, or the time was over
//
// The wallet is a ledger (package internal/train/ledgerwallet), of which a copy that is older than the state, or none where there was one,
// is refused. It holds what the device spent in all runs together.
//
// # Privacy
//
// The unit is the device, adjacency replace-one; the budget is epsilon over the device's life. What the learner answers reaches
// nothing but the randomiser: when the report is sent was drawn before the training, its size is the run's, and where there is no
// answer, or none that can be used, the report is on the zero vector. Logs name rounds, states and public reasons.
// Whether an answer could be used is told to the owner, on the log, and stays on the device.
package device
