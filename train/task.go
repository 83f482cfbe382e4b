package train

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/local"
)

// RunID names a training run.
type RunID [16]byte

// Token entitles its holder to one report. Only the aggregator that issued it can
// make it.
type Token [16]byte

// Task asks one agent for one report. Everything in it is public but the token,
// which is the agent's.
type Task struct {
	// Run is the training run and Slot the number of the submission in it.
	Run  RunID
	Slot uint64
	// Version numbers the weights that the agent is to start from, and Weights is
	// their hash ([HashWeights]).
	Version uint64
	Weights [sha256.Size]byte
	// Deadline is when the report is sent, in seconds since 1970, however soon it
	// was ready; 0 in a simulation. It may arrive Terms.Grace later.
	Deadline int64
	// Seed determines a projection or a perturbation.
	Seed local.Seed
	// Token is sent back with the report.
	Token Token
	// Dim is the number of weights, Randomizer what makes the report of them.
	Dim        int
	Randomizer Randomizer
}

// HashWeights is SHA-256 of "discreet weights 1", a zero byte and the weights, each as
// 8 bytes, IEEE 754 binary64, little-endian.
func HashWeights(theta []float64) [sha256.Size]byte {
	const context = "discreet weights 1\x00"
	b := make([]byte, 0, len(context)+8*len(theta))
	b = append(b, context...)
	for _, v := range theta {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return sha256.Sum256(b)
}

// taskVersion begins every encoded task.
const taskVersion = 2

// taskSize is the length of an encoded task.
const taskSize = 1 + 16 + 8 + 8 + 32 + 8 + 32 + 16 + 4 + 1 + 8 + 8 + 4

// AppendBinary appends the task's only encoding, of a fixed size. It fails for a
// mechanism without a number.
func (t Task) AppendBinary(dst []byte) ([]byte, error) {
	number := t.Randomizer.Mechanism.number()
	if number < 0 || t.Dim < 0 || t.Dim > math.MaxInt32 || t.Randomizer.Rows < 0 || t.Randomizer.Rows > math.MaxInt32 {
		return dst, fmt.Errorf("%w: mechanism %q in dimension %d with %d rows cannot be written", ErrTask, t.Randomizer.Mechanism, t.Dim, t.Randomizer.Rows)
	}
	le := binary.LittleEndian
	dst = append(dst, taskVersion)
	dst = append(dst, t.Run[:]...)
	dst = le.AppendUint64(dst, t.Slot)
	dst = le.AppendUint64(dst, t.Version)
	dst = append(dst, t.Weights[:]...)
	dst = le.AppendUint64(dst, uint64(t.Deadline))
	dst = append(dst, t.Seed[:]...)
	dst = append(dst, t.Token[:]...)
	dst = le.AppendUint32(dst, uint32(t.Dim))
	dst = append(dst, byte(number))
	dst = le.AppendUint64(dst, math.Float64bits(t.Randomizer.Epsilon))
	dst = le.AppendUint64(dst, math.Float64bits(t.Randomizer.Clip))
	return le.AppendUint32(dst, uint32(t.Randomizer.Rows)), nil
}

// ParseTask reads an encoded task; nothing but the output of AppendBinary is
// accepted. The error wraps [ErrTask].
func ParseTask(data []byte) (Task, error) {
	if len(data) != taskSize || data[0] != taskVersion {
		return Task{}, fmt.Errorf("%w: %d bytes; want %d that begin with %d", ErrTask, len(data), taskSize, taskVersion)
	}
	le := binary.LittleEndian
	var t Task
	b := data[1:]
	b = b[copy(t.Run[:], b):]
	t.Slot, t.Version = le.Uint64(b), le.Uint64(b[8:])
	b = b[16:]
	b = b[copy(t.Weights[:], b):]
	t.Deadline = int64(le.Uint64(b))
	b = b[8:]
	b = b[copy(t.Seed[:], b):]
	b = b[copy(t.Token[:], b):]
	t.Dim = int(le.Uint32(b))
	number := int(b[4])
	if number >= len(mechanisms()) {
		return Task{}, fmt.Errorf("%w: mechanism %d is not known; update the agent", ErrTask, number)
	}
	t.Randomizer = Randomizer{
		Mechanism: mechanisms()[number].name,
		Epsilon:   math.Float64frombits(le.Uint64(b[5:])),
		Clip:      math.Float64frombits(le.Uint64(b[13:])),
		Rows:      int(le.Uint32(b[21:])),
	}
	back, err := t.AppendBinary(nil)
	if err != nil || !bytes.Equal(back, data) {
		return Task{}, fmt.Errorf("%w: not the encoding of a task", ErrTask)
	}
	return t, nil
}

// taskContext keeps signatures of tasks apart from any others by the same key; the
// number is that of the encoding.
const taskContext = "discreet training task 2\x00"

// SignTask signs an encoded task with the aggregator's key (Ed25519).
func SignTask(key ed25519.PrivateKey, task []byte) []byte {
	return ed25519.Sign(key, append([]byte(taskContext), task...))
}

// VerifyTask reads a task whose signature is good. The error wraps [ErrTask].
func VerifyTask(key ed25519.PublicKey, task, signature []byte) (Task, error) {
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, append([]byte(taskContext), task...), signature) {
		return Task{}, fmt.Errorf("%w: the signature is not the aggregator's", ErrTask)
	}
	return ParseTask(task)
}
