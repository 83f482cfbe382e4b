package evaluate

import (
	"fmt"
	"math"
	"strconv"
)

// often is by how many standard deviations a gain lies above what four of five intervals show,
// in units of a half width of 1.645.
const often = 1 + 0.8416/1.645

// outlook says, from public facts, what can be shown and learned.
func (q *learnQuestion) outlook() ([]string, error) {
	var answers []ExpectedAnswer
	if q.lives != nil {
		answers = q.expectedLives()
	} else if q.masses != nil {
		s, err := q.masses.judge.about(nil)
		if err != nil {
			return nil, err
		}
		answers = s.facts["answers"].([]ExpectedAnswer)
		if answers[0].HalfWidth == 0 {
			return []string{"So few persons are in a cell that public facts do not tell which gain would be shown; more persons, fewer cells or a larger epsilon would."}, nil
		}
	} else {
		affordable, err := affordableWeight(q.judge.public)
		if err != nil {
			return nil, err
		}
		if answers, err = expectedAnswers(q.judge.answers, affordable); err != nil {
			return nil, err
		}
	}
	logged, constant := often*answers[0].HalfWidth, 0.0
	for _, a := range answers[1:] {
		constant = max(constant, often*a.HalfWidth)
	}
	width := q.public.Returns().Width()
	if min(logged, constant) >= width {
		return []string{"No certificate is to be expected: by the half widths no gain that returns allow would be shown in four of five studies."}, nil
	}
	given := "if no weight is missing"
	if q.public.decisions() > 1 {
		given += ": of several decisions much is, which widens an interval by the missing share of its range"
	}
	if q.lives != nil {
		given = "if events and dropout are as supposed"
	}
	notes := []string{fmt.Sprintf("A gain over every constant action is shown in four of five studies if it is at least %s, and one over the logged policy if it is at least %s, %s.", twoDigits(constant), twoDigits(logged), given)}
	if q.scores || q.masses != nil || q.public.decisions() > 1 {
		return notes, nil
	}
	persons, cells, where := float64(q.learnOn)/2, float64(q.grid.Bins)/2, "half of the persons"
	if q.states != nil {
		persons, cells, where = float64(q.learnOn)/float64(q.states.States()), 1, fmt.Sprintf("one of %d equally frequent states", q.states.States())
	}
	var sd float64
	if q.epsilons != nil {
		cells, sd = 1, q.scale(1, baseline{q.public.Returns().Mid()})
	} else {
		sd = q.noise[1] * q.largest(baseline{q.public.Returns().Mid()}) * q.beside()
	}
	effect := 2 * math.Sqrt(2*cells*sd*sd+persons*q.most*width*width/2) / persons
	return append(notes, fmt.Sprintf("Where another action is better by %s in %s, learning tells so by two standard deviations.", twoDigits(effect), where)), nil
}

// twoDigits is a number with two digits that count, without an exponent.
func twoDigits(x float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64) // a number, so that it can be read
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
