package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/train/device"
)

// Learning is the local_json of runs whose devices learn in an environment that this module simulates.
type Learning struct {
	// Environment is its name, such as "cart-pole".
	Environment string `json:"environment"`
	// Local is what a device does before it reports.
	Local device.Local `json:"local"`
}

// JSON is the learning as a run states it.
func (l Learning) JSON() ([]byte, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("%w: local_json: %w", ErrConfig, err)
	}
	return data, nil
}

// ParseLearning reads what JSON wrote; an unknown key is an error, which wraps [ErrSpec].
func ParseLearning(data []byte) (Learning, error) {
	var l Learning
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Learning{}, fmt.Errorf("%w: local_json: %w", ErrSpec, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Learning{}, fmt.Errorf("%w: local_json: something follows it", ErrSpec)
	}
	return l, nil
}
