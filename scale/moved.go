package scale

import (
	"bytes"
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// An engine that moves rows by itself moves them in pieces: of one part of a file, for one partition,
// numbered, and sealed under the run key. So a worker knows that it has every piece of every file,
// that nobody else made or saw one, and of a piece that came twice that it is the same.

// label is what a piece says in clear.
type label struct {
	// Name is that of the file, File the place of its part among those of all files.
	Name  string `json:"name"`
	File  int    `json:"file"`
	Files int    `json:"files"`
	// Number counts the pieces of the part for the partition. The last one has no rows.
	Number int  `json:"number"`
	Last   bool `json:"last"`
	// Version is that of the file when the part was begun, and of the last piece when it was read.
	Version uint64 `json:"version"`
}

// Files are those of the data that the task asks about, in their order. A large one stands there several times: as
// many parts of it can be read apart.
func (t Task) Files(ctx context.Context) ([]string, error) {
	c, err := t.config()
	if err != nil {
		return nil, err
	}
	return scan.Files(ctx, c)
}

// Scatter reads the rows of one of [Task.Files], and gives them in pieces, sealed, each for a partition:
// that of [Worker.Places]. It may be done again, and gives the same rows in the same pieces. What is wrong with the file goes to a
// file whose name begins with beside.
func (w *Worker) Scatter(ctx context.Context, t Task, task Hash, files []string, number int, beside string, key RunKey, give func(partition int, piece []byte) error) error {
	if err := t.ours(); err != nil {
		return err
	}
	c, err := t.config()
	if err != nil {
		return err
	}
	s := sealer{key: key.pieces(task), of: key.partition(0, t.Shards)}
	sent := make([]int, t.Shards)
	version, err := key.version(ctx, files[number])
	if err != nil {
		return err
	}
	var given error
	send := func(partition int, rows []byte, last bool) error {
		piece, err := s.seal(partition, label{files[number], number, len(files), sent[partition], last, version}, rows)
		if err == nil {
			sent[partition]++
			err = give(partition, piece)
		}
		given = err
		return err
	}
	divide := func(files []string, number int, give func(int, []byte) error) ([]byte, error) {
		return scan.Divide(ctx, c, files, number, t.Shards, func(plain []byte) int { return s.of.of(string(plain)) }, give)
	}
	after, err := divide(files, number, func(partition int, rows []byte) error { return send(partition, rows, false) })
	if err == nil {
		version, err = key.version(ctx, files[number])
	}
	for partition := range t.Shards {
		if err == nil {
			err = send(partition, after, true)
		}
	}
	if err = source.Told(err); err == nil || given != nil || !errors.Is(err, trajectory.ErrInput) {
		return err
	}
	if whole := slices.Compact(slices.Clone(files)); len(whole) < len(files) { // has what comes first, and its place
		if _, told := divide(whole, slices.Index(whole, files[number]), func(int, []byte) error { return nil }); told != nil {
			if err = source.Told(told); !errors.Is(err, trajectory.ErrInput) {
				return err
			}
		}
	}
	if told := forCurator(ctx, beside+faultsSuffix, err.Error()+"\n"); told != nil {
		return fmt.Errorf("%w: %s cannot be read, and its curator cannot be told why: %w", ErrShard, files[number], told)
	}
	return fmt.Errorf("%w: %s cannot be read", ErrShard, files[number])
}

// Gather is [Worker.Partition] for the rows of a partition in pieces of [Worker.Scatter], which may come in any order,
// and more than once: they are read in the order of files and rows, as by one process.
func (w *Worker) Gather(ctx context.Context, t Task, task Hash, number int, pieces [][]byte, beside string, key RunKey) (Partial, error) {
	if number < 0 || number >= t.Shards {
		return Partial{}, fmt.Errorf("%w: partition %d of %d", ErrTask, number, t.Shards)
	}
	s := sealer{key: key.pieces(task), of: key.partition(number, t.Shards)}
	rows, names, err := s.join(number, pieces)
	if err != nil {
		return Partial{}, err
	}
	if len(rows) == 0 {
		return Partial{}, fmt.Errorf("%w: partition %d of %d holds no rows; give fewer partitions", ErrShard, number, t.Shards)
	}
	ctx = source.With(ctx, rows)
	return w.answer(ctx, t, task, part{path: moved, beside: beside, place: &s.of, names: names}, key)
}

// version names the state of a file, to who has the run key, by its size and time, or by the version of an object.
func (k RunKey) version(ctx context.Context, path string) (uint64, error) {
	info, err := source.Stat(ctx, path)
	if err != nil {
		return 0, err
	}
	of, ok := info.Sys().(source.Version)
	if !ok {
		of = source.Version(fmt.Sprint(info.ModTime().UnixNano()))
	}
	return binary.LittleEndian.Uint64(k.derive(fmt.Appendf(nil, "%d %s", info.Size(), of), "discreet/scale version 1")), nil
}

// moved is the name of all rows of a partition, and those of the rows of a file begin with it.
const moved = source.MemoryScheme + "partition/rows/"

// sealer seals pieces of a task, and opens them.
type sealer struct {
	key cipher.AEAD
	of  shardPlace
}

// pieces seals those of a task.
func (k RunKey) pieces(task Hash) cipher.AEAD {
	block, err := aes.NewCipher(k.derive(task[:], "discreet/scale pieces 1"))
	if err == nil {
		var a cipher.AEAD
		if a, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return a
		}
	}
	panic("scale: " + err.Error()) // a 32-byte key is always accepted
}

// about is what a piece is sealed with: its label, and its partition.
func about(partition int, label []byte) []byte {
	return binary.LittleEndian.AppendUint64(slices.Clone(label), uint64(partition))
}

func (s sealer) seal(partition int, l label, rows []byte) ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, binary.MaxVarintLen64+len(text)+len(rows)+s.key.Overhead())
	out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	return s.key.Seal(out, nil, rows, about(partition, text)), nil
}

// open gives the label and the rows of a piece.
func (s sealer) open(partition int, piece []byte) (l label, rows []byte, err error) {
	bad := fmt.Errorf("%w: the engine brought partition %d rows that are not its own of this task, or the run key is another", ErrEngine, partition)
	n, size := binary.Uvarint(piece)
	if size <= 0 || n > uint64(len(piece)-size) {
		return l, nil, bad
	}
	text, sealed := piece[size:size+int(n)], piece[size+int(n):]
	if rows, err = s.key.Open(nil, nil, sealed, about(partition, text)); err != nil {
		return l, nil, bad
	}
	return l, rows, strict(text, &l)
}

// join puts pieces in order, and gives the rows of each file that has any, in memory.
func (s sealer) join(partition int, pieces [][]byte) (source.Memory, *strings.Replacer, error) {
	type opened struct {
		label
		rows []byte
	}
	all := make([]opened, len(pieces))
	for i, p := range pieces {
		l, rows, err := s.open(partition, p)
		if err != nil {
			return nil, nil, err
		}
		all[i] = opened{l, rows}
	}
	slices.SortFunc(all, func(a, b opened) int { return cmp.Or(a.File-b.File, a.Number-b.Number) })
	rows, names := source.Memory{}, []string(nil)
	file, number, files := 0, 0, 1 // those that are awaited, of so many
	var name, of string            // in memory, of this file
	var after []byte               // before its first row
	lost := func() error {
		return fmt.Errorf("%w: the engine lost rows of file %d on their way to partition %d", ErrEngine, file, partition)
	}
	for i, p := range all {
		twice := i > 0 && p.label == all[i-1].label
		if twice && !bytes.Equal(p.rows, all[i-1].rows) || i > 0 && p.Name == all[i-1].Name && p.Version != all[i-1].Version {
			return nil, nil, fmt.Errorf("%w: %s was changed while it was read, or workers read copies of it that differ in size or time", ErrShard, p.Name)
		}
		if twice {
			continue
		}
		if files = p.Files; p.File != file || p.Number != number {
			return nil, nil, lost()
		}
		if p.Name != of {
			name, of, after = fmt.Sprintf("%s%05d", moved, file), p.Name, nil
		}
		if number++; p.Last {
			file, number = file+1, 0
		}
		switch {
		case rows[name] != nil:
			rows[name] = append(rows[name], p.rows...)
		case p.Last:
			after = append(after, p.rows...)
		default:
			names = append(names, name, p.Name)
			rows[name] = append(after, p.rows...)
		}
	}
	if file != files {
		return nil, nil, lost()
	}
	return rows, strings.NewReplacer(append(names, moved+": ", "")...), nil
}
