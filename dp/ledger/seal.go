package ledger

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

// An entry holds its fingerprint sealed, so that equal data do not show as equal
// in an export: with a random salt, and added to a pad that only the store's key
// gives for that salt. With the key the fingerprint comes back and is compared;
// without it every sealed one is a string of random bits. Entries of earlier
// versions have their fingerprints open.
const sealMark = "sealed:"

var (
	fingerprintForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}:[0-9a-f]{64}$`) })
	sealedForm      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sealed:[0-9a-f]{8}:[0-9a-f]{32}:[0-9a-f]{64}$`) })
)

// subkey is a key for one use alone.
func subkey(key []byte, use string) []byte {
	sum := sha256.Sum256(append([]byte("discreet/ledger/"+use+"/v1\n"), key...))
	return sum[:]
}

// keyName is the short name of a store's key.
func keyName(key []byte) string { return hex.EncodeToString(subkey(key, "fingerprint-key")[:4]) }

// seal hides a fingerprint of the key's store.
func seal(key []byte, fingerprint string) string {
	if fingerprint == "" {
		return ""
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	id, text, _ := strings.Cut(fingerprint, ":")
	sum, _ := hex.DecodeString(text) // it has the form
	return sealMark + id + ":" + hex.EncodeToString(salt) + ":" + hex.EncodeToString(padded(key, salt, sum))
}

// unseal is the fingerprint in an entry; one that is not sealed is itself.
func unseal(key []byte, text string) (string, error) {
	if !strings.HasPrefix(text, sealMark) {
		return text, nil
	}
	part := strings.Split(text, ":")
	if !sealedForm().MatchString(text) || part[1] != keyName(key) {
		return "", fmt.Errorf("its fingerprint is not sealed under the key of this store")
	}
	salt, _ := hex.DecodeString(part[2])
	sum, _ := hex.DecodeString(part[3])
	return part[1] + ":" + hex.EncodeToString(padded(key, salt, sum)), nil
}

// padded adds the pad of a salt, bit by bit; twice is not at all.
func padded(key, salt, sum []byte) []byte {
	mac := hmac.New(sha256.New, subkey(key, "fingerprint-seal"))
	mac.Write(salt)
	pad := mac.Sum(nil)
	for i := range sum {
		pad[i] ^= sum[i]
	}
	return pad
}

// plainFingerprint is that of a charge, or of an entry that is charged again.
func (l *Ledger) plainFingerprint(text string) (string, error) {
	plain, err := unseal(l.key, text)
	if err == nil && plain != "" && (!fingerprintForm().MatchString(plain) || !strings.HasPrefix(plain, keyName(l.key)+":")) {
		err = fmt.Errorf("the fingerprint is not one of this store; take Ledger.Fingerprint")
	}
	if err != nil {
		return "", fmt.Errorf("%w: %v", ErrCharge, err)
	}
	return plain, nil
}

// fingerprintOf opens the fingerprint of an entry.
func (l *Ledger) fingerprintOf(seq int64, text string) (string, error) {
	plain, err := unseal(l.key, text)
	if err != nil {
		return "", store.Abort(l.tampered(seq, "%v", err))
	}
	return plain, nil
}
