package service

import (
	"net/http"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// StackKey is the key under which a service logs where a request panicked; [NewLog] takes it as a [Text].
const StackKey = "stack"

// mostFrames is how many functions a stack names.
const mostFrames = 64

// recovered ends a request that panicked, and logs where. What the panic said is left out, and so are the arguments of
// functions: these can hold what a client sent.
func (s *Server) recovered() {
	what := recover()
	if what == nil {
		return
	}
	if what != http.ErrAbortHandler {
		s.Panicked()
	}
	panic(http.ErrAbortHandler) // the connection ends, and nothing is written of it elsewhere
}

// Panicked counts a request whose panic was recovered, and logs where it was. It is called by the function that is deferred.
func (s *Server) Panicked() {
	s.panics.Inc()
	s.cfg.Log.Error("a request panicked", StackKey, stack())
}

// stack names the functions that a panic was in, the innermost first, each with its file and line.
func stack() string {
	pcs := make([]uintptr, mostFrames)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var out []string
	inside := false // what runs after the panic is not told
	for {
		f, more := frames.Next()
		if inside {
			out = append(out, path.Base(f.Function)+" "+path.Base(f.File)+":"+strconv.Itoa(f.Line))
		}
		inside = inside || f.Function == "runtime.gopanic"
		if !more {
			return strings.Join(out, "; ")
		}
	}
}
