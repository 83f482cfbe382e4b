package fleet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

// The bounds of a run.
const (
	schema      = 1
	mostSpec    = 1 << 17
	mostKeys    = 64
	mostText    = 1 << 12
	mostLocal   = 1 << 16
	mostDim     = 1 << 20
	leastReport = 64
	mostReport  = 1 << 20
)

// Run is a run whose specs were verified. It is immutable and safe for concurrent use.
type Run struct {
	ID train.RunID
	// Purpose says in words what the run is for, Local as JSON what devices learn; see [Learning].
	Purpose string
	Local   []byte
	// Randomizer makes the reports that train, Reports is how many of either kind a device sends at most.
	Randomizer train.Randomizer
	Reports    int
	// Dim is the number of weights, ReportBytes the size of a report before it is sealed.
	Dim, ReportBytes int
	Keys             []Key
	MinClient        string
	// Revision numbers the revisions from 0; First is the hash of the first and Latest that of this one.
	Revision      int
	First, Latest Hash

	train, evaluate *train.Codec
}

// Key is a public key of a run, for the time from From to Until.
type Key struct {
	ID          uint32
	Use         fleetv1.Use
	Public      []byte
	From, Until time.Time
}

// valid tells whether a key is good at a time.
func (k Key) valid(at time.Time) bool { return !at.Before(k.From) && at.Before(k.Until) }

// parseRun holds a spec against what every run keeps to.
func parseRun(s *fleetv1.RunSpec) (*Run, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: run: %s", ErrSpec, fmt.Sprintf(format, args...))
	}
	r := &Run{
		Purpose: s.GetPurpose(), Local: s.GetLocalJson(), Reports: int(s.GetReportsPerDevice()),
		Dim: int(s.GetDim()), ReportBytes: int(s.GetReportBytes()), MinClient: s.GetMinClient(), Revision: int(s.GetRevision()),
	}
	switch {
	case len(s.GetRun()) != len(r.ID):
		return nil, bad("its name has %d bytes; want %d", len(s.GetRun()), len(r.ID))
	case s.GetSchema() != schema:
		return nil, bad("schema %d; this version knows %d", s.GetSchema(), schema)
	case r.Purpose == "" || len(r.Purpose) > mostText || len(r.MinClient) > mostText:
		return nil, bad("a purpose of %d bytes; want 1 to %d", len(r.Purpose), mostText)
	case len(r.Local) > mostLocal || len(r.Local) > 0 && !json.Valid(r.Local):
		return nil, bad("local_json is no JSON of at most %d bytes", mostLocal)
	case s.GetMode() != fleetv1.Mode_MODE_LINKED:
		return nil, bad("mode %v; this version knows %v", s.GetMode(), fleetv1.Mode_MODE_LINKED)
	case r.Reports < 1 || r.Reports > math.MaxInt32:
		return nil, bad("%d reports a device; want 1 at least", r.Reports)
	case r.Dim < 1 || r.Dim > mostDim:
		return nil, bad("%d weights; want 1 to %d", r.Dim, mostDim)
	case r.ReportBytes < leastReport || r.ReportBytes > mostReport || r.ReportBytes&(r.ReportBytes-1) != 0:
		return nil, bad("reports of %d bytes; want a power of two from %d to %d", r.ReportBytes, leastReport, mostReport)
	case (len(s.GetPrevious()) != 0) != (r.Revision > 0) || r.Revision > 0 && len(s.GetPrevious()) != len(Hash{}):
		return nil, bad("revision %d names the one before by %d bytes", r.Revision, len(s.GetPrevious()))
	}
	copy(r.ID[:], s.GetRun())
	r.Randomizer = randomizer(s.GetRandomizer())
	if !r.Randomizer.Private() || r.Randomizer.Epsilon != s.GetEpsilonReport() {
		return nil, bad("randomizer %+v and epsilon_report %v; want a private one of this epsilon", r.Randomizer, s.GetEpsilonReport())
	}
	if err := r.codecs(); err != nil {
		return nil, bad("%v", err)
	}
	if most := max(r.train.Size(), r.evaluate.Size()); reportHeader+most > r.ReportBytes {
		return nil, bad("reports of %d bytes do not hold a body of %d", r.ReportBytes, most)
	}
	return r, r.readKeys(s.GetKeys())
}

func (r *Run) codecs() (err error) {
	if r.train, err = train.NewCodec(r.Randomizer, r.Dim); err != nil {
		return err
	}
	r.evaluate, err = train.NewCodec(r.answer(), r.Dim)
	return err
}

// answer is randomised response of the epsilon of one report: one bit on a score of 0 or 1.
func (r *Run) answer() train.Randomizer {
	return train.Randomizer{Mechanism: train.OneBit, Epsilon: r.Randomizer.Epsilon, Clip: 1}
}

// RandomizerOf is how reports of a kind are made.
func (r *Run) RandomizerOf(kind fleetv1.Kind) train.Randomizer {
	if kind == fleetv1.Kind_KIND_EVALUATE {
		return r.answer()
	}
	return r.Randomizer
}

// Codec makes and reads the bodies of reports of a kind.
func (r *Run) Codec(kind fleetv1.Kind) *train.Codec {
	if kind == fleetv1.Kind_KIND_EVALUATE {
		return r.evaluate
	}
	return r.train
}

func randomizer(m *fleetv1.Randomizer) train.Randomizer {
	return train.Randomizer{Mechanism: train.Mechanism(m.GetMechanism()), Epsilon: m.GetEpsilon(), Clip: m.GetClip(), Rows: int(m.GetRows())}
}

// RandomizerMessage is a randomiser as specs state it.
func RandomizerMessage(r train.Randomizer) *fleetv1.Randomizer {
	return &fleetv1.Randomizer{Mechanism: string(r.Mechanism), Epsilon: r.Epsilon, Clip: r.Clip, Rows: uint32(r.Rows)}
}

// readKeys takes the keys over, if they are of their kind.
func (r *Run) readKeys(keys []*fleetv1.Key) error {
	if len(keys) > mostKeys {
		return fmt.Errorf("%w: run: %d keys; want %d at most", ErrSpec, len(keys), mostKeys)
	}
	count := map[fleetv1.Use]int{}
	for _, k := range keys {
		key := Key{ID: k.GetId(), Use: k.GetUse(), Public: k.GetPublic(), From: time.UnixMilli(k.GetValidFrom()), Until: time.UnixMilli(k.GetValidUntil())}
		good := key.ID != Root && key.From.Before(key.Until) && !slices.ContainsFunc(r.Keys, func(o Key) bool { return o.ID == key.ID })
		switch key.Use {
		case fleetv1.Use_USE_SIGN:
			good = good && len(key.Public) == ed25519.PublicKeySize
		case fleetv1.Use_USE_SEAL:
			_, err := hpke.DHKEM(curve()).NewPublicKey(key.Public)
			good = good && err == nil
		default:
			good = false
		}
		if !good {
			return fmt.Errorf("%w: run: key %d is not good for what it is, or its number is taken", ErrSpec, key.ID)
		}
		count[key.Use]++
		r.Keys = append(r.Keys, key)
	}
	if count[fleetv1.Use_USE_SIGN] == 0 || count[fleetv1.Use_USE_SEAL] == 0 {
		return fmt.Errorf("%w: run: no key that signs rounds, or none that reports are sealed to", ErrSpec)
	}
	return nil
}

// VerifyRun reads a run from all its revisions, the first first, each signed by the root. Revisions differ in keys and
// min_client alone, and keep the keys that were. The error wraps [ErrSpec], or [ErrFork] where a revision does not
// follow the one before.
func VerifyRun(root ed25519.PublicKey, specs []*fleetv1.SignedSpec) (*Run, error) {
	var run *Run
	var before *fleetv1.RunSpec
	for i, signed := range specs {
		if signed.GetKey() != Root {
			return nil, fmt.Errorf("%w: run: signed by key %d; want the root's", ErrSpec, signed.GetKey())
		}
		var s fleetv1.RunSpec
		if err := verify(runContext, root, signed, &s); err != nil {
			return nil, fmt.Errorf("run: %w", err)
		}
		next, err := parseRun(&s)
		if err != nil {
			return nil, err
		}
		next.First, next.Latest = HashOf(signed), HashOf(signed)
		if next.Revision != i {
			return nil, fmt.Errorf("%w: run: revision %d in place of %d", ErrFork, next.Revision, i)
		}
		if run != nil {
			if err := run.revised(before, &s); err != nil {
				return nil, err
			}
			next.First = run.First
		}
		run, before = next, &s
	}
	if run == nil {
		return nil, fmt.Errorf("%w: there is no run", ErrSpec)
	}
	return run, nil
}

// revised tells whether a revision may follow that of the run.
func (r *Run) revised(before, after *fleetv1.RunSpec) error {
	if !bytes.Equal(after.GetPrevious(), r.Latest[:]) {
		return fmt.Errorf("%w: revision %d of the run does not follow the one before", ErrFork, after.GetRevision())
	}
	stays := func(s *fleetv1.RunSpec) *fleetv1.RunSpec {
		c := proto.CloneOf(s)
		c.Keys, c.MinClient, c.Revision, c.Previous = nil, "", 0, nil
		return c
	}
	if !proto.Equal(stays(before), stays(after)) {
		return fmt.Errorf("%w: revision %d of the run changes more than keys and min_client", ErrConsent, after.GetRevision())
	}
	for _, k := range before.GetKeys() {
		if !slices.ContainsFunc(after.GetKeys(), func(o *fleetv1.Key) bool {
			return o.GetId() == k.GetId() && o.GetUse() == k.GetUse() && bytes.Equal(o.GetPublic(), k.GetPublic())
		}) {
			return fmt.Errorf("%w: revision %d of the run drops key %d; let it end instead", ErrSpec, after.GetRevision(), k.GetId())
		}
	}
	return nil
}

// key is that of a number, if it has the use.
func (r *Run) key(id uint32, use fleetv1.Use) (Key, bool) {
	i := slices.IndexFunc(r.Keys, func(k Key) bool { return k.ID == id && k.Use == use })
	if i < 0 {
		return Key{}, false
	}
	return r.Keys[i], true
}

// SealKey is the key that a report is sealed to at a time: the one of those valid that began last.
func (r *Run) SealKey(at time.Time) (Key, error) {
	var best Key
	for _, k := range r.Keys {
		if k.Use == fleetv1.Use_USE_SEAL && k.valid(at) && (best.ID == 0 || k.From.After(best.From)) {
			best = k
		}
	}
	if best.ID == 0 {
		return best, fmt.Errorf("%w: the run has no key that reports can be sealed to now", ErrSpec)
	}
	return best, nil
}
