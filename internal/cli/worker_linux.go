package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/discreet-rl/discreet/internal/worker"
)

// requests takes the stream of requests away from the place of standard input, which is empty from
// then on but for the input of a call.
func requests(in io.Reader) (io.Reader, error) {
	f, ok := in.(*os.File)
	if !ok || f.Fd() != 0 {
		return in, nil
	}
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "requests"), empty()
}

// empty puts nothing in the place of standard input.
func empty() error {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer nothing.Close()
	return standIn(nothing)
}

// kept is the input of a call: a file in memory without a name.
type kept struct{ *os.File }

// keep reads the input of a call.
func keep(r io.Reader) (worker.Input, error) {
	fd, err := unix.MemfdCreate("discreet", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), stdin)
	if _, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return kept{f}, nil
}

// Begin implements [worker.Input].
func (k kept) Begin() (io.Reader, error) {
	if err := standIn(k.File); err != nil {
		return nil, err
	}
	return k.File, nil
}

// End implements [worker.Input].
func (k kept) End() error {
	k.Close()
	return empty()
}
