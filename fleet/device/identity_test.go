package device_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/fleet/device"
)

func TestAWalletThatIsGoneOrOldIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		c := s.config(t.TempDir())
		path := filepath.Join(c.Dir, "wallet.db")
		a := enrolled(t, s, c)
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.open(time.Minute, time.Minute, nil)
		go func() { time.Sleep(3 * time.Minute); s.end() }()
		tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := device.Open(t.Context(), c); !errors.Is(err, device.ErrWallet) {
			t.Errorf("an older copy of the wallet: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := device.Open(t.Context(), c); !errors.Is(err, device.ErrWallet) {
			t.Errorf("no wallet: %v", err)
		}
	})
}

func TestCertificatesAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		s.valid = time.Hour
		c := s.config(t.TempDir())
		a, err := device.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { a.Close() }()
		if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, device.ErrIdentity) {
			t.Errorf("a device that is not enrolled: %v", err)
		}
		if err := a.Enrol(t.Context(), s, "wrong"); !errors.Is(err, device.ErrIdentity) {
			t.Errorf("a wrong code: %v", err)
		}
		if err := a.Enrol(t.Context(), s, "right"); err != nil {
			t.Fatal(err)
		}
		first, err := a.Certificate()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
		defer cancel()
		if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		second, err := a.Certificate()
		if err != nil || second.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) == 0 || s.issued != 2 {
			t.Errorf("after two thirds of its time the certificate is still the first, or was renewed %d times (%v)", s.issued-1, err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if a, err = device.Open(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if again, err := a.Certificate(); err != nil || !again.Leaf.Equal(second.Leaf) {
			t.Errorf("the certificate is not kept: %v", err)
		}
	})
}

func TestSettingsOfADevice(t *testing.T) {
	s := newServer(t, signs, 4, nil)
	for name, change := range map[string]func(*device.Config){
		"no directory": func(c *device.Config) { c.Dir = "" },
		"no root":      func(c *device.Config) { c.Root = nil },
		"no budget":    func(c *device.Config) { c.Epsilon = 0 },
		"NaN":          func(c *device.Config) { c.Epsilon = math.NaN() },
		"infinite":     func(c *device.Config) { c.Epsilon = math.Inf(1) },
		"poll":         func(c *device.Config) { c.Poll = -1 },
		"waits":        func(c *device.Config) { c.BackOff, c.MostBackOff = 2, 1 },
	} {
		c := s.config(t.TempDir())
		change(&c)
		if _, err := device.Open(t.Context(), c); !errors.Is(err, device.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for least, want := range map[string]error{"": nil, "0.9.9": nil, device.Version: nil, "1.1.1": device.ErrClient, "2.0.0": device.ErrClient, "1": device.ErrClient, "x.0.0": device.ErrClient} {
		if err := device.Enough(least); !errors.Is(err, want) {
			t.Errorf("min_client %q: %v; want %v", least, err, want)
		}
	}
	if _, err := device.Dial("http://localhost", nil, nil); !errors.Is(err, device.ErrConfig) {
		t.Errorf("a server without TLS: %v", err)
	}
}
