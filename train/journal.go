package train

import "context"

type Journal struct{}

func (j *Journal) Write(b []byte) (int, error) { return len(b), nil }
func (j *Journal) due() bool                   { return false }
func (r *run) resume(ctx context.Context) error { return nil }
func (r *run) checkpoint() error                { return nil }
