package service

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Revocations keeps the list of revoked certificates in memory. Run loads it again
// and again; a list that is older than Oldest is good for nobody.
type Revocations struct {
	// Load reads the list from where it is kept.
	Load func(context.Context) ([]Serial, error)
	// Every is the time between loads, and Oldest how old a list may be.
	Every, Oldest time.Duration
	// Failed is told why a load failed.
	Failed func(error)
	// Now is the clock; time.Now if nil.
	Now func() time.Time

	mu     sync.RWMutex
	list   map[Serial]struct{}
	loaded time.Time
}

func (r *Revocations) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// Refresh loads the list now.
func (r *Revocations) Refresh(ctx context.Context) error {
	asked := r.now() // what is revoked while it is read may be missing
	serials, err := r.Load(ctx)
	if err != nil {
		return err
	}
	list := make(map[Serial]struct{}, len(serials))
	for _, s := range serials {
		list[s] = struct{}{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if asked.After(r.loaded) {
		r.list, r.loaded = list, asked
	}
	return nil
}

// Run loads the list until ctx ends.
func (r *Revocations) Run(ctx context.Context) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil && r.Failed != nil {
			r.Failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Check refuses a certificate that is on the list, with [ErrRevoked], and any while
// the list is too old.
func (r *Revocations) Check(id Identity) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if age := r.now().Sub(r.loaded); age > r.Oldest {
		return fmt.Errorf("the list of revoked certificates is %v old", age.Round(time.Second))
	}
	if _, is := r.list[id.Serial]; is {
		return ErrRevoked
	}
	return nil
}
