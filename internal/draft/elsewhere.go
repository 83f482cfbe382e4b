package draft

import (
	"math"
	"strings"
)

// Outcomes in a file of their own, which init does not read: what it asks is how they are joined.

// elsewhere asks for a file of outcomes.
func (t *talk) elsewhere() {
	anything := func(string) error { return nil }
	path, ok := t.ask("Which file has the outcomes? Its path from where the configuration will be", "", anything)
	if !ok {
		return
	}
	by := "unit_id"
	if _, episode := t.has("episode_id"); episode {
		by, _ = t.ask("It has a row for each unit_id or episode_id?", by, oneOf("unit_id", "episode_id"))
	}
	column, ok := t.ask("Which of its columns holds the outcome? Or listed, where it lists ids alone, such as those of the dead", "", anything)
	if !ok {
		return
	}
	parts := []string{"path: " + scalar(path), "by: " + by}
	outcome := func(place, words string) {
		if answer, ok := t.ask(words, "", number(math.Inf(-1), math.Inf(1))); ok {
			parts = append(parts, place+": "+answer)
		}
	}
	if column == "listed" {
		outcome("present", "What is the outcome of whoever is listed? For example 0")
	} else {
		parts = append(parts, "column: "+scalar(column))
		words, ok := t.ask("What are its words worth? numbers where it holds numbers, or such as alive: 1, died: 0", "numbers", func(s string) error {
			if s == "numbers" {
				return nil
			}
			_, err := values(s)
			return err
		})
		if ok && words != "numbers" {
			t.Facts[worth], _ = values(words)
		}
	}
	outcome("absent", "What is the outcome of whoever is not in it? For example 1; - where it is missing")
	t.Facts[elsewhere] = "{" + strings.Join(parts, ", ") + "}"
}
