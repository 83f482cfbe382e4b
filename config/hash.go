package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/discreet-rl/discreet/internal/boundedfile"
	"github.com/discreet-rl/discreet/internal/jcs"
)

// Hash names what a configuration asks for: the SHA-256, in hexadecimal, of the
// canonical JSON (RFC 8785) of its data, problem, features, target, start,
// method, privacy and justification, and of the content of its policy files. Where the
// ledger is, who asks, who signs and where the release goes are not part of it.
// Two configurations of one hash ask the same question of files of the same names,
// which is what a retry must do. What the data files hold is not part of it, nor
// is the directory that their relative paths start at: a retry is answered without
// the data, perhaps on another machine.
func (c Config) Hash() (string, error) {
	question := map[string]any{
		"data": c.Data, "problem": c.Problem, "features": c.Features, "target": c.Target, "method": c.Method.Name,
		"params": c.Method.Params, "privacy": c.Privacy, "justification": c.Justification,
	}
	if m := c.Method; m.Sums != nil && m.Params == nil {
		question["params"] = m.Sums
	}
	if c.Start != nil {
		question["start"] = c.Start
	}
	if err := c.hashTargets(question); err != nil {
		return "", err
	}
	if c.By != nil {
		question["by"] = c.By
	}
	if b := c.Data.Behavior; b != nil {
		if err := c.hashFile(question, "behavior_policy", "data.behavior.path", b.Path); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(question)
	if err != nil {
		return "", fmt.Errorf("%w: it holds what JSON cannot, such as a number that is not finite: %w", ErrConfig, err)
	}
	canonical, err := jcs.Canonical(text)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrConfig, err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// hashTargets adds what is asked about several policies, where it is, and the policy
// files.
func (c Config) hashTargets(question map[string]any) error {
	if len(c.Targets) == 0 {
		return c.hashFile(question, "policy", "target.path", c.Target.Path)
	}
	delete(question, "target")
	question["targets"], question["levels"], question["contrasts"], question["select"] = c.Targets, c.Levels, c.Contrasts, c.Select.hashed()
	for i, t := range c.Targets {
		key := c.TargetKey(i)
		if err := c.hashFile(question, key+".policy", key+".path", t.Path); err != nil {
			return err
		}
	}
	return nil
}

// hashed is the form in which the question is hashed: the word for what the word asks, and
// an empty one where nothing is asked, so that such a question keeps its hash.
func (s *Select) hashed() any {
	switch {
	case s == nil:
		return ""
	case *s == Select{Best: "limits"}:
		return "best"
	}
	return s
}

// hashFile adds the hash of a policy file to the question, where there is one.
func (c Config) hashFile(question map[string]any, name, key, path string) error {
	if path == "" {
		return nil
	}
	sum, err := boundedfile.Hash(c.Resolve(path), boundedfile.LargestPolicy)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, key, err)
	}
	question[name] = sum
	return nil
}
