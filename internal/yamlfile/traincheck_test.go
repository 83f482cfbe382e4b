package yamlfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/train/device"
)

func TestMissingClipIsNamed(t *testing.T) {
	const rest = "\nserver: {submissions: 10}\n"
	for mechanism, local := range map[string]string{"laplace": "", "prs": "", "ball": "", "piecewise": "", "hybrid": ""} {
		text := "environment: {name: cart-pole}" + local + "\nprivacy: {epsilon: 1, mechanism: " + mechanism
		if _, err := loadTrain(t, text+"}"+rest); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "privacy.clip is missing, which mechanism "+mechanism) {
			t.Errorf("%s: %v; want privacy.clip named", mechanism, err)
		}
		if _, err := loadTrain(t, text+", clip: 1}"+rest); err != nil {
			t.Errorf("%s with a clip: %v", mechanism, err)
		}
	}
}

// TestScoresOfAnEvolutionLieInTheEnvironmentsRange, whatever episodes come to.
func TestScoresOfAnEvolutionLieInTheEnvironmentsRange(t *testing.T) {
	for environment, want := range map[string][2]float64{
		"{name: cart-pole}": {1, 200}, "{name: cart-pole, max_steps: 50}": {1, 50}, "{name: cart-pole, max_steps: 500}": {1, 500},
		"{name: mountain-car}": {-200, -1}, "{name: mountain-car, max_steps: 1000}": {-1000, -1},
		"{name: acrobot}": {-500, 0}, "{name: acrobot, max_steps: 100}": {-100, 0}, "{name: contextual-bandit}": {0, 20},
	} {
		text := "environment: " + environment + "\nlocal: {method: evolution, perturbation: 0.1}\nserver: {submissions: 10}\nprivacy: {epsilon: 1, mechanism: one-bit"
		c, err := loadTrain(t, text+"}\n")
		if got := [2]float64{c.Local.ScoreLow, c.Local.ScoreLow + c.Terms.Randomizer.Clip}; err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", environment, got, err, want)
		}
		if _, err := loadTrain(t, text+", clip: 200}\n"); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "privacy.clip") {
			t.Errorf("%s with a clip: %v; want privacy.clip refused", environment, err)
		}
	}
}

// TestPairsNeedNoRangeOfScores: their report says which of two did better, whatever the environment pays.
func TestPairsNeedNoRangeOfScores(t *testing.T) {
	text := "environment: {name: mountain-car}\nserver: {submissions: 10}\nlocal: {method: antithetic, perturbation: 0.1"
	privacy := "}\nprivacy: {epsilon: 1, mechanism: one-bit"
	c, err := loadTrain(t, text+privacy+"}\n")
	if err != nil || c.Local.ScoreLow != 0 || c.Terms.Randomizer.Clip != 1 || c.Local.Method != device.Antithetic {
		t.Errorf("%+v, %v", c.Local, err)
	}
	for refused, want := range map[string]string{
		text + privacy + ", clip: 2}\n": "privacy.clip", text + ", gamma: 0.9" + privacy + "}\n": "local.gamma", text + ", entropy: 1" + privacy + "}\n": "local.entropy",
		text + "}\nprivacy: {epsilon: 1, mechanism: sign-prs}\n": "one-bit goes with",
	} {
		if _, err := loadTrain(t, refused); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s refused", refused, err, want)
		}
	}
}

func TestThresholdsOutOfReachAreRefused(t *testing.T) {
	for text, good := range map[string]bool{
		"{name: cart-pole}; 195": true, "{name: cart-pole}; 200": true, "{name: cart-pole}; 201": false, "{name: cart-pole}; 1": false,
		"{name: cart-pole, max_steps: 100}; 101": false, "{name: cart-pole, max_steps: 500}; 450": true, "{name: cart-pole, max_steps: 500}; 501": false, "{name: cart-pole}; .nan": false,
		"{name: mountain-car}; 195": false, "{name: mountain-car}; -110": true, "{name: mountain-car}; -200": false,
		"{name: mountain-car, max_steps: 1000}; -500": true,
	} {
		environment, threshold, _ := strings.Cut(text, "; ")
		_, err := loadTrain(t, "environment: "+environment+"\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\nsuccess: {every: 5, agents: 5, epsilon: 1, threshold: "+threshold+"}\n")
		if good != (err == nil) || err != nil && !strings.Contains(err.Error(), "success.threshold") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestObservationsAreScaledWhereTheProblemBoundsThem, unless the configuration says otherwise.
func TestObservationsAreScaledWhereTheProblemBoundsThem(t *testing.T) {
	for text, want := range map[string]bool{
		"{name: cart-pole}": false, "{name: cart-pole}\nnetwork: {scale: true}": true,
		"{name: mountain-car}": true, "{name: mountain-car}\nnetwork: {scale: false}": false,
		"{name: acrobot}": true, "{name: contextual-bandit}": true,
	} {
		c, err := loadTrain(t, "environment: "+text+"\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\n")
		if err != nil || c.Local.Scale != want {
			t.Errorf("%s: scaled %v, %v; want %v", text, c.Local.Scale, err, want)
		}
	}
}

// TestEnvironmentsOfAFleet: each agent is given one of those that a section describes.
func TestEnvironmentsOfAFleet(t *testing.T) {
	for text, want := range map[string]string{
		"{name: acrobot}": "acrobot, book", "{name: acrobot, equation: nips}": "acrobot, nips",
		"{name: contextual-bandit, taste: [30, -90]}": "contextual-bandit, taste 30; contextual-bandit, taste -90",
		"{name: contextual-bandit}":                   "contextual-bandit, taste 0; 45; 90; 135; 180; 225; 270; 315",
		"{name: cart-pole, gravity: [9.7, 9.9]}":      "cart-pole, gravity 9.7; cart-pole, gravity 9.9",
	} {
		c, err := loadTrain(t, "environment: "+text+"\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\n")
		var names []string
		for _, e := range c.Environments {
			names = append(names, e.Name)
		}
		got := strings.Join(names, "; ")
		if text == "{name: contextual-bandit}" {
			got = strings.ReplaceAll(got, "; contextual-bandit, taste", ";")
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"{name: acrobot, equation: euler}": "environment.equation", "{name: cart-pole, equation: book}": "environment.equation", "{name: acrobot, taste: [1]}": "environment.taste",
		"{name: contextual-bandit, taste: [361]}": "environment.taste", "{name: contextual-bandit, taste: [.nan]}": "environment.taste", "{name: contextual-bandit, max_steps: 21}": "environment.max_steps",
		"{name: contextual-bandit, gravity: [9.8]}": "environment.gravity",
	} {
		if _, err := loadTrain(t, "environment: "+text+"\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\n"); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s refused", text, err, want)
		}
	}
}

// TestADeviceOfAFleetLivesInOneEnvironment, which has the name that the run states.
func TestADeviceOfAFleetLivesInOneEnvironment(t *testing.T) {
	for text, want := range map[string]string{
		"{name: acrobot}": "acrobot", "{name: mountain-car}": "mountain-car", "{name: contextual-bandit, taste: [45]}": "contextual-bandit", "{name: cart-pole, gravity: [9.7]}": "cart-pole",
		"{name: contextual-bandit}": "", "{name: acrobot, max_steps: 9}": "", "{name: chess}": "",
	} {
		path := filepath.Join(t.TempDir(), "agent.yaml")
		file := "server: https://127.0.0.1:1\nauthority: ca.pem\nroot: root.pub\nstate: device\nlearner: {environment: " + text + "}\n"
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := LoadFleetAgent(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		name, env, _, err := f.Environment()
		if want == "" {
			if !errors.Is(err, ErrSyntax) {
				t.Errorf("%s: %v; want ErrSyntax", text, err)
			}
			continue
		}
		if err != nil || name != want || env.Spec().Name != want {
			t.Errorf("%s: %s, %v; want %s", text, name, err, want)
		}
	}
}
