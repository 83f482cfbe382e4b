package fault

// Class is what kind of fault an error is.
type Class int

// The classes. Where an error wraps several, the later one counts.
const (
	// None is the class of an error that nobody marked.
	None Class = iota
	// InputFault means: the configuration, the data or the command line is to be
	// corrected.
	InputFault
	// RefusedFault means: the ledger will not pay, now or again.
	RefusedFault
	// PartialFault means: nothing wrong was found, and not all could be checked.
	PartialFault
	// Failure means: something failed, whatever it was that it wraps. What is
	// wrong with the input is no excuse once a budget is spent.
	Failure
)

// Marked is an error that knows its class.
type Marked interface {
	error
	Fault() Class
}

// Input returns a new sentinel of class InputFault.
func Input(text string) error { return &sentinel{text, InputFault} }

// Refused returns a new sentinel of class RefusedFault.
func Refused(text string) error { return &sentinel{text, RefusedFault} }

// Failed returns a new sentinel of class Failure.
func Failed(text string) error { return &sentinel{text, Failure} }

type sentinel struct {
	text  string
	class Class
}

func (s *sentinel) Error() string { return s.text }

// Fault implements [Marked].
func (s *sentinel) Fault() Class { return s.class }

// Of is the class of an error: its own mark, or the highest class of what it wraps.
func Of(err error) Class {
	if m, ok := err.(Marked); ok {
		return m.Fault()
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return Of(w.Unwrap())
	case interface{ Unwrap() []error }:
		class := None
		for _, e := range w.Unwrap() {
			class = max(class, Of(e))
		}
		return class
	}
	return None
}
