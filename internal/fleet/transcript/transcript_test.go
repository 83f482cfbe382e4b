package transcript_test

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/transcript"
	"github.com/discreet-rl/discreet/train"
)

const (
	trains    = fleetv1.Kind_KIND_TRAIN
	evaluates = fleetv1.Kind_KIND_EVALUATE
)

// aRun is a world with five rounds: of four devices, an evaluation, one that is abandoned, and two of fewer devices.
func aRun(t *testing.T, r train.Randomizer) (*world, [][]sentReport) {
	w := newWorld(t, r)
	var all [][]sentReport
	for _, n := range []struct {
		kind fleetv1.Kind
		of   int
	}{{trains, 4}, {evaluates, 4}, {trains, 1}, {trains, 3}, {trains, 2}} {
		all = append(all, w.round(n.kind, n.of))
	}
	return w, all
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestATranscriptAndOneProcess agree bit for bit: package train makes the same weights of the same reports. So do the
// server's versions, and the devices' epsilons are those of the permits that were drawn.
func TestATranscriptAndOneProcess(t *testing.T) {
	w, sent := aRun(t, train.Randomizer{Mechanism: train.PrivUnit, Epsilon: 2})
	text := w.write(false)
	found, versions, err := w.verify(text)
	if err != nil || found.Rounds != 5 || found.Version != 3 || len(versions) != 4 || found.Reports != 14 || found.Ended {
		t.Fatalf("%+v, %d versions, %v", found, len(versions), err)
	}
	if !slices.Equal(found.Devices, []uint64{0, 1, 1, 1, 1}) && !slices.Equal(found.Devices, []uint64{0, 1, 1, 1, 1}[:len(found.Devices)]) {
		t.Errorf("devices by permits: %v", found.Devices)
	}
	if len(found.NotChecked) != 1 || !strings.Contains(found.NotChecked[0], "5 of 5 rounds") {
		t.Errorf("not checked: %q", found.NotChecked)
	}
	for _, v := range versions {
		p, err := w.operator.GetPolicy(t.Context(), &fleetv1.GetPolicyRequest{Version: v.Version})
		if err != nil {
			t.Fatal(err)
		}
		if theta, err := fleet.DecodeWeights(p.GetWeights()); err != nil || !same(theta, v.Weights) || p.GetRound() != v.Round {
			t.Errorf("version %d: the server has %v of round %d, %v; the transcript %v of round %d", v.Version, theta, p.GetRound(), err, v.Weights, v.Round)
		}
	}
	theta, moved := versions[0].Weights, 0
	oracle := func(round []sentReport) []float64 {
		a, err := train.NewAggregator(train.Terms{
			Dim: dim, Randomizer: w.run.Randomizer, Submissions: uint64(len(round)), Buffer: len(round), Staleness: -1, Optimizer: train.Optimizer{Kind: "sgd", Step: 1},
		}, make([]float64, dim), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(round, func(a, b sentReport) int { return bytes.Compare(a.nullifier, b.nullifier) })
		for _, r := range round {
			task := a.Issue(0)
			data, err := train.Report{Slot: task.Slot, Version: task.Version, Token: task.Token, Body: r.body}.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := a.Submit(data); err != nil || v != train.Accepted {
				t.Fatal(v, err)
			}
		}
		mean := make([]float64, dim)
		a.Theta(mean) // a step of 1 from 0 leaves minus the mean
		for i := range mean {
			mean[i] = -mean[i]
		}
		return mean
	}
	o := train.Optimizer{Kind: "adam", Step: .1}
	memory := o.NewState(dim)
	version := 0
	for _, i := range []int{0, 3, 4} {
		theta, moved = slices.Clone(theta), moved+len(sent[i])
		o.Apply(theta, oracle(sent[i]), &memory, uint64(moved))
		if version++; !same(theta, versions[version].Weights) {
			t.Errorf("version %d: one process has %v, the transcript %v", version, theta, versions[version].Weights)
		}
	}
}

// TestReportsOfATranscript: where they are in it, sums follow from them; and they are in it for as long as the operator says.
func TestReportsOfATranscript(t *testing.T) {
	for _, r := range []train.Randomizer{{Mechanism: train.SignPRS, Epsilon: 1}, {Mechanism: train.OneBit, Epsilon: 2, Clip: 10}} {
		w := newWorld(t, r)
		w.round(trains, 3)
		w.round(evaluates, 4)
		w.round(trains, 2)
		if _, _, err := w.verify(w.write(false)); err != nil {
			t.Errorf("%s: %v", r.Mechanism, err)
		}
		found, _, err := w.verify(w.write(true))
		if err != nil || len(found.NotChecked) != 0 || found.Version != 2 {
			t.Errorf("%s: %+v, %v", r.Mechanism, found, err)
		}
		w.round(trains, 2) // the reports of the first round go
		found, _, err = w.verify(w.write(true))
		want := "of 1 of 4 rounds"
		if r.Mechanism == train.OneBit { // their effect depends on all before
			want = "of 3 of 4 rounds"
		}
		if err != nil || len(found.NotChecked) != 1 || !strings.Contains(found.NotChecked[0], want) {
			t.Errorf("%s: %+v, %v", r.Mechanism, found, err)
		}
	}
}

// parts are the lines of a transcript, to be changed.
type parts []map[string]any

func split(t *testing.T, text []byte) (out parts) {
	for line := range bytes.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if _, first := m["learning"]; first { // its bytes are hashed
			var raw map[string]json.RawMessage
			if err := json.Unmarshal(line, &raw); err != nil {
				t.Fatal(err)
			}
			m["learning"] = raw["learning"]
		}
		out = append(out, m)
	}
	return out
}

func (p parts) join(t *testing.T) []byte {
	var b bytes.Buffer
	for _, m := range p {
		if err := json.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// bytesOf changes a field of bytes.
func bytesOf(m any, key string, change func([]byte) []byte) {
	of := m.(map[string]any)
	data, err := base64.StdEncoding.DecodeString(of[key].(string))
	if err != nil {
		panic(err)
	}
	of[key] = base64.StdEncoding.EncodeToString(change(data))
}

func flip(b []byte) []byte { b[len(b)/2] ^= 1; return b }

// TestWhatWasChangedIsFound, whatever it was, and a file that was cut off.
func TestWhatWasChangedIsFound(t *testing.T) {
	w, _ := aRun(t, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	whole := w.write(true)
	if found, _, err := w.verify(whole); err != nil || len(found.NotChecked) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	reports := func(p parts, round int) []any { return p[round]["reports"].([]any) }
	changes := map[string]func(parts) parts{
		"a report is changed": func(p parts) parts { bytesOf(reports(p, 5)[0], "body", flip); return p },
		"a nullifier is changed": func(p parts) parts {
			bytesOf(reports(p, 5)[1], "nullifier", func(b []byte) []byte { b[31] ^= 1; return b })
			return p
		},
		"an answer is changed":     func(p parts) parts { bytesOf(p[2], "hashes", flip); return p },
		"a report is dropped":      func(p parts) parts { p[5]["reports"] = reports(p, 5)[1:]; return p },
		"reports in another order": func(p parts) parts { slices.Reverse(reports(p, 4)); return p },
		"a report and its hash go": func(p parts) parts {
			bytesOf(p[5], "hashes", func(b []byte) []byte { return b[32:] })
			p[5]["reports"] = nil
			return p
		},
		"a hash twice": func(p parts) parts {
			bytesOf(p[5], "hashes", func(b []byte) []byte { return append(b[:32:32], b[:32]...) })
			return p
		},
		"a permit is dropped":        func(p parts) parts { bytesOf(p[1], "permits", func(b []byte) []byte { return b[32:] }); return p },
		"another sum":                func(p parts) parts { bytesOf(p[1], "sum", flip); return p },
		"a sum of an evaluation":     func(p parts) parts { p[2]["sum"] = p[1]["sum"]; return p },
		"a round is dropped":         func(p parts) parts { return slices.Delete(p, 3, 4) },
		"the last round is dropped":  func(p parts) parts { return slices.Delete(p, 5, 6) },
		"rounds in another order":    func(p parts) parts { p[3], p[4] = p[4], p[3]; return p },
		"a round twice":              func(p parts) parts { return slices.Insert(p, 2, p[1]) },
		"a record of another round":  func(p parts) parts { p[4]["record"] = p[5]["record"]; return p },
		"a record is dropped":        func(p parts) parts { delete(p[4], "record"); return p },
		"the last record is dropped": func(p parts) parts { delete(p[5], "record"); return p },
		"a signature of a round":     func(p parts) parts { bytesOf(p[1]["round"], "signature", flip); return p },
		"a signature of a record":    func(p parts) parts { bytesOf(p[1]["record"], "signature", flip); return p },
		"a signature of the end":     func(p parts) parts { bytesOf(p[6]["end"], "signature", flip); return p },
		"a signature is replaced": func(p parts) parts {
			p[1]["record"].(map[string]any)["signature"] = p[2]["record"].(map[string]any)["signature"]
			return p
		},
		"another key":           func(p parts) parts { p[1]["record"].(map[string]any)["key"] = 9; return p },
		"another run":           func(p parts) parts { bytesOf(p[0]["run"].([]any)[0], "spec", flip); return p },
		"other initial weights": func(p parts) parts { bytesOf(p[0], "weights", flip); return p },
		"another optimizer": func(p parts) parts {
			p[0]["learning"] = json.RawMessage(strings.Replace(string(p[0]["learning"].(json.RawMessage)), "0.1", "0.2", 1))
			return p
		},
		"the end is missing":           func(p parts) parts { return p[:6] },
		"only the first line is there": func(p parts) parts { return p[:1] },
		"something follows the end":    func(p parts) parts { return append(p, p[6]) },
	}
	for name, change := range changes {
		text := change(split(t, whole)).join(t)
		if found, _, err := w.verify(text); !errors.Is(err, transcript.ErrWrong) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if found, _, err := w.verify(split(t, whole).join(t)); err != nil {
		t.Errorf("nothing is changed: %+v, %v", found, err)
	}
	for n := 1; n < len(whole); n += len(whole) / 50 {
		if found, _, err := w.verify(whole[:n]); !errors.Is(err, transcript.ErrWrong) && !errors.Is(err, transcript.ErrFile) {
			t.Errorf("cut off after %d bytes: %+v, %v", n, found, err)
		}
	}
	if _, err := transcript.Verify(bytes.NewReader(whole), ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey), nil); !errors.Is(err, transcript.ErrWrong) {
		t.Errorf("of another root: %v", err)
	}
	// A transcript of an earlier day is one that says so.
	if _, err := w.operator.EndRun(t.Context(), &fleetv1.EndRunRequest{}); err != nil {
		t.Fatal(err)
	}
	if found, _, err := w.verify(w.write(false)); err != nil || !found.Ended {
		t.Errorf("after the run: %+v, %v", found, err)
	}
}

// TestRoundsOfAnOlderServer have no record: what follows them is not recomputed, and said so, but no later record may be missing.
func TestRoundsOfAnOlderServer(t *testing.T) {
	w := newWorld(t, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	w.round(trains, 2)
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "fleet.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `DELETE FROM fleet_record`)
	_, again := db.ExecContext(t.Context(), `DELETE FROM fleet_permit`)
	_, more := db.ExecContext(t.Context(), `DELETE FROM fleet_drawn`)
	if err := errors.Join(err, again, more, db.Close()); err != nil {
		t.Fatal(err)
	}
	w.round(trains, 3)
	w.round(evaluates, 3)
	found, versions, err := w.verify(w.write(true))
	if err != nil || len(found.NotChecked) != 2 || !strings.Contains(found.NotChecked[0], "round 1 has no record") || len(versions) != 1 {
		t.Errorf("%+v, %d versions, %v", found, len(versions), err)
	}
	w.round(trains, 0) // nobody comes: only the chain of records misses it
	w.round(trains, 2)
	for _, round := range []int{2, 4} {
		p := split(t, w.write(true))
		delete(p[round], "record")
		if _, _, err := w.verify(p.join(t)); !errors.Is(err, transcript.ErrWrong) {
			t.Errorf("round %d without its record: %v", round, err)
		}
	}
}
