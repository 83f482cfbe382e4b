package figure

import (
	"context"
	"encoding/json"
	"fmt"
)

// probeDigits of a probe's numbers enter the hash: fewer than processors agree
// on.
const probeDigits = 5

// hashes are those of the settings of a study's items, each made when it is first
// asked for. It belongs to one goroutine, or to a store's lock.
type hashes struct {
	ctx   context.Context
	study Study
	made  map[string]string
}

// of is "" for an item that the study does not have.
func (h *hashes) of(name string) (string, error) {
	if hash, ok := h.made[name]; ok {
		return hash, nil
	}
	for _, item := range h.study.Items {
		if item.Name == name {
			hash, err := settingsHash(h.ctx, h.study, item)
			if err == nil {
				h.made[name] = hash
			}
			return hash, err
		}
	}
	return "", nil
}

// settingsHash names all that the stored numbers of an item depend on beside the
// keys of its jobs.
func settingsHash(ctx context.Context, s Study, item Item) (string, error) {
	about := struct {
		Paper    string
		Version  int
		Item     string
		Settings any
		Probe    []Sample
	}{Paper: s.Paper, Version: s.Version, Item: item.Name, Settings: item.Settings}
	if item.Probe != nil {
		samples, err := item.Probe(ctx)
		if err != nil {
			return "", fmt.Errorf("%w: %s: probe: %w", ErrJob, item.Name, err)
		}
		for _, x := range samples {
			x.Y = significant(x.Y, probeDigits)
			about.Probe = append(about.Probe, x)
		}
	}
	text, err := json.Marshal(about)
	if err != nil {
		return "", fmt.Errorf("%w: %s: settings: %w", ErrJob, item.Name, err)
	}
	return shortHash(text), nil
}
