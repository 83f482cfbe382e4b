package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// Specs are kept by people and compared by their hashes: their bytes do not change. The signatures are those that the package
// cryptography of Python (OpenSSL) makes of the same bytes.
func TestSpecsKeepTheirBytes(t *testing.T) {
	signed := signedRun(t, runSpec(t))
	run := verifiedRun(t, runSpec(t))
	round, err := fleet.SignRound(run, run.Head(), 1, signKey, roundSpec(run, run.Head(), make([]float64, 112)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  []byte
		want string
	}{
		"run":             {signed.Spec, goldenRun},
		"run signature":   {signed.Signature, goldenRunSignature},
		"round":           {round.Spec, goldenRound},
		"round signature": {round.Signature, goldenRoundSignature},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s is\n%s; want\n%s", name, got, c.want)
		}
	}
	if run.First != sha256.Sum256(signed.Spec) {
		t.Errorf("the chain of rounds begins at %x; want the hash of the run's spec", run.First)
	}
}

func TestAnyFlippedBitOfASpecIsRefused(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	round, err := fleet.SignRound(run, run.Head(), 1, signKey, roundSpec(run, run.Head(), make([]float64, 112)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		signed *fleetv1.SignedSpec
		read   func(*fleetv1.SignedSpec) error
	}{
		"run": {signedRun(t, runSpec(t)), func(s *fleetv1.SignedSpec) error {
			_, err := fleet.VerifyRun(root, []*fleetv1.SignedSpec{s})
			return err
		}},
		"round": {round, func(s *fleetv1.SignedSpec) error {
			_, err := run.VerifyRound(run.Head(), s)
			return err
		}},
	} {
		if err := c.read(c.signed); err != nil {
			t.Fatalf("%s as it was signed: %v", name, err)
		}
		data, err := proto.Marshal(c.signed)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * len(data) {
			changed := bytes.Clone(data)
			changed[bit/8] ^= 1 << (bit % 8)
			var s fleetv1.SignedSpec
			if proto.Unmarshal(changed, &s) != nil {
				continue
			}
			if err := c.read(&s); err == nil {
				t.Errorf("%s with bit %d of %d flipped is taken", name, bit, 8*len(data))
			}
		}
	}
}

func TestRunsThatNobodyTakesPartIn(t *testing.T) {
	for name, change := range map[string]func(*fleetv1.RunSpec){
		"name":           func(s *fleetv1.RunSpec) { s.Run = s.Run[:15] },
		"schema":         func(s *fleetv1.RunSpec) { s.Schema = 2 },
		"purpose":        func(s *fleetv1.RunSpec) { s.Purpose = "" },
		"long purpose":   func(s *fleetv1.RunSpec) { s.Purpose = string(bytes.Repeat([]byte("x"), 5000)) },
		"local":          func(s *fleetv1.RunSpec) { s.LocalJson = []byte("{") },
		"no mode":        func(s *fleetv1.RunSpec) { s.Mode = 0 },
		"reports":        func(s *fleetv1.RunSpec) { s.ReportsPerDevice = 0 },
		"dim":            func(s *fleetv1.RunSpec) { s.Dim = 0 },
		"huge dim":       func(s *fleetv1.RunSpec) { s.Dim = math.MaxUint32 },
		"size":           func(s *fleetv1.RunSpec) { s.ReportBytes = 65 },
		"small size":     func(s *fleetv1.RunSpec) { s.ReportBytes = 32 },
		"not private":    func(s *fleetv1.RunSpec) { s.Randomizer = &fleetv1.Randomizer{Mechanism: "none"}; s.EpsilonReport = 0 },
		"other epsilon":  func(s *fleetv1.RunSpec) { s.EpsilonReport = 2 },
		"no epsilon":     func(s *fleetv1.RunSpec) { s.EpsilonReport, s.Randomizer.Epsilon = 0, 0 },
		"NaN":            func(s *fleetv1.RunSpec) { s.EpsilonReport, s.Randomizer.Epsilon = math.NaN(), math.NaN() },
		"no randomizer":  func(s *fleetv1.RunSpec) { s.Randomizer = nil },
		"large body":     func(s *fleetv1.RunSpec) { s.Randomizer.Mechanism, s.Randomizer.Clip = "laplace", 1 },
		"no sealing key": func(s *fleetv1.RunSpec) { s.Keys = s.Keys[:1] },
		"no signing key": func(s *fleetv1.RunSpec) { s.Keys = s.Keys[1:] },
		"one number":     func(s *fleetv1.RunSpec) { s.Keys[1].Id = 1 },
		"number of root": func(s *fleetv1.RunSpec) { s.Keys[0].Id = 0 },
		"short key":      func(s *fleetv1.RunSpec) { s.Keys[0].Public = s.Keys[0].Public[:31] },
		"never valid":    func(s *fleetv1.RunSpec) { s.Keys[0].ValidUntil = s.Keys[0].ValidFrom },
		"use":            func(s *fleetv1.RunSpec) { s.Keys[0].Use = 3 },
		"first revision": func(s *fleetv1.RunSpec) { s.Revision = 1 },
		"early previous": func(s *fleetv1.RunSpec) { s.Previous = make([]byte, 32) },
		"what is unknown": func(s *fleetv1.RunSpec) {
			s.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
		},
		"unknown of a key": func(s *fleetv1.RunSpec) {
			s.Keys[1].ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
		},
	} {
		s := runSpec(t)
		change(s)
		if run, err := fleet.VerifyRun(root, []*fleetv1.SignedSpec{sign(t, runContext, rootKey, 0, s)}); err == nil {
			t.Errorf("%s: taken: %+v", name, run)
		}
		if _, err := fleet.SignRun(rootKey, s); err == nil && name != "first revision" && name[:4] != "what" && name[:4] != "unkn" {
			t.Errorf("%s: signed", name)
		}
	}
	_, err := fleet.VerifyRun(root, nil)
	wants(t, "no spec", err, fleet.ErrSpec)
	_, err = fleet.VerifyRun(signKey.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{signedRun(t, runSpec(t))})
	wants(t, "another root", err, fleet.ErrSpec)
	_, err = fleet.VerifyRun(root, []*fleetv1.SignedSpec{sign(t, roundContext, rootKey, 0, runSpec(t))})
	wants(t, "signed for something else", err, fleet.ErrSpec)
}

func TestRevisionsChangeKeysAlone(t *testing.T) {
	first := signedRun(t, runSpec(t))
	revise := func(change func(*fleetv1.RunSpec)) error {
		s := runSpec(t)
		hash := fleet.HashOf(first)
		s.Revision, s.Previous = 1, hash[:]
		s.Keys = append(s.Keys, &fleetv1.Key{Id: 3, Use: fleetv1.Use_USE_SIGN, Public: root, ValidFrom: start, ValidUntil: start + 1000})
		change(s)
		run, err := fleet.VerifyRun(root, []*fleetv1.SignedSpec{first, sign(t, runContext, rootKey, 0, s)})
		if err == nil && (run.First != hash || len(run.Keys) != len(s.Keys)) {
			t.Errorf("the revised run is %+v", run)
		}
		return err
	}
	wants(t, "a key more", revise(func(*fleetv1.RunSpec) {}), nil)
	wants(t, "a key that ends", revise(func(s *fleetv1.RunSpec) { s.Keys[0].ValidUntil, s.MinClient = start, "0.4.0" }), nil)
	wants(t, "a key less", revise(func(s *fleetv1.RunSpec) { s.Keys = s.Keys[1:] }), fleet.ErrSpec)
	wants(t, "a key exchanged", revise(func(s *fleetv1.RunSpec) { s.Keys[0].Public = root }), fleet.ErrSpec)
	wants(t, "more reports", revise(func(s *fleetv1.RunSpec) { s.ReportsPerDevice++ }), fleet.ErrConsent)
	wants(t, "more epsilon", revise(func(s *fleetv1.RunSpec) { s.EpsilonReport, s.Randomizer.Epsilon = 2, 2 }), fleet.ErrConsent)
	wants(t, "another purpose", revise(func(s *fleetv1.RunSpec) { s.Purpose += "!" }), fleet.ErrConsent)
	wants(t, "another chain", revise(func(s *fleetv1.RunSpec) { s.Previous[0] ^= 1 }), fleet.ErrFork)
	wants(t, "a gap", revise(func(s *fleetv1.RunSpec) { s.Revision = 2 }), fleet.ErrFork)
}

func TestRoundsThatNobodyTakesPartIn(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	for name, c := range map[string]struct {
		change func(*fleetv1.RoundSpec)
		want   error
	}{
		"as it should be":                 {func(*fleetv1.RoundSpec) {}, nil},
		"another run":                     {func(s *fleetv1.RoundSpec) { s.Run = make([]byte, 16) }, fleet.ErrSpec},
		"a later round":                   {func(s *fleetv1.RoundSpec) { s.Round++ }, fleet.ErrFork},
		"another previous":                {func(s *fleetv1.RoundSpec) { s.Previous = bytes.Repeat([]byte{1}, 32) }, fleet.ErrFork},
		"no previous":                     {func(s *fleetv1.RoundSpec) { s.Previous = nil }, fleet.ErrFork},
		"more epsilon":                    {func(s *fleetv1.RoundSpec) { s.Epsilon, s.Randomizer.Epsilon = 2, 2 }, fleet.ErrConsent},
		"epsilon of the randomizer alone": {func(s *fleetv1.RoundSpec) { s.Randomizer.Epsilon = 2 }, fleet.ErrConsent},
		"a clip":                          {func(s *fleetv1.RoundSpec) { s.Randomizer.Clip = 1 }, fleet.ErrConsent},
		"rows":                            {func(s *fleetv1.RoundSpec) { s.Randomizer.Rows = 2 }, fleet.ErrConsent},
		"two epsilons":                    {func(s *fleetv1.RoundSpec) { s.Epsilon = 2 }, fleet.ErrConsent},
		"another randomizer":              {func(s *fleetv1.RoundSpec) { s.Randomizer.Mechanism = "privunit" }, fleet.ErrConsent},
		"no randomizer":                   {func(s *fleetv1.RoundSpec) { s.Randomizer = nil }, fleet.ErrConsent},
		"evaluation by the wrong randomizer": {func(s *fleetv1.RoundSpec) {
			s.Kind = fleetv1.Kind_KIND_EVALUATE
		}, fleet.ErrConsent},
		"evaluation": {func(s *fleetv1.RoundSpec) {
			s.Kind, s.Threshold, s.Randomizer = fleetv1.Kind_KIND_EVALUATE, 195, &fleetv1.Randomizer{Mechanism: "one-bit", Epsilon: 1, Clip: 1}
		}, nil},
		"kind":            {func(s *fleetv1.RoundSpec) { s.Kind = 7 }, fleet.ErrSpec},
		"threshold":       {func(s *fleetv1.RoundSpec) { s.Threshold = 195 }, fleet.ErrSpec},
		"short beacon":    {func(s *fleetv1.RoundSpec) { s.Beacon = s.Beacon[:31] }, fleet.ErrSpec},
		"short hash":      {func(s *fleetv1.RoundSpec) { s.WeightsSha256 = nil }, fleet.ErrSpec},
		"no rate":         {func(s *fleetv1.RoundSpec) { s.SampleRate = 0 }, fleet.ErrSpec},
		"NaN":             {func(s *fleetv1.RoundSpec) { s.SampleRate = math.NaN() }, fleet.ErrSpec},
		"rate":            {func(s *fleetv1.RoundSpec) { s.SampleRate = 1.1 }, fleet.ErrSpec},
		"upload first":    {func(s *fleetv1.RoundSpec) { s.UploadFrom = s.TrainBy - 1 }, fleet.ErrSpec},
		"no upload":       {func(s *fleetv1.RoundSpec) { s.UploadUntil = s.UploadFrom }, fleet.ErrSpec},
		"long":            {func(s *fleetv1.RoundSpec) { s.UploadUntil += 1 << 40 }, fleet.ErrSpec},
		"before any time": {func(s *fleetv1.RoundSpec) { s.Opens = math.MinInt64 }, fleet.ErrSpec},
		"key not valid":   {func(s *fleetv1.RoundSpec) { s.Opens -= 2000 }, fleet.ErrSpec},
		"no reports":      {func(s *fleetv1.RoundSpec) { s.MinReports = 0 }, fleet.ErrSpec},
		"fewer reports":   {func(s *fleetv1.RoundSpec) { s.MaxReports = 1 }, fleet.ErrSpec},
		"what is unknown": {func(s *fleetv1.RoundSpec) {
			s.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 18, protowire.VarintType), 1))
		}, fleet.ErrSpec},
	} {
		s := roundSpec(run, run.Head(), make([]float64, 112))
		c.change(s)
		_, err := run.VerifyRound(run.Head(), sign(t, roundContext, signKey, 1, s))
		wants(t, name, err, c.want)
		if _, err := fleet.SignRound(run, run.Head(), 1, signKey, s); c.want != nil {
			wants(t, name+", signed", err, fleet.ErrConfig)
		}
	}
	good := roundSpec(run, run.Head(), make([]float64, 112))
	for id, key := range map[uint32]ed25519.PrivateKey{0: rootKey, 1: rootKey, 2: signKey, 3: signKey} {
		_, err := run.VerifyRound(run.Head(), sign(t, roundContext, key, id, good))
		wants(t, fmt.Sprintf("key %d that is not of the number, or signs no rounds", id), err, fleet.ErrSpec)
	}
	_, err := run.VerifyRound(run.Head(), sign(t, runContext, signKey, 1, good))
	wants(t, "signed for something else", err, fleet.ErrSpec)
}

// A server that shows a device two rounds of one number, or goes back, is found out: the device follows one chain.
func TestTwoChainsDoNotMix(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	next := func(before fleet.Head, beacon byte) (*fleet.Round, *fleetv1.SignedSpec) {
		s := roundSpec(run, before, make([]float64, 112))
		s.Beacon[0] = beacon
		signed, err := fleet.SignRound(run, before, 1, signKey, s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.VerifyRound(before, signed)
		if err != nil {
			t.Fatal(err)
		}
		return r, signed
	}
	one, first := next(run.Head(), 1)
	other, _ := next(run.Head(), 2)
	_, second := next(other.Head(), 1)
	_, err := run.VerifyRound(one.Head(), second)
	wants(t, "the second round of the other chain", err, fleet.ErrFork)
	_, err = run.VerifyRound(one.Head(), first)
	wants(t, "the first round again", err, fleet.ErrFork)
}

func TestARoundBeginsInItsTime(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	signed, err := fleet.SignRound(run, run.Head(), 1, signKey, roundSpec(run, run.Head(), make([]float64, 112)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.VerifyRound(run.Head(), signed)
	if err != nil {
		t.Fatal(err)
	}
	for offset, want := range map[time.Duration]error{0: nil, 999 * time.Millisecond: nil, time.Second: fleet.ErrSpec, time.Hour: fleet.ErrSpec, -2 * time.Second: fleet.ErrSpec} {
		wants(t, fmt.Sprintf("%v after it opened", offset), r.Begin(at(offset)), want)
	}
}

func TestWeightsAreThoseOfTheSpec(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	theta := make([]float64, 112)
	theta[3] = math.Copysign(0, -1)
	signed, err := fleet.SignRound(run, run.Head(), 1, signKey, roundSpec(run, run.Head(), theta))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.VerifyRound(run.Head(), signed)
	if err != nil {
		t.Fatal(err)
	}
	data := fleet.EncodeWeights(theta)
	if got, err := r.Weights(data); err != nil || !slices.EqualFunc(got, theta, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Errorf("%v, %v", got, err)
	}
	for bit := range 8 * len(data) {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		if _, err := r.Weights(changed); err == nil {
			t.Fatalf("weights with bit %d flipped are taken", bit)
		}
	}
	for _, n := range []int{0, 8, len(data) - 8, len(data) - 1} {
		_, err := r.Weights(data[:n])
		wants(t, fmt.Sprintf("%d bytes", n), err, fleet.ErrWeights)
	}
	_, err = fleet.DecodeWeights(fleet.EncodeWeights([]float64{1, math.Inf(1)}))
	wants(t, "infinite", err, fleet.ErrWeights)
}

func TestConsentIsToTheWholeRun(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	local := fleet.Hash(sha256.Sum256([]byte(`{}`)))
	agreed := fleet.Consent{Purpose: "balance poles", Randomizer: train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}, Reports: 8, Dim: 112, Local: &local}
	wants(t, "as agreed", agreed.Check(run), nil)
	wants(t, "as agreed", agreed.Validate(), nil)
	for name, change := range map[string]func(*fleet.Consent){
		"purpose":   func(c *fleet.Consent) { c.Purpose = "Balance poles" },
		"epsilon":   func(c *fleet.Consent) { c.Randomizer.Epsilon = .5 },
		"more":      func(c *fleet.Consent) { c.Randomizer.Epsilon = 2 }, // nor may it be less than agreed: it is another run
		"mechanism": func(c *fleet.Consent) { c.Randomizer.Mechanism = train.PrivUnit },
		"reports":   func(c *fleet.Consent) { c.Reports = 7 },
		"dim":       func(c *fleet.Consent) { c.Dim = 113 },
		"local":     func(c *fleet.Consent) { c.Local = &fleet.Hash{} },
	} {
		c := agreed
		change(&c)
		wants(t, name, c.Check(run), fleet.ErrConsent)
	}
	for name, c := range map[string]fleet.Consent{
		"nothing":     {},
		"not private": {Purpose: "x", Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Reports: 1, Dim: 1},
		"no epsilon":  {Purpose: "x", Randomizer: train.Randomizer{Mechanism: train.SignPRS}, Reports: 1, Dim: 1},
	} {
		wants(t, name, c.Validate(), fleet.ErrConfig)
	}
}
