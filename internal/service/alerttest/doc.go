// Package alerttest holds alert rules against running services. [Names] compares the names in a file
// of rules with a scrape. [Start] starts a monitor, Prometheus' own code for storing scrapes and
// evaluating rules (testdata/monitor, a module of its own, which is built with Go's module proxy); a
// test says what time a scrape is of, so that no rule is waited for.
package alerttest
