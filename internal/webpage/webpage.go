package webpage

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"sync"
)

//go:embed templates style.css
var files embed.FS

// Policy is what a page may load, and where its forms go: this server alone, and no script.
const Policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Frame is what every page has.
type Frame struct {
	Title string
	// Person is who is signed in.
	Person string
	// Problem and Done say what became of the last form.
	Problem, Done string
	// Refresh asks for the page again after so many seconds; 0 never.
	Refresh int
	// Onward is a path of this site that is shown next, at once.
	Onward string
}

// Bar is a share of a whole, drawn by the template "bar".
type Bar struct {
	Percent float64
	Words   string
}

// Parse reads the templates of a service, which begin with "top" and end with "bottom", when the first
// page is made. They are in the program, so that a fault of theirs is one of its own: it panics.
func Parse(own fs.FS, pattern string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.Must(template.New("").ParseFS(files, "templates/*.html")).ParseFS(own, pattern))
	})
}

// Style serves the one style sheet of all pages.
func Style(w http.ResponseWriter, _ *http.Request) {
	text, err := files.ReadFile("style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(text)
}

// Show writes a page with its headers, whole or not at all: where it cannot be made, the
// answer says so, and the error is returned for the log.
func Show(w http.ResponseWriter, status int, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", Policy)
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}
