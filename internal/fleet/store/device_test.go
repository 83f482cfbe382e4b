package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

func codes(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	if err := s.AddCodes(ctx, []store.Hash{hash("good"), hash("raced")}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.AddCodes(ctx, []store.Hash{hash("old")}, -time.Second); err != nil {
		t.Fatal(err)
	}
	issued := 0
	issue := func(int64) (store.Certificate, error) {
		issued++
		return store.Certificate{Serial: hash(fmt.Sprint("serial", issued)), Device: hash("device"), Expires: 1 << 60}, nil
	}
	redeem := func(code, request string) error {
		return s.Redeem(ctx, hash(code), hash("device"), hash(request), issue)
	}
	for _, c := range []struct {
		code, request string
		want          error
	}{
		{"good", "mine", nil}, {"good", "mine", nil}, {"good", "other", store.ErrCode}, {"good", "mine", nil}, {"old", "mine", store.ErrCode}, {"never", "mine", store.ErrCode},
	} {
		if err := redeem(c.code, c.request); !errors.Is(err, c.want) {
			t.Errorf("%s for %s: %v", c.code, c.request, err)
		}
	}
	if issued != 3 {
		t.Errorf("%d certificates; want 3", issued)
	}
	if err := s.Revoke(ctx, hash("serial1")); err != nil {
		t.Fatal(err)
	}
	if err := redeem("good", "mine"); !errors.Is(err, store.ErrRevoked) {
		t.Errorf("a revoked device enrols again with its code: %v", err)
	}
	fail := errors.New("no")
	if err := s.Redeem(ctx, hash("raced"), hash("device of raced"), hash("x"), func(int64) (store.Certificate, error) { return store.Certificate{}, fail }); !errors.Is(err, fail) {
		t.Error(err)
	}
	var good atomic.Int64
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			err := s.Redeem(context.Background(), hash("raced"), hash("device of raced"), hash(fmt.Sprint(n)), func(int64) (store.Certificate, error) {
				return store.Certificate{Serial: hash(fmt.Sprint("raced", n)), Device: hash("device of raced"), Expires: 1 << 60}, nil
			})
			if err == nil {
				good.Add(1)
			} else if !errors.Is(err, store.ErrCode) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if good.Load() != 1 {
		t.Errorf("a code was good for %d devices", good.Load())
	}
}

// forgotten: a revoked device stays out when its certificates have expired before its
// code, and were swept; and a code is revoked with its device, used or not.
func forgotten(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	names := []string{"by serial", "by code", "unused", "free"}
	var all []store.Hash
	for _, n := range names {
		all = append(all, hash(n))
	}
	if err := s.AddCodes(ctx, all, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	issued := 0
	redeem := func(n string) error {
		return s.Redeem(ctx, hash(n), hash("device "+n), hash("key"), func(int64) (store.Certificate, error) {
			issued++
			return store.Certificate{Serial: hash(fmt.Sprint(n, issued)), Device: hash("device " + n), Expires: 1}, nil // long ago
		})
	}
	for _, n := range []string{"by serial", "by code", "free"} {
		if err := redeem(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Revoke(ctx, hash("by serial1")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"by code", "unused"} {
		if err := s.RevokeCode(ctx, hash(n), hash("device "+n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RevokeCode(ctx, hash("never"), hash("device never")); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a code that there never was: %v", err)
	}
	if err := s.AddCodes(ctx, []store.Hash{hash("another")}, time.Hour); err != nil { // sweeps
		t.Fatal(err)
	}
	for n, want := range map[string]error{"by serial": store.ErrRevoked, "by code": store.ErrRevoked, "unused": store.ErrRevoked, "free": nil} {
		if err := redeem(n); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", n, err, want)
		}
		err := s.Reissue(ctx, hash("device "+n), func(int64) (store.Certificate, error) {
			return store.Certificate{Serial: hash("renewed " + n), Device: hash("device " + n), Expires: 1 << 60}, nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%s renews: %v; want %v", n, err, want)
		}
	}
	// The code is gone, and its device renewed before.
	if err := s.RevokeCode(ctx, hash("swept"), hash("device free")); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Revoked(ctx); err != nil || len(list) != 1 || list[0] != hash("renewed free") {
		t.Errorf("revoked: %d certificates, %v; want the one that has not expired", len(list), err)
	}
}

// revocation of any certificate is of the device: of what it has, and of what it asks
// for at that moment.
func revocation(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	for device := range 6 {
		name := hash(fmt.Sprint("device", device))
		serial := func(n int) store.Hash { return hash(fmt.Sprint(device, " ", n)) }
		cert := func(n int) func(int64) (store.Certificate, error) {
			return func(int64) (store.Certificate, error) {
				return store.Certificate{Serial: serial(n), Device: name, Expires: 1 << 60}, nil
			}
		}
		if err := s.Reissue(ctx, name, cert(0)); !errors.Is(err, store.ErrRevoked) {
			t.Errorf("a device that was never enrolled renewed: %v", err)
		}
		if err := s.AddCodes(ctx, []store.Hash{name}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := s.Redeem(ctx, name, name, name, cert(0)); err != nil {
			t.Fatal(err)
		}
		renewed, revoked := make(chan int, 1), make(chan struct{})
		go func() { // renews until it is refused
			for n := 1; ; n++ {
				late := closed(revoked)
				switch err := s.Reissue(context.Background(), name, cert(n)); {
				case errors.Is(err, store.ErrRevoked):
					renewed <- n
					return
				case late || err != nil && !errors.Is(err, store.ErrMany):
					t.Errorf("renewal %d, begun after it was revoked: %v: %v", n, late, err)
					renewed <- n
					return
				case err != nil:
					n--
				}
			}
		}()
		if err := s.Revoke(ctx, serial(0)); err != nil {
			t.Fatal(err)
		}
		close(revoked)
		n := <-renewed
		list, err := s.Revoked(ctx)
		if err != nil {
			t.Fatal(err)
		}
		on := map[store.Hash]bool{}
		for _, h := range list {
			on[h] = true
		}
		for i := range n {
			if !on[serial(i)] {
				t.Errorf("certificate %d of %d is good after the device was revoked", i, n)
			}
		}
	}
	if err := s.Revoke(ctx, hash("never")); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("one that was never issued: %v", err)
	}
}
