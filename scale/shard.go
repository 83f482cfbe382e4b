package scale

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// mostShards bounds the number of shards.
const mostShards = 1 << 16

// shardFormat is the format of shards.
const shardFormat = "parquet"

// The texts in a shard's metadata.
const (
	markNumber = "discreet_shard"
	markCount  = "discreet_shards"
	markKey    = "discreet_shard_key"
)

// shardPlace says which shard a file is: its number of how many, and the key of the hash that
// puts persons into shards. The key is as private as the data.
type shardPlace struct {
	Shard, Count int
	key          [16]byte
}

// holds tells whether a person belongs into the shard.
func (p shardPlace) holds(person string) bool {
	return p.of(person) == p.Shard
}

// of is the number of the shard that holds a person.
func (p shardPlace) of(person string) int { return int(sipHash(p.key, person) % uint64(p.Count)) }

// Write writes the persons of a dataset into count Parquet files in dir, a new directory,
// and returns their names. A person goes by a keyed hash of their id,
// and within a shard persons are in the order of their ids. Only their owner may read the
// files. The key is drawn anew by every call. [Sharding] does it without the dataset in
// memory.
func Write(d *trajectory.Dataset, dir string, count int) ([]string, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return write(d, dir, count, key)
}

func newKey() (key [16]byte, err error) {
	_, err = io.ReadFull(rand.Reader, key[:])
	return key, err
}

func write(d *trajectory.Dataset, dir string, count int, key [16]byte) ([]string, error) {
	if err := possible(count); err != nil {
		return nil, err
	}
	if d.PersonID == nil {
		return nil, errNobodyNamed
	}
	persons := make([][]int, count)
	for p, id := range d.PersonID {
		s := sipHash(key, id) % uint64(count)
		persons[s] = append(persons[s], p)
	}
	for _, of := range persons {
		if len(of) == 0 {
			return nil, tooMany(count)
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, taken(dir)
		}
		return nil, err
	}
	var names []string
	for s, of := range persons {
		name, err := writeShard(dir, shardPlace{s, count, key}, ordered(d, of))
		if err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// writeShard writes the file of a shard.
func writeShard(dir string, at shardPlace, write func(to io.Writer, marks map[string]string) error) (string, error) {
	name := filepath.Join(dir, shardName(at.Shard, at.Count))
	marks := map[string]string{markNumber: strconv.Itoa(at.Shard), markCount: strconv.Itoa(at.Count), markKey: hex.EncodeToString(at.key[:])}
	return name, atomicfile.Write(name, 0o600, func(w io.Writer) error { return write(w, marks) })
}

// ordered writes these persons of a dataset in the order of their ids.
func ordered(d *trajectory.Dataset, persons []int) func(io.Writer, map[string]string) error {
	slices.SortFunc(persons, func(a, b int) int { return compare(d.PersonID[a], d.PersonID[b]) })
	return func(to io.Writer, marks map[string]string) error { return file.WriteMarked(to, d.Take(persons), marks) }
}

func shardName(shard, count int) string {
	return fmt.Sprintf("s%0*d.parquet", len(strconv.Itoa(count-1)), shard)
}

// What is refused when shards are made.
var errNobodyNamed = fmt.Errorf("%w: the data name no persons, and shards hold whole persons; add or map the column unit_id", ErrShard)

func possible(count int) error {
	if count < 1 || count > mostShards {
		return fmt.Errorf("%w: %d shards; want 1 to %d", ErrShard, count, mostShards)
	}
	return nil
}

func tooMany(count int) error {
	return fmt.Errorf("%w: %d shards are too many for these data: one would hold nobody; take fewer", ErrShard, count)
}

func taken(dir string) error {
	return fmt.Errorf("%w: %s exists; shards of two sets must not mix: choose another directory", ErrShard, dir)
}

// compare orders ids by their bytes.
func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// placeOf reads which shard a file says it is.
func placeOf(ctx context.Context, path string) (shardPlace, error) {
	bad := func(what string) (shardPlace, error) {
		return shardPlace{}, fmt.Errorf("%w: %s: %s; make shards with discreet shard", ErrShard, path, what)
	}
	marks, err := file.Marks(ctx, path, markNumber, markCount, markKey)
	if err != nil {
		return shardPlace{}, err
	}
	var p shardPlace
	if p.Count, err = number(marks[markCount], 1, mostShards); err != nil {
		return bad("it does not say of how many shards it is one")
	}
	if p.Shard, err = number(marks[markNumber], 0, p.Count-1); err != nil {
		return bad("it does not say which shard it is")
	}
	key, err := hex.DecodeString(marks[markKey])
	if err != nil || len(key) != len(p.key) {
		return bad("it has no key for its persons")
	}
	p.key = [16]byte(key)
	return p, nil
}

// number is a decimal number between bounds, in its one form.
func number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < least || n > most {
		return 0, strconv.ErrRange
	}
	return n, nil
}

// check holds the persons of a shard against its place: each belongs there, and ids grow,
// so that nobody is there twice. So no two shards hold one person.
func (p shardPlace) check(path string, persons []string) error {
	if persons == nil {
		return fmt.Errorf("%w: %s: it names no persons; make shards with discreet shard", ErrShard, path)
	}
	for i, id := range persons {
		if !p.holds(id) {
			return fmt.Errorf("%w: %s: person %d of it belongs into another shard; make the shards anew with discreet shard", ErrShard, path, i)
		}
		if i > 0 && persons[i-1] >= id {
			return fmt.Errorf("%w: %s: person %d of it is not after the one before in the order of ids; make the shards anew with discreet shard", ErrShard, path, i)
		}
	}
	return nil
}

// Set lists the files of all shards, by number, and refuses sets that are not whole. What checks
// left beside them for the curator is left out.
func Set(ctx context.Context, paths []string) ([]string, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return strings.HasSuffix(path, faultsSuffix) || strings.HasSuffix(path, remarksSuffix)
	})
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: no file; correct the pattern", ErrShard)
	}
	var first shardPlace
	var out []string
	for i, path := range paths {
		p, err := placeOf(ctx, path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first, out = p, make([]string, p.Count)
		}
		switch {
		case p.Count != first.Count || p.key != first.key:
			return nil, fmt.Errorf("%w: %s and %s are of two sets of shards; name one set", ErrShard, paths[0], path)
		case out[p.Shard] != "":
			return nil, fmt.Errorf("%w: %s and %s are both shard %d; name one of them", ErrShard, out[p.Shard], path, p.Shard)
		}
		out[p.Shard] = path
	}
	if lost := slices.Index(out, ""); lost >= 0 {
		return nil, fmt.Errorf("%w: shard %d of %d is missing; name all of them", ErrShard, lost, first.Count)
	}
	return out, nil
}
