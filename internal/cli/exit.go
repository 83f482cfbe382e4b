package cli

import (
	"io/fs"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/rl/value"
	"github.com/discreet-rl/discreet/train"
)

// refusals lists the sentinels that mean: the ledger will not pay, now or again.
func refusals() []error {
	return []error{ledger.ErrBudget, ledger.ErrShare, ledger.ErrPending, ledger.ErrCopy, train.ErrBudget}
}

// inputErrors lists the sentinels that mean: the configuration or the data is
// to be corrected.
func inputErrors() []error {
	return []error{
		discreet.ErrConfig,
		config.ErrSyntax,
		dp.ErrAdjacency, dp.ErrBudget, dp.ErrEvent,
		account.ErrUnsupported, account.ErrUncertified,
		mechanism.ErrParameter, mechanism.ErrCapacity,
		evaluate.ErrPublic, evaluate.ErrMethod, evaluate.ErrData,
		feature.ErrMap, feature.ErrColumn, feature.ErrObservation,
		policy.ErrPolicy, policy.ErrMissing, policy.ErrRow,
		trajectory.ErrInput, trajectory.ErrOptions, file.ErrFormat, fs.ErrNotExist,
		ledger.ErrAdjacency, ledger.ErrUnit, ledger.ErrCharge, ledger.ErrKeyReused, ledger.ErrConfig,
		ledger.ErrNotLedger, ledger.ErrNoDataset, ledger.ErrExists, ledger.ErrBackup,
		signature.ErrKey,
		train.ErrConfig, train.ErrState, learn.ErrOptions, sim.ErrOptions,
		value.ErrOptions, value.ErrOffPolicy, value.ErrSingular, value.ErrData,
	}
}
