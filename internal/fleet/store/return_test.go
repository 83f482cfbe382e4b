package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

// TestACodeBringsADeviceBack, which is revoked by it for ever; and a code that was revoked
// brings nobody back.
func TestACodeBringsADeviceBack(t *testing.T) {
	at := time.UnixMilli(1e12)
	p := lite(t)
	p.now = func() time.Time { return at }
	ctx := t.Context()
	s := open(t, p)
	for _, c := range []string{"first", "second", "third"} {
		if err := s.AddCodes(ctx, []store.Hash{hash(c)}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	serial := 0
	redeem := func(code, device, key string) error {
		return s.Redeem(ctx, hash(code), hash("of "+code), hash("key "+key), func(int64) (store.Certificate, error) {
			serial++
			return store.Certificate{Serial: hash(fmt.Sprint(serial)), Device: hash(device), Expires: 1 << 60}, nil
		})
	}
	if err := redeem("first", "of first", "of first"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the answer was lost once
		if err := redeem("second", "of first", "of first"); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"of first", "of second"} {
		if err := redeem("second", "of second", key); !errors.Is(err, store.ErrCode) {
			t.Errorf("a code brought two devices: %v", err)
		}
	}
	if err := redeem("first", "of second", "of first"); !errors.Is(err, store.ErrCode) {
		t.Errorf("the code that began a device brought another, and would be no good to revoke it: %v", err)
	}
	if err := s.RevokeCode(ctx, hash("third"), hash("of third")); err != nil {
		t.Fatal(err)
	}
	if err := redeem("third", "of first", "of first"); !errors.Is(err, store.ErrRevoked) {
		t.Errorf("a revoked code brings a device back: %v", err)
	}
	at = at.Add(2 * time.Hour)
	if err := s.AddCodes(ctx, nil, time.Hour); err != nil { // sweeps
		t.Fatal(err)
	}
	if err := redeem("second", "of first", "of first"); !errors.Is(err, store.ErrCode) {
		t.Errorf("a code that has ended: %v", err)
	}
	if err := s.RevokeCode(ctx, hash("second"), hash("of second")); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Revoked(ctx); err != nil || len(list) != 3 {
		t.Errorf("%d certificates of the device are revoked, %v; want all 3", len(list), err)
	}
}

// many: a device has so many certificates at most, by whatever way it gets them.
func many(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	if err := s.AddCodes(ctx, []store.Hash{hash("code")}, time.Hour); err != nil {
		t.Fatal(err)
	}
	now, err := s.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	cert := func(int64) (store.Certificate, error) {
		n++
		c := store.Certificate{Serial: hash(fmt.Sprint(n)), Device: hash("device"), Expires: now + time.Hour.Milliseconds()}
		if n == 1 {
			c.Expires = now - 1 // one that has ended is not counted
		}
		return c, nil
	}
	redeem := func() error { return s.Redeem(ctx, hash("code"), hash("device"), hash("key"), cert) }
	for range 3 {
		if err := redeem(); err != nil {
			t.Fatal(err)
		}
	}
	for range store.MostCertificates - 2 {
		if err := s.Reissue(ctx, hash("device"), cert); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Reissue(ctx, hash("device"), cert); !errors.Is(err, store.ErrMany) {
		t.Errorf("certificate %d: %v", store.MostCertificates+1, err)
	}
	if err := redeem(); !errors.Is(err, store.ErrMany) {
		t.Errorf("certificate %d, by the code: %v", store.MostCertificates+1, err)
	}
	if err := s.RevokeCode(ctx, hash("code"), hash("device")); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Revoked(ctx); err != nil || len(list) != store.MostCertificates {
		t.Errorf("%d certificates are revoked, %v", len(list), err)
	}
}
