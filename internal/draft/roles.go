package draft

import (
	"regexp"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// role is what a column may hold, and how columns that do are called in the exports of
// clinical databases, trials, bandit logs and web analytics.
type role struct {
	name     string
	question string
	called   string // a regular expression
	needed   bool
}

var roles = []role{
	{"unit_id", "names the person whom the guarantee protects", `(?i)^(subject|person|patient|participant|user|client|visitor|customer|member|device)(_?id|_no|_pseudo_id)?$|^uniquepid$|^mrn$|^uid$`, false},
	{"episode_id", "names the episode (a stay, a course, a session), whose rows belong together; several such as patient, course where they are numbered within a person", `(?i)^(icu_?stay|stay|hadm|encounter|visit_occurrence|session|ga_session|course|episode|patientunitstay|trajectory)_?id$|^course$`, false},
	{"step", "says when, or as which in its episode, a decision was made", `(?i)^(charttime|starttime|event_?time|event_timestamp|timestamp|ts|.*_at|time|date|day|week|hour|step|visit|visit_no|nr|.*_start_(date|datetime)|.*offset)$`, false},
	{"action", "holds the decision that was taken", `(?i)^(action|treatment|treated|therapy|arm|allocation|drug|dose|dose_word|drug_concept_id|item_id|variant|decision)$`, true},
	{"reward", "holds what came of it; none where that stands in a file of its own", `(?i)^(reward|outcome|response|click|conversion|purchase|revenue|score|y)$`, false},
	{"behavior_prob", "holds the probability with which that decision was drawn", `(?i)^(behaviou?r_prob|pscore|propensity(_score)?|prob|p_action|action_prob|allocation_prob)$`, false},
	{"terminated", "says that the episode ended with its row", `(?i)^(terminated|terminal|done|died|dead|ended)$`, false},
}

// joined writes the words of a name as databases do.
var joined = strings.NewReplacer(".", "_", " ", "_", "-", "_")

// propose gives the column that is likely to have the role, "" if none or several are.
func (r role) propose(columns []file.Column) string {
	var known, called []string
	likely := regexp.MustCompile(r.called)
	for _, c := range columns {
		switch {
		case c.Canonical == r.name:
			known = append(known, c.Name)
		case c.Canonical == "" && (likely.MatchString(joined.Replace(last(c.Name))) || likely.MatchString(joined.Replace(c.Name))):
			called = append(called, c.Name)
		}
	}
	switch {
	case len(known) == 1:
		return known[0]
	case len(known) == 0 && len(called) == 1:
		return called[0]
	}
	return ""
}

// last is a name without those of the objects in which it lies.
func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// Proposed are the columns that are likely to have a role by their names.
func Proposed(of *file.Description) Answers {
	a := Answers{Columns: map[string][]string{}, Facts: map[string]string{}}
	for _, r := range roles {
		if column := r.propose(of.Columns); column != "" && !recognised(of.Columns, r.name) {
			a.Columns[r.name] = []string{column}
		}
	}
	return a
}

// recognised tells whether the reader finds the column of a role without being told.
func recognised(columns []file.Column, role string) bool {
	n := 0
	for _, c := range columns {
		if c.Canonical == role {
			n++
		}
	}
	return n == 1
}
