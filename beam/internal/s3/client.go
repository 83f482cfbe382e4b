package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/discreet-rl/discreet/internal/source"
)

// Scheme is what names of objects begin with.
const Scheme = "s3://"

// attempts is how often a request is made in all.
const attempts = 5

// Client is a connection to the store that the environment names. The zero value is ready:
// it reads the environment at the first request.
type Client struct {
	once sync.Once
	api  *s3.Client
	err  error
}

func (c *Client) open(ctx context.Context) (*s3.Client, error) {
	c.once.Do(func() {
		var loaded aws.Config
		// A context that ends would end the credentials of other users of the client too.
		loaded, c.err = config.LoadDefaultConfig(context.WithoutCancel(ctx), config.WithRetryer(func() aws.Retryer {
			return retry.AddWithMaxAttempts(retry.NewStandard(), attempts)
		}))
		c.api = s3.NewFromConfig(loaded, func(o *s3.Options) {
			// A store that the environment names by its address has no names of hosts for buckets.
			o.UsePathStyle = o.BaseEndpoint != nil
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // ranges have none
			o.Logger = logging.Nop{}
		})
	})
	return c.api, c.err
}

// Session is a [source.Store] for one use, in which each object is of one version.
func (c *Client) Session() source.Store {
	return &session{client: c, met: map[string]source.Version{}}
}

type session struct {
	client *Client
	mutex  sync.Mutex
	met    map[string]source.Version
}

// Scheme implements [source.Store].
func (*session) Scheme() string { return Scheme }

// bucketName is that of a bucket, or of an access point's alias. It holds no @ and no colon,
// as a name with keys in it would.
var bucketName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`) })

// split takes a name apart. One that is none is not repeated: it may hold a secret.
func split(name string) (bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(name, Scheme), "/")
	if !bucketName().MatchString(bucket) {
		return "", "", fmt.Errorf("%w: want s3://bucket/key; credentials are never in a name: they come from the environment, a profile or a role", ErrName)
	}
	return bucket, key, nil
}

// call has the store do something with an object, and says of an error which object and what
// helps.
func (s *session) call(ctx context.Context, name, permission string, do func(api *s3.Client, bucket, key string) error) error {
	bucket, key, err := split(name)
	if err != nil {
		return err
	}
	api, err := s.client.open(ctx)
	if err == nil {
		err = do(api, bucket, key)
	}
	if err == nil || ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return &source.StoreError{Err: explained(name, permission, err)}
}

func explained(name, permission string, err error) error {
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrName) {
		return err
	}
	status, code := 0, ""
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = r.HTTPStatusCode()
	}
	if a, ok := errors.AsType[smithy.APIError](err); ok {
		code = a.ErrorCode()
	}
	switch {
	case status == 0 && code == "" || unsigned(err):
		return fmt.Errorf("%w: %s: %w; credentials and region come from the environment (AWS_PROFILE, AWS_REGION), a profile or the role of the machine, and another store's address from AWS_ENDPOINT_URL", ErrStore, name, err)
	case status == 404:
		if code == "NoSuchBucket" {
			return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: there is no such bucket; correct its name", fs.ErrNotExist)}
		}
		return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: there is no such object; correct its name", fs.ErrNotExist)}
	case status == 412 || status == 416:
		return changed(name)
	case status == 403 || status == 401:
		return fmt.Errorf("%w: %s: the store answers %d %s; check the credentials (AWS_PROFILE, or those of the role), or allow them %s", ErrAccess, name, status, code, permission)
	case status == 301 || status == 307 || status == 400:
		return fmt.Errorf("%w: %s: the store answers %d %s; AWS_REGION, or the profile, must name the bucket's region", ErrAccess, name, status, code)
	}
	return fmt.Errorf("%w: %s: %w; run the command again", ErrStore, name, err)
}

// unsigned tells that credentials could not be had: what another service answers of them is no answer of the store.
func unsigned(err error) bool {
	of, ok := errors.AsType[*smithy.OperationError](err)
	for ok && of.ServiceID == s3.ServiceID {
		of, ok = errors.AsType[*smithy.OperationError](of.Err)
	}
	return ok
}

func changed(name string) error {
	return fmt.Errorf("%w: %s: its rows may be of two versions; let whatever writes it end, and run again", ErrChanged, name)
}

// pin holds a version against the one that was met first.
func (s *session) pin(name string, v source.Version) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if before, met := s.met[name]; met && before != v {
		return changed(name)
	}
	s.met[name] = v
	return nil
}

// info describes an object.
type info struct {
	name string
	size int64
	time time.Time
	etag string
}

func (i info) Name() string       { return i.name[strings.LastIndexByte(i.name, '/')+1:] }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o600 }
func (i info) ModTime() time.Time { return i.time }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return source.Version(i.etag) }

// Stat implements [source.Store].
func (s *session) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	i, err := s.head(ctx, name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (s *session) head(ctx context.Context, name string) (i info, err error) {
	err = s.call(ctx, name, "s3:GetObject and s3:ListBucket", func(api *s3.Client, bucket, key string) error {
		out, err := api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			return err
		}
		i = info{name: name, size: aws.ToInt64(out.ContentLength), time: aws.ToTime(out.LastModified), etag: aws.ToString(out.ETag)}
		if i.etag == "" {
			return errors.New("the store tells no ETag, by which a change would be noticed; use one that does")
		}
		return s.pin(name, source.Version(i.etag))
	})
	return i, err
}

// List implements [source.Store].
func (s *session) List(ctx context.Context, prefix string) (names []string, err error) {
	err = s.call(ctx, prefix, "s3:ListBucket", func(api *s3.Client, bucket, key string) error {
		names = nil
		pages := s3.NewListObjectsV2Paginator(api, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &key})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, o := range page.Contents {
				names = append(names, Scheme+bucket+"/"+aws.ToString(o.Key))
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// Write implements [source.Store].
func (s *session) Write(ctx context.Context, name string, text []byte) error {
	defer s.forget(name)
	return s.call(ctx, name, "s3:PutObject", func(api *s3.Client, bucket, key string) error {
		_, err := api.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(text)})
		return err
	})
}

// Remove implements [source.Store].
func (s *session) Remove(ctx context.Context, name string) error {
	defer s.forget(name)
	return s.call(ctx, name, "s3:DeleteObject", func(api *s3.Client, bucket, key string) error {
		_, err := api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
		return err
	})
}

// forget lets an object that this session writes be another one.
func (s *session) forget(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.met, name)
}
