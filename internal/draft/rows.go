package draft

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// What a row is where no column names an episode.

// rows asks what a row is. Where a person and a time are known, their rows may fall into
// sessions.
func (t *talk) rows() {
	step, timed := t.has("step")
	_, person := t.has("unit_id")
	timed = timed && person && step.Type != "integer"
	words, choices := "A row is 1: a decision on its own, with its own outcome; 2: one of the decisions of a person, which all belong together", []string{"1", "2"}
	if timed {
		words += ";\n3: one of the decisions of a session, which ends where a person has no row for some time"
		choices = append(choices, "3")
	}
	t.say(words + ".")
	answer, ok := t.ask("Which of these?", "", oneOf(choices...))
	if !ok {
		return
	}
	if answer != "3" {
		t.Facts[rows] = map[string]string{"1": "one_row_episodes", "2": "episode_per_person"}[answer]
		return
	}
	t.fact(gap, "After how long without a row does another session begin? Such as 30m, 12h or 30d", "", func(s string) error {
		if !duration().MatchString(s) {
			return errors.New("want a whole number and s, m, h or d")
		}
		return nil
	})
}

var duration = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,8}[smhd]$`) })

// sessions says how steps order decisions, where sessions are cut by time.
func (t *talk) sessions(step file.Column) {
	form := "iso"
	if step.Type == "text" {
		form = t.form()
	}
	t.Facts[steps] = "{kind: date, sort: true}"
	if form != "" && form != "iso" {
		t.Facts[steps] = "{kind: date, format: " + strconv.Quote(form) + ", sort: true}"
	}
}

// form asks for the form of dates.
func (t *talk) form() string {
	form, _ := t.ask(`The form of a date: iso, iso_zone (with Z or an offset), or such as %d.%m.%Y %H:%M`, "iso", func(s string) error {
		if s != "iso" && s != "iso_zone" && !strings.Contains(s, "%Y") {
			return fmt.Errorf("want iso, iso_zone, or %%Y (four digits), %%m, %%d, %%H, %%M, %%S, %%z")
		}
		return nil
	})
	return form
}
