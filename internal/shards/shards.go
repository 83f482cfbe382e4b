// Package shards is what package discreet and package scale say to each other of data in shards: what a run has to remember,
// what the check of all shards found, and one shard that was read. A program asks for shards by scale.Driver.
package shards

import (
	"context"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Source is data that are not read into this process: others add up what their persons
// contribute, and only exact sums come here. Package scale implements it.
type Source interface {
	// Begin takes the run of a configuration up where an earlier process left it: nil
	// where none did. An empty key stands for any.
	Begin(hash, key string) (*Begun, error)
	// Files tells that the data are files, of which a ledger takes a fingerprint.
	Files() bool
	// Check has every shard read and checked.
	Check(ctx context.Context) (*Checked, error)
	// Paid makes durable that the run may draw noise.
	Paid(Begun) error
	// Sums makes the sums of a run. Persons is their public number, 0 where there is none.
	// Rounds, nil without a ledger, is told of each noisy sum before it is used.
	Sums(ctx context.Context, persons int64, rounds *ledger.Rounds) hook.Sums
}

// Checked is what the check of all shards found.
type Checked struct {
	// Persons is how many there are in all, and Episodes how many can be used.
	Persons, Episodes int64
	// Sizes are added up over what [Part] has of them.
	Sizes []int64
	// Nobody has the columns of the data and no person.
	Nobody *trajectory.Dataset
}

// Begun is what a run in shards has to remember from its charge on.
type Begun struct {
	// Key is that of the charge, and Hash that of the configuration.
	Key  string `json:"key"`
	Hash string `json:"config_hash"`
	// Entry is what the release will say of the charge; nil without a ledger.
	Entry *evaluate.LedgerEntry `json:"ledger,omitempty"`
	// Nobody has the columns of the data.
	Nobody *trajectory.Dataset `json:"columns"`
}

// Part is one shard of the data, read and bound to the plan of its configuration. What
// it holds is private.
type Part struct {
	// Persons are their ids in the order of the shard, nil where they have none.
	Persons []string
	// Count is how many persons there are, and Episodes and Rows how many count.
	Count, Episodes, Rows int
	// Nobody has the columns of the data and no person.
	Nobody *trajectory.Dataset
	// Sizes are how many persons are in each group, where these numbers are public.
	Sizes []int64
	// Remarks are for the curator of the data.
	Remarks []string
	// Ready replays what the persons of the shard add to each sum, again too and for several
	// goroutines.
	Ready *evaluate.Ready
	// Kept are the bytes that it does so from.
	Kept int64
}

// Read reads a shard and checks it, in a format that is that of the configuration where it is
// empty. With look it also says what is doubtful in it. Errors of the data are for their curator. A shard is read by one goroutine: who has several
// processors reads several shards at a time.
type Read func(ctx context.Context, shard, format string, look bool) (*Part, error)
