package service

import (
	"context"
	"io"
	"log/slog"
)

// withheld stands for a value that a log does not take.
const withheld = "withheld"

// Kind is what a log takes under a key.
type Kind int

// The kinds of values.
const (
	// Number takes numbers, truth values, durations and times.
	Number Kind = iota
	// Word takes strings of at most 64 lower-case letters, digits and any of "-_.:/",
	// such as names of states, and numbers.
	Word
	// Text takes anything. It is for what the operator wrote, or what their own
	// machines said, never for what a client sent.
	Text
)

// NewLog writes a line of JSON for each record. Of its attributes it takes those
// whose keys are allowed, and of these the values that are of the key's kind; a
// value of another kind is replaced by the word "withheld", and a key that is not
// allowed by the key "withheld" alone, so that a slip shows and says nothing.
// Messages are to be constants.
func NewLog(w io.Writer, level slog.Leveler, allowed map[string]Kind) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	return slog.New(&allowing{slog.NewJSONHandler(w, o), allowed})
}

type allowing struct {
	to      slog.Handler
	allowed map[string]Kind
}

func (h *allowing) Enabled(ctx context.Context, l slog.Level) bool { return h.to.Enabled(ctx, l) }

func (h *allowing) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, r.Message, 0)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.admit(a))
		return true
	})
	return h.to.Handle(ctx, clean)
}

func (h *allowing) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.admit(a)
	}
	return &allowing{h.to.WithAttrs(clean), h.allowed}
}

// WithGroup leaves the group away: its name is no key of the list.
func (h *allowing) WithGroup(string) slog.Handler { return h }

func (h *allowing) admit(a slog.Attr) slog.Attr {
	kind, ok := h.allowed[a.Key]
	if !ok {
		return slog.Bool(withheld, true)
	}
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindBool, slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindDuration, slog.KindTime:
		return slog.Attr{Key: a.Key, Value: v}
	case slog.KindString:
		if kind == Text || kind == Word && word(v.String()) {
			return slog.Attr{Key: a.Key, Value: v}
		}
	case slog.KindAny:
		if err, is := v.Any().(error); is && kind == Text {
			return slog.String(a.Key, err.Error())
		}
	}
	return slog.String(a.Key, withheld)
}

func word(s string) bool {
	if len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '/':
		default:
			return false
		}
	}
	return true
}
