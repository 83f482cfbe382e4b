package webpage_test

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/discreet-rl/discreet/internal/webpage"
)

func Example() {
	own := fstest.MapFS{"hello.html": {Data: []byte(`{{define "hello"}}{{template "top" .}}<h1>{{.Title}}</h1>{{template "bottom" .}}{{end}}`)}}
	all := webpage.Parse(own, "*.html")
	answer := httptest.NewRecorder()
	err := webpage.Show(answer, 200, func(w io.Writer) error {
		return all().ExecuteTemplate(w, "hello", webpage.Frame{Title: "<Hello>"})
	})
	fmt.Println(err, strings.Contains(answer.Body.String(), "<h1>&lt;Hello&gt;</h1>"))
	// Output: <nil> true
}

// A page that cannot be made is not sent in part.
func TestPagesAreWholeOrNotThere(t *testing.T) {
	broken := errors.New("broken")
	answer := httptest.NewRecorder()
	err := webpage.Show(answer, 200, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half of it")
		return broken
	})
	if !errors.Is(err, broken) || answer.Code != 500 || strings.Contains(answer.Body.String(), "half") {
		t.Errorf("%v, %d %s", err, answer.Code, answer.Body)
	}
}
