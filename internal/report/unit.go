package report

import "github.com/discreet-rl/discreet/evaluate"

// speak says the page's own sentences, which are written of persons, of the
// release's unit. What the release says in its own words is left as it is.
func (p *page) speak(u evaluate.Unit) {
	if u == "" || u == evaluate.Person {
		return
	}
	say := func(texts ...*string) {
		for _, t := range texts {
			*t = u.Words(*t)
		}
	}
	say(&p.MethodWords)
	for i := range p.Warnings {
		say(&p.Warnings[i].Heading, &p.Warnings[i].Text)
	}
	for i := range p.Limits {
		say(&p.Limits[i].Heading, &p.Limits[i].Text)
	}
	for i := range p.Public {
		say(&p.Public[i].Words)
	}
	if p.Promise != nil {
		for i := range p.Promise.Meaning {
			say(&p.Promise.Meaning[i])
		}
	}
	p.Event.speak(say)
	p.Survival.speak(say)
	if u == evaluate.Episode || u == evaluate.Row {
		p.Limits = append(p.Limits, limit{unprotected, "A person who owns several " + u.String() + "s",
			"The guarantee is for one " + u.String() + ". Somebody who owns k of them is protected only as k of them together are."})
	}
}

func (n *eventNode) speak(say func(...*string)) {
	if n == nil {
		return
	}
	say(&n.Words)
	for i := range n.Params {
		say(&n.Params[i].Words)
	}
	for _, child := range n.Children {
		child.speak(say)
	}
}
