package fleet_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// A run, one round and one report, without a network between them. A device pays before it encodes: see package
// fleet/device.
func Example() {
	if err := roundTrip(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 8 reports of epsilon 1 at most, each of 112 bytes when sealed
	// opened: 2 bytes
}

func roundTrip() error {
	// The operator.
	rootPublic, rootKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	sealPrivate, sealPublic, err := fleet.NewSealKey()
	if err != nil {
		return err
	}
	randomizer := train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}
	now := time.Now()
	opens, ends := now.UnixMilli(), now.Add(24*time.Hour).UnixMilli()
	first, err := fleet.SignRun(rootKey, &fleetv1.RunSpec{
		Run: make([]byte, 16), Schema: 1, Purpose: "balance poles", Randomizer: fleet.RandomizerMessage(randomizer), EpsilonReport: 1,
		ReportsPerDevice: 8, Dim: 112, ReportBytes: 64, Mode: fleetv1.Mode_MODE_LINKED,
		Keys: []*fleetv1.Key{
			{Id: 1, Use: fleetv1.Use_USE_SIGN, Public: public, ValidFrom: opens, ValidUntil: ends},
			{Id: 2, Use: fleetv1.Use_USE_SEAL, Public: sealPublic, ValidFrom: opens, ValidUntil: ends},
		},
	})
	if err != nil {
		return err
	}
	run, err := fleet.VerifyRun(rootPublic, []*fleetv1.SignedSpec{first})
	if err != nil {
		return err
	}
	theta, before := make([]float64, 112), run.Head()
	hash := train.HashWeights(theta)
	signed, err := fleet.SignRound(run, before, 1, private, &fleetv1.RoundSpec{
		Run: run.ID[:], Round: 1, Previous: before.Hash[:], WeightsSha256: hash[:], Kind: fleetv1.Kind_KIND_TRAIN,
		Randomizer: fleet.RandomizerMessage(randomizer), Epsilon: 1, Beacon: make([]byte, 32), SampleRate: 1,
		Opens: opens, TrainBy: opens + 60_000, UploadFrom: opens + 60_000, UploadUntil: opens + 120_000, MinReports: 1, MaxReports: 100,
	})
	if err != nil {
		return err
	}

	// A device.
	agreed := fleet.Consent{Purpose: "balance poles", Randomizer: randomizer, Reports: 8, Dim: 112}
	if err := agreed.Check(run); err != nil {
		return err
	}
	round, err := run.VerifyRound(run.Head(), signed)
	if err != nil {
		return err
	}
	if _, err := round.Weights(fleet.EncodeWeights(theta)); err != nil {
		return err
	}
	fmt.Println(run.Reports, "reports of epsilon", run.Randomizer.Epsilon, "at most, each of", run.SealedSize(), "bytes when sealed")
	source, err := noise.NewSource()
	if err != nil {
		return err
	}
	learned := make([]float64, 112)
	seed := round.Seed(fleet.Nullifier([32]byte{}, run.ID, round.Number))
	body, err := round.Codec().Encode(nil, learned, seed, receipt.None(), source)
	if err != nil {
		return err
	}
	key, err := run.SealKey(now)
	if err != nil {
		return err
	}
	sealed, err := round.Seal(body, key)
	if err != nil {
		return err
	}

	// The aggregator.
	opened, err := round.Unseal(sealed, sealPrivate)
	if err != nil {
		return err
	}
	fmt.Println("opened:", len(opened), "bytes")
	return round.Codec().Decode(make([]float64, 112), opened, seed)
}
