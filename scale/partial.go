package scale

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A partial is, byte for byte: the magic; the length of the header, 4 bytes; the header;
// the words, 8 bytes each; and the SHA-256 of all of that. Numbers are little-endian.
const magic = "discreet.part\x01\r\n"

// mostPartial bounds a partial in bytes.
const mostPartial = 256 << 20

// header is what a partial says in clear.
type header struct {
	Run  Hash `json:"run"`
	Task Hash `json:"task"`
	// Round and Shards are those of the task.
	Round  int `json:"round"`
	Shards int `json:"shards"`
	// Of lists the shards that are in it, by number, with the nonces of their masks.
	Of []masked `json:"of"`
	// Words is how many words follow, of which Sizes are those of fixed groups; Step and Sigma are the sum's lattice step and noise.
	Words int     `json:"words"`
	Sizes int     `json:"sizes,omitempty"`
	Step  float64 `json:"step"`
	Sigma float64 `json:"sigma"`
	// Columns are those of the data, in the check of rows that an engine grouped.
	Columns *trajectory.Dataset `json:"columns,omitempty"`
}

// masked names a shard and the nonce of its mask.
type masked struct {
	Shard int    `json:"shard"`
	Nonce string `json:"nonce"`
}

// Partial is the masked sum of one shard, or of several.
type Partial struct {
	header
	words []uint64
}

// The words before sizes and a sum, and the check word after them.
const (
	wordPersons = iota
	wordEpisodes
	wordRows
	wordData
	ownWords
)

// Encode is the partial's one form.
func (p Partial) Encode() ([]byte, error) {
	header, err := json.Marshal(p.header)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(magic)+4+len(header)+8*len(p.words)+sha256.Size), magic...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	out = append(out, header...)
	for _, w := range p.words {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// ParsePartial reads a partial, strictly.
func ParsePartial(data []byte) (Partial, error) {
	var p Partial
	bad := func(what string) (Partial, error) { return p, fmt.Errorf("%w: %s", ErrPartial, what) }
	n := len(data) - sha256.Size
	switch {
	case len(data) > mostPartial:
		return bad("it is too long")
	case n < len(magic)+4 || !bytes.HasPrefix(data, []byte(magic)):
		return bad("it is no partial, one of another version, or cut")
	case sha256.Sum256(data[:n]) != [sha256.Size]byte(data[n:]):
		return bad("it is cut or damaged")
	}
	rest := data[len(magic):n]
	length := uint64(binary.LittleEndian.Uint32(rest))
	rest = rest[4:]
	if length > uint64(len(rest)) {
		return bad("its header is cut")
	}
	header, words := rest[:length], rest[length:]
	if err := strict(header, &p.header); err != nil {
		return bad("its header is malformed")
	}
	if again, err := json.Marshal(p.header); err != nil || !bytes.Equal(again, header) {
		return bad("its header is not in its one form")
	}
	if err := p.header.validate(); err != nil {
		return p, err
	}
	if len(words) != 8*p.Words {
		return bad("it has another number of words than it says")
	}
	p.words = make([]uint64, p.Words)
	for i := range p.words {
		p.words[i] = binary.LittleEndian.Uint64(words[8*i:])
	}
	return p, nil
}

func (h header) validate() error {
	switch {
	case h.Round < 0 || h.Shards < 1 || h.Shards > mostShards || len(h.Of) == 0 || len(h.Of) > h.Shards:
		return fmt.Errorf("%w: its round or number of shards is impossible", ErrPartial)
	case h.Sizes < 0 || h.Words > mostPartial/8 || h.Words-h.Sizes < ownWords+2:
		return fmt.Errorf("%w: its number of words is impossible", ErrPartial)
	case !(h.Step > 0) || math.IsNaN(h.Sigma) || h.Sigma < 0:
		return fmt.Errorf("%w: its lattice is impossible", ErrPartial)
	case h.Columns != nil && h.Round > 0:
		return fmt.Errorf("%w: it has columns, which a check alone tells", ErrPartial)
	}
	for i, m := range h.Of {
		if m.Shard < 0 || m.Shard >= h.Shards || i > 0 && h.Of[i-1].Shard >= m.Shard {
			return fmt.Errorf("%w: its list of shards is not in order, or names one twice", ErrPartial)
		}
		if _, err := m.nonce(); err != nil {
			return err
		}
	}
	return nil
}

func (m masked) nonce() (n nonce, err error) {
	b, err := hex.DecodeString(m.Nonce)
	if err != nil || len(b) != len(n) || m.Nonce != hex.EncodeToString(b) {
		return n, fmt.Errorf("%w: the nonce of shard %d is malformed", ErrPartial, m.Shard)
	}
	return nonce(b), nil
}

// counts are the numbers of a shard, or of all.
type counts struct {
	persons, episodes, rows int64
	data                    uint64 // digests of the files, added up
	sizes                   []int64
}

// seal masks what a shard answers.
func seal(t Task, task Hash, at shardPlace, c counts, sum hook.Sum, key RunKey, n nonce) Partial {
	words := []uint64{uint64(c.persons), uint64(c.episodes), uint64(c.rows), c.data}
	for _, v := range slices.Concat(c.sizes, sum.Values) {
		words = append(words, uint64(v))
	}
	words = append(words, key.checkWord(words, task))
	key.cover(words, n, task, at)
	return Partial{header{
		Run: t.Run, Task: task, Round: t.Round, Shards: t.Shards, Of: []masked{{at.Shard, hex.EncodeToString(n[:])}},
		Words: len(words), Sizes: len(c.sizes), Step: sum.Step, Sigma: sum.Sigma,
	}, words}
}

// Merge adds partials of one task, in any order and as a tree. It needs no key.
func Merge(parts ...Partial) (Partial, error) {
	if len(parts) == 0 {
		return Partial{}, fmt.Errorf("%w: there is none", ErrPartial)
	}
	out := Partial{parts[0].header, slices.Clone(parts[0].words)}
	out.Of = slices.Clone(out.Of)
	for _, p := range parts[1:] {
		if err := alike(out.header, p.header); err != nil {
			return Partial{}, err
		}
		if p.Of[0].Shard < out.Of[0].Shard {
			out.Columns = p.Columns
		}
		for _, m := range p.Of {
			at, found := slices.BinarySearchFunc(out.Of, m.Shard, func(a masked, shard int) int { return a.Shard - shard })
			if found {
				return Partial{}, fmt.Errorf("%w: shard %d is there twice; give each once", ErrPartial, m.Shard)
			}
			out.Of = slices.Insert(out.Of, at, m)
		}
		for i, w := range p.words {
			out.words[i] += w
		}
	}
	return out, nil
}

// alike refuses to add what does not belong together, and names the shard.
func alike(a, b header) error {
	shard := b.Of[0].Shard
	switch {
	case a.Run != b.Run:
		return fmt.Errorf("%w: that of shard %d is of another run", ErrPartial, shard)
	case a.Round != b.Round:
		return fmt.Errorf("%w: that of shard %d is of round %d and not of round %d; answer the task of this round", ErrPartial, shard, b.Round, a.Round)
	case a.Task != b.Task:
		return fmt.Errorf("%w: that of shard %d answers another task of this round", ErrPartial, shard)
	case a.Shards != b.Shards || a.Words != b.Words || a.Sizes != b.Sizes || a.Step != b.Step || a.Sigma != b.Sigma:
		return fmt.Errorf("%w: that of shard %d is of another sum; use the same program for all workers", ErrPartial, shard)
	}
	return nil
}

// errCheck is what a wrong check word gives.
var errCheck = errors.New("check word does not fit")

// open takes the masks off a partial of all shards of a task, of which one is given.
func open(p Partial, t Task, task Hash, key RunKey, one shardPlace) (counts, hook.Sum, error) {
	var c counts
	want := header{Run: t.Run, Task: task, Round: t.Round, Shards: t.Shards, Words: p.Words, Sizes: p.Sizes, Step: p.Step, Sigma: p.Sigma}
	if err := alike(want, p.header); err != nil {
		return c, hook.Sum{}, err
	}
	for i := range t.Shards {
		if i >= len(p.Of) || p.Of[i].Shard != i {
			return c, hook.Sum{}, fmt.Errorf("%w: that of shard %d is lost", ErrPartial, i)
		}
	}
	words := slices.Clone(p.words)
	for _, m := range p.Of {
		n, err := m.nonce()
		if err != nil {
			return c, hook.Sum{}, err
		}
		key.uncover(words, n, task, shardPlace{m.Shard, one.Count, one.key})
	}
	last := len(words) - 1
	if key.checkWord(words[:last], task) != words[last] {
		return c, hook.Sum{}, fmt.Errorf("%w: the %w: a worker had another run key, or a shard of another set (another call of discreet shard), or a partial was changed", ErrPartial, errCheck)
	}
	values := make([]int64, last-ownWords)
	for i := range values {
		values[i] = int64(words[ownWords+i])
	}
	c = counts{int64(words[wordPersons]), int64(words[wordEpisodes]), int64(words[wordRows]), words[wordData], values[:p.Sizes]}
	return c, hook.Sum{Step: p.Step, Sigma: p.Sigma, Values: values[p.Sizes:], Persons: c.persons}, nil
}

// ReadPartial reads the file of a partial.
func ReadPartial(path string) (Partial, error) {
	data, err := bounded(path, mostPartial)
	if err != nil {
		return Partial{}, err
	}
	p, err := ParsePartial(data)
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
