package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/discreet-rl/discreet/internal/source"
)

// The ranges that an object is asked for: the first of a place, and the longest, to which
// they double while a reader goes on; and how much of them is in memory.
const (
	firstRange   = 64 << 10
	longestRange = 1 << 20
	mostHeld     = 32 << 20
)

// object is an open object: one version of it.
type object struct {
	ctx     context.Context
	session *session
	info    info
	at      int64 // of Read

	mutex  sync.Mutex
	ranges []held // that were used last stand last
	bytes  int
}

type held struct {
	from int64
	text []byte
}

func (h held) end() int64 { return h.from + int64(len(h.text)) }

// Open implements [source.Store].
func (s *session) Open(ctx context.Context, name string) (source.File, error) {
	i, err := s.head(ctx, name)
	if err != nil {
		return nil, err
	}
	return &object{ctx: ctx, session: s, info: i}, nil
}

// Stat implements [fs.File].
func (o *object) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close implements [fs.File].
func (o *object) Close() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.ranges, o.bytes = nil, 0
	return nil
}

// Read implements [fs.File].
func (o *object) Read(p []byte) (int, error) {
	if o.at >= o.info.size {
		return 0, io.EOF
	}
	n, err := o.ReadAt(p[:min(int64(len(p)), o.info.size-o.at)], o.at)
	o.at += int64(n)
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (o *object) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 {
		return 0, fmt.Errorf("%w: %s: an offset below 0", fs.ErrInvalid, o.info.name)
	}
	done := 0
	for done < len(p) {
		if at >= o.info.size {
			return done, io.EOF
		}
		h, err := o.hold(at, len(p)-done)
		if err != nil {
			return done, err
		}
		n := copy(p[done:], h.text[at-h.from:])
		done, at = done+n, at+int64(n)
	}
	return done, nil
}

// hold gives a range that holds a place.
func (o *object) hold(at int64, wanted int) (held, error) {
	o.mutex.Lock()
	length := firstRange
	for i, h := range o.ranges {
		if h.from <= at && at < h.end() {
			o.ranges = append(slices.Delete(o.ranges, i, i+1), h)
			o.mutex.Unlock()
			return h, nil
		}
		if h.end() == at {
			length = max(length, min(2*len(h.text), longestRange))
		}
	}
	o.mutex.Unlock()
	h := held{from: at}
	var err error
	if h.text, err = o.fetch(at, int(min(int64(max(length, min(wanted, longestRange))), o.info.size-at))); err != nil {
		return h, err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.ranges, o.bytes = append(o.ranges, h), o.bytes+len(h.text)
	for o.bytes > mostHeld {
		o.bytes -= len(o.ranges[0].text)
		o.ranges = slices.Delete(o.ranges, 0, 1)
	}
	return h, nil
}

// fetch asks for a range, and again where its text is cut. A store that does not heed
// If-Match tells what it sent by its ETag.
func (o *object) fetch(from int64, length int) ([]byte, error) {
	text := make([]byte, length)
	err := o.session.call(o.ctx, o.info.name, "s3:GetObject", func(api *s3.Client, bucket, key string) error {
		var cut error
		for range attempts {
			out, err := api.GetObject(o.ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key, IfMatch: &o.info.etag,
				Range: aws.String(fmt.Sprintf("bytes=%d-%d", from, from+int64(length)-1))})
			if err != nil {
				return err
			}
			if aws.ToString(out.ETag) != o.info.etag {
				return errors.Join(changed(o.info.name), out.Body.Close())
			}
			if n := aws.ToInt64(out.ContentLength); n != int64(length) {
				return errors.Join(fmt.Errorf("%d bytes were asked for, and %d are sent", length, n), out.Body.Close())
			}
			_, cut = io.ReadFull(out.Body, text)
			if cut = errors.Join(cut, out.Body.Close()); cut == nil || o.ctx.Err() != nil {
				return cut
			}
		}
		return fmt.Errorf("its bytes were cut short %d times: %w", attempts, cut)
	})
	return text, err
}
