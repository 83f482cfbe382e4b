package spec

import (
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
)

// recordsComplete is the value of problem.records that says that nothing is lost.
const recordsComplete = "complete"

// Values of data.on_violation.
const (
	onViolationRepair = "repair"
	onViolationReject = "reject"
)

// complete reports that the curator states that nothing is lost; then nothing is repaired.
func complete(c config.Config) bool { return c.Problem.Records == recordsComplete }

// repairs reports whether a record that violates what is asked is repaired. It is the
// default with privacy: that a run fails tells of the data, and costs nothing.
func repairs(c config.Config) bool {
	if complete(c) {
		return false
	}
	if c.Data.OnViolation == "" {
		return !c.Privacy.None
	}
	return c.Data.OnViolation == onViolationRepair
}

// missingRule and outsideRule are what their keys say and, where they say nothing,
// what on_violation does.
func missingRule(c config.Config) string {
	switch {
	case c.Data.Missing != "":
		return c.Data.Missing
	case repairs(c):
		return "zero"
	}
	return onViolationReject
}

func outsideRule(c config.Config) string {
	switch b := c.Problem.Reward; {
	case b != nil && b.Outside != "":
		return b.Outside
	case repairs(c):
		return "clip"
	}
	return onViolationReject
}

// ViolationWords says to a reader of a release what became of records that violate
// what is asked; nothing for a reference that rejects them.
func ViolationWords(c config.Config) string {
	const reject = "reject: an invalid record makes the run fail, which reveals something about the data outside the guarantee"
	var words []string
	say := func(rule, refused, repaired string) {
		switch {
		case rule != onViolationReject:
			words = append(words, repaired)
		case repairs(c):
			words = append(words, refused)
		}
	}
	switch {
	case !repairs(c) && c.Privacy.None:
		return ""
	case repairs(c) && survival(c) != nil:
		return evaluate.Unit(c.Privacy.Unit).Words("repair: a record with a value that cannot be used makes its person one of unknown outcome; the number of persons does not change")
	}
	say(outsideRule(c), "a reward outside its range makes the run fail", "a reward outside its range is moved to the nearer end")
	say(missingRule(c), "a missing observation makes the run fail", observationWords(c))
	if !repairs(c) {
		return strings.Join(append([]string{reject}, words...), "; ")
	}
	words = append(words, "an episode with any other unusable value is left out")
	return evaluate.Unit(c.Privacy.Unit).Words("repair: " + strings.Join(words, ", ") + "; the number of persons does not change")
}

// observationWords says what stands in the place of a missing observation.
func observationWords(c config.Config) string {
	switch missingRule(c) {
	case "mean":
		return "a missing observation becomes the public mean of its column"
	case missingMiddle:
		return middleWords
	case missingIndicator:
		return middleWords + ", and an indicator, where one is read, says that it was missing"
	}
	words := "a missing observation becomes 0"
	if decides(c) {
		words += ", or has its episode left out where it is the number of a state or a cell, or what is decided, fitted or adjusted by"
	}
	if repairs(c) && encodesObservation(c) {
		words += ", an episode with a missing word in an observation that is read by a vocabulary, as number for word, is left out"
	}
	return words
}

const middleWords = "a missing observation becomes the middle of its public range, or 0 in one-hot columns"

// encodesObservation reports whether numbers of an observation stand for words, so that 0
// cannot stand for a missing one.
func encodesObservation(c config.Config) bool {
	for name, v := range c.Data.Encode {
		switch name {
		case "action", "reward", "terminated", "truncated":
		default:
			if !v.OneHot && !v.Other {
				return true
			}
		}
	}
	return false
}

// byLimits reports that no other way to choose is asked for.
func byLimits(s *config.Select) bool { return s == nil || s.Best == "limits" }
