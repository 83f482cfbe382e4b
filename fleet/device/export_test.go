package device

// SetCrash has the agent stop at points of its work, where the function returns an error.
func (a *Agent) SetCrash(f func(point string) error) { a.crash = f }

// ParseRequest is parseRequest, for the fuzzer.
func ParseRequest(line []byte) (op string, round uint64, vector []float64, err error) {
	r, err := parseRequest(line)
	return r.Op, r.Round, r.Vector, err
}

// Enough is enough.
func Enough(least string) error { return enough(least) }

// BackOff is backOff.
var BackOff = backOff

// What Run and Open return, by which callers need tell nothing apart.
var (
	ErrCopied  = errCopied
	ErrMachine = errMachine
)
