package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/report"
)

// policyFile is the learned policy beside its release.
const policyFile = "policy.json"

func newLearn() *cobra.Command {
	var charged chargeFlags
	cmd := command("learn CONFIG.yaml", "Learn a policy and certify it",
		`Learn a policy from one half of the persons, drawn by a secret lot, and let the
other half judge it, at one charge. Method dp-learn of the configuration says how,
with target {kind: learned, actions: K}. Beside the release the policy is written as
policy.json, a file that target {kind: tree, path: policy.json} reads.

Otherwise it is discreet evaluate.`, oneConfiguration,
		func(cmd *cobra.Command, args []string) error {
			c, err := discreet.Load(args[0], overrides(cmd)...)
			if err != nil {
				return err
			}
			if c.Method.Name != learningMethod {
				return usage(fmt.Errorf("%w: method is %s, which learns nothing; use %s", config.ErrConfig, c.Method.Name, learningMethod))
			}
			options, err := charged.apply(cmd, &c)
			if err != nil {
				return err
			}
			return runEvaluate(cmd, discreet.Evaluate, c, options)
		})
	setFlag(cmd)
	jsonFlag(cmd, "the release as JSON")
	charged.add(cmd)
	return cmd
}

// learningMethod is the method that learns.
const learningMethod = "dp-learn"

// checkLearned refuses to write a policy over a file that is not that of a release beside it.
func checkLearned(c config.Config) error {
	if c.Method.Name != learningMethod || c.Output.Dir == "" {
		return nil
	}
	dir := c.Resolve(c.Output.Dir)
	path := filepath.Join(dir, policyFile)
	if _, err := os.Lstat(path); err != nil {
		return nil // none, or a place that writing will complain of
	}
	if _, err := os.Lstat(filepath.Join(dir, "release.json")); err != nil {
		return usage(fmt.Errorf("%s is there already and is no policy of a release beside it; move it away, or choose another output.dir", path))
	}
	return nil
}

// writeLearned writes the policy of a release that learned one beside it, and gives its path.
func writeLearned(result *discreet.Result) (string, error) {
	if result.Release.Learned == nil {
		return "", nil
	}
	path := filepath.Join(filepath.Dir(result.Path), policyFile)
	return path, atomicfile.Write(path, 0o644, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(result.Release.Learned.Policy)
	})
}

// printLearned tells the rule and what is certified of it.
func printLearned(w io.Writer, r *evaluate.Release) {
	head := "learned"
	for _, line := range report.Rule(r) {
		fmt.Fprintf(w, "%-9s %s%s\n", head, strings.Repeat("  ", line.Depth), printable(line.Text))
		head = ""
	}
	head = "certified"
	for _, text := range report.Certificates(r) {
		fmt.Fprintf(w, "%-9s %s\n", head, text)
		head = ""
	}
}
