// Package pagetest tells what is wrong with a page, for the tests of services that have some.
//
// Start with [Faults], on a page whose every text is [Hostile].
package pagetest

import (
	"fmt"
	"regexp"
	"strings"
)

// Hostile is a text that a browser must not read as anything but text.
const Hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>' javascript:alert(3)`

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	onEvent = regexp.MustCompile(`<[^>]* on[a-z]+=`)
	labels  = regexp.MustCompile(`<label for="([^"]*)"`)
)

// Faults are what makes a page ask another host, run something, or hard to read: all of them
// by the text alone.
func Faults(page string) []string {
	var out []string
	for _, bad := range []string{"<script", "<img", `href="javascript`, "http://", "https://", "style="} {
		if strings.Contains(page, bad) {
			out = append(out, "it has "+bad)
		}
	}
	if m := onEvent.FindString(quoted.ReplaceAllString(page, `""`)); m != "" {
		out = append(out, "it has an attribute of an event: "+m)
	}
	if n := strings.Count(page, "<h1>"); n != 1 {
		out = append(out, fmt.Sprintf("it has %d headings of the first level; want 1", n))
	}
	for _, id := range labels.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+id[1]+`"`) {
			out = append(out, "a label is for "+id[1]+", which is not there")
		}
	}
	return out
}
