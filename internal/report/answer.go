package report

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
)

// answerView shows what a method says that is not of this library.
type answerView struct {
	Value, Low, High string
	Confidence       string
	Estimates, Claim string
}

func newAnswerView(a *evaluate.Answer, public map[string]any) *answerView {
	v := &answerView{Value: significant(a.Value, digits, nearest)}
	if words, ok := public["estimates"].(string); ok {
		v.Estimates = words
	}
	if a.Interval != nil {
		v.Low, v.High = significant(a.Interval[0], digits, down), significant(a.Interval[1], digits, up)
		v.Confidence, v.Claim = percent(a.Confidence, down), a.Claim
	}
	return v
}

func checkAnswer(a *evaluate.Answer) error {
	if a == nil {
		return nil
	}
	if err := finite("answer", a.Value, a.Confidence); err != nil || a.Interval == nil {
		return err
	}
	if err := finite("answer.interval", a.Interval[0], a.Interval[1]); err != nil {
		return err
	}
	if !(a.Interval[0] <= a.Interval[1]) {
		return fmt.Errorf("%w: answer.interval ends before it starts", ErrRelease)
	}
	return nil
}
