package scale

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
)

// taskSchema names the form of a task.
const taskSchema = "discreet/task/v1"

// mostTask bounds a task in bytes.
const mostTask = 256 << 20

// Hash is a SHA-256; in text it is hexadecimal.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) || string(text) != hex.EncodeToString(b) {
		return errors.New("a hash is 64 small hexadecimal digits")
	}
	*h = Hash(b)
	return nil
}

// Task is what all workers get in a round. Nothing in it is private: the transcript is
// what was released.
type Task struct {
	Schema string `json:"schema"`
	// Run names the run, at random.
	Run Hash `json:"run"`
	// Round is 0 for the check, which brings the first sum as well, and k for the k-th sum.
	Round int `json:"round"`
	// Shards is how many there are.
	Shards int `json:"shards"`
	// Program is the version of the program that asks.
	Program string `json:"program"`
	// Question is the YAML of the configuration, Dir what its relative paths start at,
	// and ConfigHash its hash, which covers the content of policy files.
	Question   string `json:"question"`
	Dir        string `json:"dir"`
	ConfigHash string `json:"config_hash"`
	// Persons is their public number, 0 where there is none.
	Persons int64 `json:"persons"`
	// Transcript are the noisy sums so far, one fewer than Round.
	Transcript []noisySum `json:"transcript"`
}

// noisySum is a sum that was released, in lattice steps.
type noisySum struct {
	Step  float64 `json:"step"`
	Sigma float64 `json:"sigma"`
	Sum   []int64 `json:"sum"`
}

// Encode is the task's one form.
func (t Task) Encode() ([]byte, error) {
	text, err := json.Marshal(t)
	return append(text, '\n'), err
}

// parseTask reads a task, strictly.
func parseTask(text []byte) (Task, error) {
	var t Task
	if len(text) > mostTask {
		return t, fmt.Errorf("%w: it is longer than %d bytes", ErrTask, mostTask)
	}
	if err := strict(text, &t); err != nil {
		return t, fmt.Errorf("%w: %w", ErrTask, err)
	}
	if again, err := t.Encode(); err != nil || !bytes.Equal(again, text) {
		return t, fmt.Errorf("%w: it is not in the form that the driver writes", ErrTask)
	}
	switch {
	case t.Schema != taskSchema:
		return t, fmt.Errorf("%w: its schema is %q; this program reads %s: use the same program for driver and workers", ErrTask, t.Schema, taskSchema)
	case t.Shards < 1 || t.Shards > mostShards:
		return t, fmt.Errorf("%w: %d shards", ErrTask, t.Shards)
	case t.Persons < 0:
		return t, fmt.Errorf("%w: %d persons", ErrTask, t.Persons)
	case t.Round < 0 || len(t.Transcript) != max(t.Round-1, 0):
		return t, fmt.Errorf("%w: a transcript of %d sums in round %d", ErrTask, len(t.Transcript), t.Round)
	}
	return t, nil
}

// strict decodes one JSON value without unknown fields.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// ReadTask reads the file of a task, and returns its hash beside it.
func ReadTask(path string) (Task, Hash, error) {
	text, err := bounded(path, mostTask)
	if err != nil {
		return Task{}, Hash{}, err
	}
	t, err := parseTask(text)
	if err != nil {
		return t, Hash{}, fmt.Errorf("%s: %w", path, err)
	}
	return t, sha256.Sum256(text), nil
}

// bounded reads a file of at most so many bytes, and one more.
func bounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// ours refuses a task of another program.
func (t Task) ours() error {
	if v := discreet.Version(); t.Program != v {
		return fmt.Errorf("%w: program %q asks and this is %q: use one program for driver and workers", ErrTask, t.Program, v)
	}
	return nil
}

// config is the configuration that the task asks about.
func (t Task) config() (config.Config, error) {
	c, err := discreet.Parse("question", []byte(t.Question))
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrTask, err)
	}
	c.Dir = t.Dir
	hash, err := c.Hash()
	if err != nil {
		return c, err
	}
	if hash != t.ConfigHash {
		return c, fmt.Errorf("%w: the question has another hash here than where it was asked: policy files differ; have the same ones at the same paths", ErrTask)
	}
	return c, nil
}
