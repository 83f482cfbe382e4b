package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"
)

// errDrift marks a chart whose rendered objects are not those of the manifest.
var errDrift = errors.New("the chart and the manifest differ")

// helmLabels are what a chart adds to the manifest's labels: they tell two releases
// in a namespace apart.
var helmLabels = []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}

// chart compares what a chart renders with the manifest that says what it has to be,
// as objects: order, comments and the labels of Helm aside.
func chart(rendered, manifest string) error {
	got, err := objects(rendered)
	if err != nil {
		return err
	}
	want, err := objects(manifest)
	if err != nil {
		return err
	}
	if err := same("", got, want); err != nil {
		return fmt.Errorf("%s and %s: %w", rendered, manifest, err)
	}
	return nil
}

// objects reads a file of Kubernetes objects, by kind and name.
func objects(path string) (map[string]any, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found := map[string]any{}
	for decoder := yaml.NewDecoder(f); ; {
		var object map[string]any
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		case object == nil: // a template that rendered nothing
			continue
		}
		metadata, _ := object["metadata"].(map[string]any)
		name := fmt.Sprint(object["kind"], "/", metadata["name"])
		if _, twice := found[name]; twice {
			return nil, fmt.Errorf("%s: %s stands there twice", path, name)
		}
		found[name] = unlabelled(object)
	}
}

// unlabelled is a value of YAML without the labels that Helm adds.
func unlabelled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if slices.Contains(helmLabels, key) {
				delete(v, key)
				continue
			}
			v[key] = unlabelled(value)
		}
	case []any:
		for i := range v {
			v[i] = unlabelled(v[i])
		}
	}
	return v
}

// same says where two values of YAML differ first.
func same(path string, got, want any) error {
	g, gotMap := got.(map[string]any)
	w, wantMap := want.(map[string]any)
	if gotMap && wantMap {
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if _, ok := g[key]; !ok {
				return fmt.Errorf("%w: %s.%s is missing in the chart", errDrift, path, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[key]; !ok {
				return fmt.Errorf("%w: %s.%s is in the chart alone", errDrift, path, key)
			}
			if err := same(path+"."+key, g[key], w[key]); err != nil {
				return err
			}
		}
		return nil
	}
	gs, gotList := got.([]any)
	ws, wantList := want.([]any)
	if gotList && wantList && len(gs) == len(ws) {
		for i := range gs {
			if err := same(fmt.Sprintf("%s[%d]", path, i), gs[i], ws[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%w: %s is %v in the chart; want %v", errDrift, path, got, want)
	}
	return nil
}
