package draft

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// talk is a dialogue with somebody who knows the data.
type talk struct {
	in  *bufio.Scanner
	out io.Writer
	of  *file.Description
	Answers
	choices int // how many actions there were, 0 where nobody said
	ended   bool
}

// Ask asks for what names of columns do not tell, until the answers end; the rest stays open.
// unique says of a column how many values it has, for whoever answers alone.
func Ask(in io.Reader, out io.Writer, of *file.Description, unique func(column string) string) Answers {
	t := &talk{in: bufio.NewScanner(in), out: out, of: of, Answers: Answers{Columns: map[string][]string{}, Facts: map[string]string{}}}
	t.say("Enter takes what stands in brackets. End with Ctrl-D: what is not answered stays open in the file.\n\nColumns:")
	for _, c := range of.Columns {
		t.say("  %-7s  %s", c.Type, scalar(c.Name))
	}
	t.say("")
	if t.of.Rows != "" {
		t.say("Each line holds a list, %s, whose elements are taken for the rows.\n", scalar(t.of.Rows))
	}
	for _, r := range roles {
		t.column(r, unique)
	}
	t.shape()
	t.outcomes()
	t.propensities()
	t.publicFacts()
	t.question()
	return t.Answers
}

func (t *talk) say(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// ask asks until an answer passes. A default that is empty has to be replaced by an answer;
// the answer "-" leaves the place open.
func (t *talk) ask(words, otherwise string, check func(string) error) (string, bool) {
	for !t.ended {
		if otherwise != "" {
			fmt.Fprintf(t.out, "%s [%s]: ", words, otherwise)
		} else {
			fmt.Fprintf(t.out, "%s: ", words)
		}
		if !t.in.Scan() {
			t.ended = true
			t.say("")
			break
		}
		answer := strings.TrimSpace(t.in.Text())
		if answer == "" {
			answer = otherwise
		}
		switch {
		case answer == "-":
			return "", false
		case answer == "":
			t.say("  an answer, or - to leave it open")
			continue
		}
		if err := check(answer); err != nil {
			t.say("  %v", err)
			continue
		}
		return answer, true
	}
	return "", false
}

// fact asks for a fact, and keeps the answer.
func (t *talk) fact(place, words, otherwise string, check func(string) error) string {
	answer, ok := t.ask(words, otherwise, check)
	if ok {
		t.Facts[place] = answer
	}
	return answer
}

// column asks which column has a role.
func (t *talk) column(r role, unique func(string) string) {
	proposed, otherwise := r.propose(t.of.Columns), ""
	switch {
	case proposed != "":
		otherwise = scalar(proposed)
	case !r.needed && r.name != "reward":
		otherwise = none
	}
	if proposed != "" && unique != nil && (r.name == "unit_id" || r.name == "episode_id") {
		if words := unique(proposed); words != "" {
			t.say("  (for your eyes alone: %s %s)", otherwise, words)
		}
	}
	var columns []string
	_, ok := t.ask(fmt.Sprintf("Which column %s? (%s)", r.question, r.name), otherwise, func(s string) error {
		if s == none && !r.needed {
			columns = []string{none}
			return nil
		}
		var err error
		columns, err = t.named(r, s)
		return err
	})
	known := recognised(t.of.Columns, r.name)
	if ok && (known || r.name == "reward" || !slices.Equal(columns, []string{none})) && !(known && slices.Equal(columns, []string{proposed})) {
		t.Columns[r.name] = columns
	}
}

// named finds the column that an answer names, or several of an id.
func (t *talk) named(r role, answer string) ([]string, error) {
	find := func(s string) string {
		for _, c := range t.of.Columns {
			if c.Name == s || scalar(c.Name) == s {
				return c.Name
			}
		}
		return ""
	}
	if name := find(answer); name != "" {
		return []string{name}, nil
	}
	var out []string
	for s := range strings.SplitSeq(answer, ",") {
		name := find(strings.TrimSpace(s))
		if name == "" || r.name != "unit_id" && r.name != "episode_id" || slices.Contains(out, name) {
			return nil, fmt.Errorf("there is no column %.60q", answer)
		}
		out = append(out, name)
	}
	if len(out) > mostParts {
		return nil, fmt.Errorf("want at most %d columns", mostParts)
	}
	return out, nil
}

// mostParts is the most columns of an id.
const mostParts = 4

// has gives the column of a role, by the answers so far.
func (t *talk) has(role string) (file.Column, bool) {
	for _, c := range t.assigned(t.of.Columns) {
		if c.Canonical == role {
			return c, true
		}
	}
	return file.Column{}, false
}

// shape asks what a row and an episode are.
func (t *talk) shape() {
	_, episode := t.has("episode_id")
	if !episode {
		t.rows()
	}
	step, ordered := t.has("step")
	if t.Facts[rows] == "one_row_episodes" || !ordered {
		return
	}
	if t.Facts[gap] != "" {
		t.sessions(step)
		return
	}
	t.say("Steps count 0: 0, 1, 2, ...; 1: 1, 2, 3, ...; ordered: by increasing numbers such as days; date: by dates or times.")
	kind, form := "0", ""
	if step.Type == "text" || step.Type == "date" || timely().MatchString(step.Name) && step.Type != "integer" {
		kind = "date"
	}
	kind, ok := t.ask("How does "+scalar(step.Name)+" count?", kind, oneOf("0", "1", "ordered", "date"))
	if ok && kind == "date" && step.Type == "text" {
		form = t.form()
	}
	sorted, _ := t.ask("Are the rows of an episode together in the file, in this order? (yes or no)", "yes", oneOf("yes", "no"))
	if !ok {
		return
	}
	var parts []string
	switch kind {
	case "1":
		parts = append(parts, "from: 1")
	case "ordered", "date":
		parts = append(parts, "kind: "+kind)
	}
	if form != "" && form != "iso" {
		parts = append(parts, "format: "+strconv.Quote(form))
	}
	if sorted == "no" {
		parts = append(parts, "sort: true")
	}
	if parts != nil {
		t.Facts[steps] = "{" + strings.Join(parts, ", ") + "}"
	}
}

// outcomes asks what the words of an outcome are worth, and where it stands.
func (t *talk) outcomes() {
	reward, known := t.has("reward")
	if slices.Equal(t.Columns["reward"], []string{none}) {
		t.elsewhere()
	}
	if !known {
		return
	}
	if reward.Type == "text" {
		if answer, ok := t.ask("What is each word that "+scalar(reward.Name)+" can hold worth? Such as alive: 1, died: 0", "", func(s string) error { _, err := values(s); return err }); ok {
			t.Facts[worth], _ = values(answer)
		}
	}
	if t.Facts[rows] == "one_row_episodes" {
		return
	}
	t.say("The outcome stands 1: on every row; 2: on the last row of an episode alone; 3: on some rows, and where it is empty it is 0.")
	if answer, _ := t.ask("Which of these?", "1", oneOf("1", "2", "3")); answer == "2" {
		t.Facts[outcomes] = onLastRow
	} else if answer == "3" {
		t.Facts[outcomes] = "{missing: zero}"
	}
}

// propensities asks for the words of actions, and with which probabilities they were drawn.
func (t *talk) propensities() {
	action, _ := t.has("action")
	if action.Type == "text" {
		if answer, ok := t.ask("All words that "+scalar(action.Name)+" can hold, by the protocol and not by these data, such as placebo, drug", "", words); ok {
			t.Facts[actions] = list(answer)
		}
	}
	t.say("Decisions were 1: drawn, and the column of probabilities recorded them then; 2: drawn with equal chances; 3: an arm drawn once a person with equal chances (a trial);")
	t.say("4: drawn with chances that nobody recorded, to be estimated at a part of the budget; 5: no matter, the policy that made them is to be valued.")
	otherwise := ""
	if _, recorded := t.has("behavior_prob"); recorded {
		otherwise = "1"
	}
	how, ok := t.ask("Which of these?", otherwise, func(s string) error {
		if _, recorded := t.has("behavior_prob"); s == "1" && !recorded {
			return fmt.Errorf("no column of probabilities was named")
		}
		return oneOf("1", "2", "3", "4", "5")(s)
	})
	if !ok {
		return
	}
	switch how {
	case "1":
		t.Facts[behavior] = "{source: logged}"
	case "5":
		t.Facts[behavior] = none
	default:
		count := ""
		if listed, given := t.Facts[actions]; given {
			count = strconv.Itoa(strings.Count(listed, ",") + 1)
		}
		count, ok := t.ask("How many actions were there to choose from?", count, atLeast(2))
		if !ok {
			return
		}
		k, _ := strconv.Atoi(count)
		t.choices = k
		equal := make([]string, k)
		for i := range equal {
			equal[i] = strconv.FormatFloat(1/float64(k), 'g', -1, 64)
		}
		t.Facts[behavior] = map[string]string{
			"2": "{source: design, kind: uniform, actions: " + count + "}",
			"3": "{source: design, kind: constant_by_step, probs: [[" + strings.Join(equal, ", ") + "], 1]}",
			"4": "{kind: estimate, actions: " + count + ", once: " + strconv.FormatBool(t.Facts[rows] == "one_row_episodes") + "}",
		}[how]
	}
}

// publicFacts asks for what is known without the data.
func (t *talk) publicFacts() {
	t.say("What follows must be known without these data: from the protocol, from physics, from earlier work.")
	n := t.fact(persons, "How many persons are there, by the study's records? For example 312", "", atLeast(1))
	t.fact(gamma, "The discount of a decision: 1 adds outcomes up, 0.99 counts later ones a little less", "", number(0, 1))
	low := t.fact(least, "The least that one outcome can be at all, by its meaning. For example 0", "", number(math.Inf(-1), math.Inf(1)))
	from, _ := strconv.ParseFloat(low, 64)
	t.fact(most, "The most that one outcome can be at all. For example 1", "", number(from, math.Inf(1)))
	_, episode := t.has("episode_id")
	_, person := t.has("unit_id")
	switch {
	case t.Facts[rows] == "one_row_episodes":
		t.fact(horizon, "The most rows of one person that count. For example 1", "", atLeast(1))
	case (episode || t.Facts[gap] != "") && person:
		t.fact(episodes, "The most episodes of one person that count. For example 1", "", atLeast(1))
		t.fact(episodeHorizon, "The most decisions of one episode. For example 20", "", atLeast(1))
	default:
		t.fact(horizon, "The most decisions of one person that count. For example 20", "", atLeast(1))
	}
	if _, told := t.has("terminated"); !told {
		words, otherwise := "After the last row of an episode nothing follows (terminated), or the record stops there (truncated)?", ""
		if t.Facts[rows] == "one_row_episodes" {
			otherwise = "terminated"
		}
		t.fact(end, words, otherwise, oneOf("terminated", "truncated"))
	}
	if !person {
		t.fact(unit, "No column names the person. A guarantee for one episode, or row, protects less. Which is it?", "", oneOf("episode", "row"))
	}
	t.fact(epsilon, "The privacy loss epsilon: with 1 nobody's record makes any result more than 2.7 times as likely", "", number(0, math.Inf(1)))
	otherwise := ""
	if count, err := strconv.Atoi(n); err == nil {
		otherwise = fmt.Sprintf("1e-%d", max(6, len(strconv.Itoa(count))+2))
	}
	t.fact(delta, "The probability delta with which that may fail, far below 1/persons", otherwise, number(0, 1))
}

// question asks for the policy.
func (t *talk) question() {
	t.say("The policy to value: logged (that of the data), constant ACTION, uniform COUNT, column NAME (its probability of the action taken), or a FILE (docs/policies.md);")
	t.say("or learn COUNT: that of so many actions which one half of the persons suggests, judged by the other (docs/learn.md);")
	t.say("or compare: the arms that persons were in, each with a control (docs/experiments.md).")
	answer, ok := t.ask("Which policy?", "", func(s string) error {
		_, err := targetOf(s)
		return err
	})
	if !ok {
		return
	}
	t.Facts[target], _ = targetOf(answer)
	t.Facts[method] = "auto"
	if answer == "compare" {
		t.experiment()
	}
	if strings.HasPrefix(t.Facts[target], "learned") {
		t.Facts[method] = "dp-learn"
		t.learning()
	}
}

// learning asks what a rule is made of.
func (t *talk) learning() {
	answer, ok := t.ask("Which columns may the rule ask about, with the least and the most that each can be? Such as age 20 90, marker 0 1", "", func(s string) error {
		_, err := ranges(s, t.of.Columns)
		return err
	})
	if ok {
		t.Facts[features], _ = ranges(answer, t.of.Columns)
	}
	t.complete()
}
