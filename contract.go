package discreet

import (
	"context"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/charging"
)

// SetContract stores the steward's part of a configuration as the contract of a
// dataset, in the ledger at the location: every evaluation that is charged to it must
// then agree in every key but those of the question. A reason makes it a new version
// of the one in force; budget and losses stay. Unit and adjacency are the
// ledger's and cannot change. It returns the number of the version,
// beside an error too where the version is in force all the same.
func SetContract(ctx context.Context, c config.Config, location, dataset, reason string) (version int64, err error) {
	body, err := charging.SetContract(ctx, c, location, dataset, reason)
	if body == nil {
		return 0, err
	}
	return body.Number, err
}
