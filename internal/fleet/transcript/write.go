package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fault"
)

// Schema names the form of the file.
const Schema = "discreet/fleet-transcript/v1"

// ErrFile marks a file that is no transcript.
var ErrFile = fault.Input("not a transcript of a fleet")

// signed is a spec as it was signed.
type signed struct {
	Spec      []byte `json:"spec"`
	Key       uint32 `json:"key"`
	Signature []byte `json:"signature"`
}

func of(s *fleetv1.SignedSpec) *signed {
	if s == nil {
		return nil
	}
	return &signed{s.GetSpec(), s.GetKey(), s.GetSignature()}
}

func (s *signed) message() *fleetv1.SignedSpec {
	if s == nil {
		return nil
	}
	return &fleetv1.SignedSpec{Spec: s.Spec, Key: s.Key, Signature: s.Signature}
}

// report is one that is published itself.
type report struct {
	Nullifier []byte `json:"nullifier"`
	Body      []byte `json:"body"`
}

// line is one of the file: the first has the run, the last the end, and those between a round each.
type line struct {
	Schema   string          `json:"schema,omitempty"`
	Run      []signed        `json:"run,omitempty"`
	Learning json.RawMessage `json:"learning,omitempty"`
	Weights  []byte          `json:"weights,omitempty"`

	Round  *signed `json:"round,omitempty"`
	Record *signed `json:"record,omitempty"`
	Sum    []byte  `json:"sum,omitempty"`
	// Hashes of the reports, and places of the permits.
	Hashes  []byte   `json:"hashes,omitempty"`
	Permits []byte   `json:"permits,omitempty"`
	Reports []report `json:"reports,omitempty"`

	End *signed `json:"end,omitempty"`
}

// Source answers as a server does.
type Source interface {
	GetTranscript(context.Context, *fleetv1.GetTranscriptRequest) (*fleetv1.GetTranscriptResponse, error)
}

// Write writes the transcript of a run, of which specs are the revisions, and returns how many rounds it has, and how many with their
// reports.
func Write(ctx context.Context, w io.Writer, from Source, specs []*fleetv1.SignedSpec, run []byte, reports bool) (rounds, whole uint64, err error) {
	begin, err := from.GetTranscript(ctx, &fleetv1.GetTranscriptRequest{Run: run})
	if err != nil {
		return 0, 0, err
	}
	var end fleetv1.TranscriptEnd
	if err := proto.Unmarshal(begin.GetEnd().GetSpec(), &end); err != nil {
		return 0, 0, fmt.Errorf("%w: %w", ErrFile, err)
	}
	e := json.NewEncoder(w)
	first := line{Schema: Schema, Learning: begin.GetLearningJson(), Weights: begin.GetWeights()}
	for _, s := range specs {
		first.Run = append(first.Run, *of(s))
	}
	if err := e.Encode(first); err != nil {
		return 0, 0, err
	}
	for n := range end.GetRounds() {
		r, err := from.GetTranscript(ctx, &fleetv1.GetTranscriptRequest{Run: run, Round: n + 1, Reports: reports})
		if err != nil {
			return 0, 0, err
		}
		l := line{Round: of(r.GetSpec()), Record: of(r.GetRecord()), Sum: r.GetSum(), Hashes: r.GetHashes(), Permits: r.GetPermits()}
		for _, one := range r.GetReports() {
			l.Reports = append(l.Reports, report{one.GetNullifier(), one.GetBody()})
		}
		if len(l.Reports)*32 == len(l.Hashes) {
			whole++
		}
		if err := e.Encode(l); err != nil {
			return 0, 0, err
		}
	}
	return end.GetRounds(), whole, e.Encode(line{End: of(begin.GetEnd())})
}
