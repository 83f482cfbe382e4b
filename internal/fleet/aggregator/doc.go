// Package aggregator is the server of a fleet: it enrols devices, announces rounds,
// takes sealed reports and moves the weights.
//
// Start with [New] and [Aggregator.Run]; [CreateKeys] makes what it signs, opens and
// identifies with. Several aggregators may share one PostgreSQL store: any of them
// takes any report, and one at a time leads.
//
// # What is promised
//
// A report whose verdict is accepted is durable before the verdict is sent, and
// counts once, in its round: the answer comes after the commit. Whatever is killed,
// and whenever, each round that is applied is applied once, and the weights are bit for
// bit what one application of the accepted reports makes, in the order of their
// nullifiers. A leader that was stopped and wakes up writes nothing.
//
// # Privacy
//
// The aggregator sees randomised reports alone, so whatever it does is
// post-processing: the device's epsilon holds whoever reads its store. Of who sent what it
// keeps a nullifier of one round, which without the pseudonym secret (a file beside the
// authority's key, not in the store) is a random number. Logs and metrics name no
// device. While a device is connected the server knows who it is, by its certificate,
// and that is not protected.
package aggregator
