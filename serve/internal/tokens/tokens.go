package tokens

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/filelock"
)

var (
	// ErrFile marks a file that is no list of tokens.
	ErrFile = fault.Input("not a file of tokens")
	// ErrExists marks a person's label that another token has.
	ErrExists = fault.Input("token is there already")
	// ErrNone marks a token that there is not.
	ErrNone = fault.Input("there is no such token")
	// ErrBusy marks a file that another process keeps changing.
	ErrBusy = errors.New("the file of tokens was being changed for ten seconds; try again")
)

// Prefix begins every token, so that people and scanners for secrets know what it is.
const Prefix = "discreet_"

// Longest is the most bytes that a token has.
const Longest = 64

// Token is what the file says of one.
type Token struct {
	SHA256  string     `json:"sha256"`
	Person  string     `json:"person"`
	Label   string     `json:"label"`
	Made    time.Time  `json:"made"`
	Expires time.Time  `json:"expires"`
	Revoked *time.Time `json:"revoked,omitempty"`
}

// Valid reports that a token is good at a time.
func (t Token) Valid(now time.Time) bool { return t.Revoked == nil && now.Before(t.Expires) }

// Hash is what stands for a token.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// New returns 256 random bits as text that begins with a prefix.
func New(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// List reads a file; one that is not there holds no token.
func List(path string) ([]Token, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%w: %s can be written by others (mode %v), who could make tokens; chmod 600 it", ErrFile, path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	var out []Token
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		var t Token
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		sum, err := []byte(nil), d.Decode(&t)
		if err == nil {
			sum, err = hex.DecodeString(t.SHA256)
		}
		if err != nil || len(sum) != sha256.Size || t.Person == "" {
			return nil, fmt.Errorf("%w: %s, line %d: %v", ErrFile, path, n, err)
		}
		out = append(out, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	return out, nil
}

// patience is how long another process is waited for that is changing the file, and pause how
// long between looks.
const (
	patience = 10 * time.Second
	pause    = 20 * time.Millisecond
)

// take takes the lock of a file, and waits for who holds it.
func take(path string) (*filelock.Lock, error) {
	for until := time.Now().Add(patience); ; time.Sleep(pause) {
		lock, err := filelock.Take(path + ".lock")
		if !errors.Is(err, filelock.ErrHeld) {
			return lock, err
		}
		if time.Now().After(until) {
			return nil, ErrBusy
		}
	}
}

// change rewrites the file under a lock.
func change(path string, f func([]Token) ([]Token, error)) error {
	lock, err := take(path)
	if errors.Is(err, ErrBusy) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	all, err := List(path)
	if err == nil {
		all, err = f(all)
	}
	if err == nil {
		err = atomicfile.Write(path, 0o600, func(w io.Writer) error {
			e := json.NewEncoder(w)
			for _, t := range all {
				if err := e.Encode(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return errors.Join(err, lock.Release())
}

// Make returns a token for a person under a label, which cannot be shown again, and what
// is kept of it.
func Make(person, label string, lifetime time.Duration) (string, Token) {
	token := New(Prefix)
	sum := Hash(token)
	now := time.Now().UTC().Truncate(time.Second)
	return token, Token{SHA256: hex.EncodeToString(sum[:]), Person: person, Label: label, Made: now, Expires: now.Add(lifetime)}
}

// Add adds a token to a list. A label that another of the person's has, which is still
// good, is [ErrExists].
func Add(all []Token, made Token) ([]Token, error) {
	for _, t := range all {
		if t.Person == made.Person && t.Label == made.Label && t.Valid(made.Made) {
			return nil, fmt.Errorf("%w: %s has one with label %q; revoke it, or choose another label", ErrExists, made.Person, made.Label)
		}
	}
	return append(all, made), nil
}

// Take finds the place in a list of a person's token of a label that is to be revoked;
// [ErrNone] if there is none.
func Take(all []Token, person, label string) (int, error) {
	for i, t := range all {
		if t.Person == person && t.Label == label && t.Revoked == nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: %s, label %q, that is not revoked", ErrNone, person, label)
}

// Create makes a token and adds it to a file.
func Create(path, person, label string, lifetime time.Duration) (string, error) {
	token, made := Make(person, label, lifetime)
	return token, change(path, func(all []Token) ([]Token, error) { return Add(all, made) })
}

// Revoke takes back a person's token of a label.
func Revoke(path, person, label string) error {
	now := time.Now().UTC().Truncate(time.Second)
	return change(path, func(all []Token) ([]Token, error) {
		i, err := Take(all, person, label)
		if err == nil {
			all[i].Revoked = &now
		}
		return all, err
	})
}

// Source reads all tokens that there are; same says that they are those of the time before.
type Source func() (all []Token, same bool, err error)

// Roll knows the tokens of a source, and looks at it again every second.
type Roll struct {
	source Source
	now    func() time.Time

	mu     sync.Mutex
	looked time.Time
	err    error // of the last look
	tokens map[[sha256.Size]byte]Token
}

// every is how often a source is looked at: so long a revoked token is still good.
const every = time.Second

// soon is how soon a source is looked at again for a token that is not known: one that was
// just made is good, and guessed ones cost little.
const soon = 50 * time.Millisecond

// Follow reads a source and follows it from then on; now is the clock, time.Now if nil.
func Follow(source Source, now func() time.Time) (*Roll, error) {
	if now == nil {
		now = time.Now
	}
	r := &Roll{source: source, now: now}
	return r, r.load()
}

// File reads a file of tokens if it has changed.
func File(path string) Source {
	type stamp struct {
		at   time.Time
		size int64
	}
	var last *stamp
	return func() ([]Token, bool, error) {
		var seen stamp
		info, err := os.Stat(path)
		switch {
		case err == nil:
			seen = stamp{info.ModTime(), info.Size()}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, false, fmt.Errorf("%w: %w", ErrFile, err)
		}
		if last != nil && seen == *last {
			return nil, true, nil
		}
		all, err := List(path)
		if err == nil {
			last = &seen
		}
		return all, false, err
	}
}

// load looks at the source.
func (r *Roll) load() error {
	all, same, err := r.source()
	if err != nil || same {
		return err
	}
	tokens := map[[sha256.Size]byte]Token{}
	for _, t := range all {
		var key [sha256.Size]byte
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != len(key) {
			return fmt.Errorf("%w: a hash of %d bytes, %v", ErrFile, len(sum), err)
		}
		copy(key[:], sum)
		tokens[key] = t
	}
	r.tokens = tokens
	return nil
}

// Person tells whose a presented token is. An error is that of the source: nobody is let
// in on what it said before.
func (r *Roll) Person(presented string) (person string, ok bool, err error) {
	if len(presented) > Longest || !strings.HasPrefix(presented, Prefix) {
		return "", false, nil
	}
	return r.PersonOf(Hash(presented))
}

// PersonOf is Person by the token's hash.
func (r *Roll) PersonOf(hash [sha256.Size]byte) (person string, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	_, known := r.tokens[hash]
	if since := now.Sub(r.looked); since >= every || !known && since >= soon {
		r.err = r.load()
		r.looked = now
	}
	if r.err != nil {
		return "", false, r.err
	}
	t, known := r.tokens[hash]
	if !known || !t.Valid(now) {
		return "", false, nil
	}
	return t.Person, true, nil
}
