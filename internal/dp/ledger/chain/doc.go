// Package chain is the format of a ledger's entries: what each says, its
// canonical bytes, and the hash that ties it to the one before.
//
// An entry is one line of JSON with its fields in a fixed order ([Entry.Encode]).
// It holds the hash of its predecessor, and its own hash is
//
//	SHA-256("discreet/ledger/entry/v1\n" + line)
//
// ([Sum]), so that nobody can change, remove or reorder an entry without
// changing the hash of every later one. The first entry, of kind [Open], holds
// the ledger's configuration and a random identity. Read an exported ledger
// line by line with [Parse] and hold each against its predecessor with
// [Entry.Follows].
//
// A hash chain is evidence against a known head. Whoever can rewrite the whole
// store can rewrite the whole chain; what they cannot rewrite are the heads that
// releases and exports carry away ([Head]).
//
// Times are UTC. Epsilons are natural logarithms; costs include the adjacency
// that the first entry fixes.
package chain
