package scale

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// Names of the environment variables that bring the run key.
const (
	KeyVariable     = "DISCREET_RUN_KEY"
	KeyFileVariable = "DISCREET_RUN_KEY_FILE"
)

// RunKey is the secret of a run, from which the masks of its partials are made. It is
// never in a task or a partial.
type RunKey [32]byte

// NewRunKey draws a key.
func NewRunKey() (RunKey, error) {
	var k RunKey
	_, err := io.ReadFull(rand.Reader, k[:])
	return k, err
}

// KeyFromEnvironment reads the key, 64 hexadecimal digits, from the variable
// DISCREET_RUN_KEY, or from the file that DISCREET_RUN_KEY_FILE names, which nobody but
// its owner may read. Found is false where neither is set.
func KeyFromEnvironment() (k RunKey, found bool, err error) {
	text, from := os.Getenv(KeyVariable), KeyVariable
	if path := os.Getenv(KeyFileVariable); text == "" && path != "" {
		from = path
		if text, err = readKey(path); err != nil {
			return k, true, err
		}
	}
	if text == "" {
		return k, false, nil
	}
	k, err = parseKey(text, from)
	return k, true, err
}

// longestKey bounds the file of a key.
const longestKey = 1 << 10

func readKey(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrKey, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrKey, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%w: others may read %s; chmod 600 it", ErrKey, path)
	}
	text, err := io.ReadAll(io.LimitReader(f, longestKey))
	return string(text), err
}

// derive makes a key for one use.
func (k RunKey) derive(salt []byte, use string) []byte {
	out, err := hkdf.Key(sha256.New, k[:], salt, use, 32)
	if err != nil {
		panic("scale: " + err.Error()) // 32 bytes are always to be had of SHA-256
	}
	return out
}

// stream replaces each word by use of it and of a random word from the keystream of a key.
func stream(key []byte, words []uint64, use func(word, random uint64) uint64) {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("scale: " + err.Error()) // a 32-byte key is always accepted
	}
	var counter [aes.BlockSize]byte
	ctr := cipher.NewCTR(block, counter[:])
	buf := make([]byte, 1<<12)
	for from := 0; from < len(words); from += len(buf) / 8 {
		part := words[from:min(from+len(buf)/8, len(words))]
		clear(buf)
		ctr.XORKeyStream(buf, buf)
		for i := range part {
			part[i] = use(part[i], binary.LittleEndian.Uint64(buf[8*i:]))
		}
	}
}

// nonce is drawn anew for every partial.
type nonce [16]byte

// mask is the keystream that covers one partial: of this key, nonce, task, shard and set of
// shards, and of no other. So sums of shards of two sets, which may hold one person twice,
// are not added up.
func (k RunKey) mask(n nonce, task Hash, at shardPlace) []byte {
	return k.derive(n[:], fmt.Sprintf("discreet/scale mask 2 %s %d %x", task, at.Shard, at.key))
}

func (k RunKey) cover(words []uint64, n nonce, task Hash, at shardPlace) {
	stream(k.mask(n, task, at), words, func(w, r uint64) uint64 { return w + r })
}

func (k RunKey) uncover(words []uint64, n nonce, task Hash, at shardPlace) {
	stream(k.mask(n, task, at), words, func(w, r uint64) uint64 { return w - r })
}

// checkWord is a linear function of words with secret odd coefficients, so that the
// check words of partials add up to that of their sum.
func (k RunKey) checkWord(words []uint64, task Hash) uint64 {
	products := append([]uint64(nil), words...)
	stream(k.derive(task[:], "discreet/scale check 1"), products, func(w, r uint64) uint64 { return w * (r | 1) })
	sum := uint64(0)
	for _, p := range products {
		sum += p
	}
	return sum
}

// authenticate is the MAC of a file of the run, under its name.
func (k RunKey) authenticate(name string, of []byte) Hash {
	mac := hmac.New(sha256.New, k.derive(nil, "discreet/scale run file 1"))
	mac.Write(append([]byte(name), 0))
	mac.Write(of)
	return Hash(mac.Sum(nil))
}

// partition is a place of the partitions that an engine makes of rows under this key.
func (k RunKey) partition(number, count int) shardPlace {
	return shardPlace{number, count, [16]byte(k.derive(nil, "discreet/scale rows 1"))}
}

// set names the set of shards that a shard is of, to who has the run key.
func (k RunKey) set(of shardPlace) Hash { return k.authenticate("shards", of.key[:]) }

// digestWord is a keyed digest of a shard's file, by its number.
func (k RunKey) digestWord(file [sha256.Size]byte, shard int) uint64 {
	return binary.LittleEndian.Uint64(k.derive(file[:], fmt.Sprintf("discreet/scale data 1 %d", shard)))
}

// KeyOfRun is the key that a run directory keeps for itself, drawn at its first call: for
// runs whose partials never leave one process, and which are gone on with by another.
// A directory that holds anything and is no run is refused.
func KeyOfRun(dir string) (RunKey, error) {
	if err := claim(dir); err != nil {
		return RunKey{}, err
	}
	path := filepath.Join(dir, "key")
	text, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(store{dir: dir}.started()); err == nil {
			return RunKey{}, fmt.Errorf("%w: %s is of a run whose key is not kept there; give that key by %s or %s", ErrKey, dir, KeyVariable, KeyFileVariable)
		}
		k, err := NewRunKey()
		if err == nil {
			err = atomicfile.Create(path, 0o600, func(w io.Writer) error {
				_, err := io.WriteString(w, hex.EncodeToString(k[:])+"\n")
				return err
			})
		}
		return k, err
	}
	if err != nil {
		return RunKey{}, err
	}
	return parseKey(text, path)
}

func parseKey(text, from string) (RunKey, error) {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != len(RunKey{}) {
		return RunKey{}, fmt.Errorf("%w: %s does not hold %d hexadecimal digits, such as `openssl rand -hex 32` prints", ErrKey, from, 2*len(RunKey{}))
	}
	return RunKey(b), nil
}
