// Package device is a device's part of training over a network: an agent that decides what it takes part in, pays, randomises and
// sends. It can be stopped at any moment, and never draws two reports for one round or sends one that was not paid for.
//
//	agent, err := device.Open(ctx, config)
//	err = agent.Enrol(ctx, services.Enrol, code) // once
//	err = agent.Run(ctx, services, learner)
//
// [Dial] connects to the services at a URL over mutual TLS. The learner is [NewSimulator], [NewStdio] for a program in any language, or any
// other [Learner].
//
// # A round
//
// Each state is stored durably (SQLite, synchronous=FULL) before its consequences:
//
//	seen          the spec is verified, the owner's consent covers it, the coin selected it, the time to send is drawn
//	trained       the learner has answered, or its time is over
//	asking        a permit is asked for, by a nonce in memory alone
//	debited       the permit is there; the wallet is asked to pay; the wallet records whether it did
//	kept          the report is made and sealed
//	sent          the first attempt begins; every attempt sends the same bytes
//	acknowledged  the aggregator counts it
//	forfeited     paid for, but not counted; so is a permit that may have been drawn
//	skipped       nothing was paid: coin, budget, refusal, or the time was over
//
// The wallet is a ledger (package internal/train/ledgerwallet). A wallet that is missing, or older than the state,
// is refused. It records what the device spent in all runs together.
//
// # Privacy
//
// The unit is the device, adjacency replace-one; the budget is epsilon over the device's life. Only the randomiser uses the learner's
// answer: the sending time is drawn before the training, the run fixes the size, and without a usable
// answer the report is on the zero vector. Logs name rounds, states and public reasons.
// Only the owner's log, on the device, says whether an answer was usable.
package device
