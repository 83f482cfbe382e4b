package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// noticesFile holds the licences of everything that is linked into the command.
const noticesFile = "THIRD_PARTY_NOTICES.md"

// platforms are those for which binaries are made; what is linked differs a little.
var platforms = []string{"linux", "darwin", "windows"}

// errLicence marks a dependency whose licence is not one of those that are accepted.
var errLicence = errors.New("licence not accepted")

// phrases tell the accepted licences, in the form of [plain]. The first that is found
// counts, and the longer of two that share words stands first.
var phrases = []struct{ licence, text string }{
	{"Apache-2.0", "apache license version 2 0 january 2004"},
	{"BSD-3-Clause", "neither the name"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms with or without modification are permitted provided that the following conditions are met"},
	{"MIT", "permission is hereby granted free of charge to any person obtaining a copy of this software and associated documentation files the software to deal in the software without restriction"},
	{"CC-BY-4.0", "creative commons attribution 4 0 international public license"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

// refused are words of licences that ask more of a program than to carry a notice.
var refused = []string{
	"gnu general public license", "gnu lesser general public license", "gnu library general public license", "gnu affero general public license",
	"mozilla public license", "eclipse public license", "server side public license", "business source license", "commons clause", "non commercial use only", "noncommercial use only",
}

// chosen are modules that come under a choice of licences, with the one that is taken
// and the file of its text.
var chosen = map[string]struct{ licence, file string }{
	"github.com/golang/freetype": {"FTL", "licenses/ftl.txt"},
}

// module is what go list tells of a module.
type module struct{ Path, Version, Dir string }

// linked lists the modules that are linked into the command on any platform.
func linked(ctx context.Context) ([]module, error) {
	found := map[string]module{}
	for _, platform := range platforms {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Module", "./cmd/discreet")
		cmd.Env = append(os.Environ(), "GOOS="+platform, "GOARCH=amd64", "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			var p struct {
				Module *struct {
					module
					Main bool
				}
			}
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module != nil && !p.Module.Main {
				found[p.Module.Path] = p.Module.module
			}
		}
	}
	var all []module
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	if len(all) < 20 {
		return nil, fmt.Errorf("only %d modules are linked: the listing is broken", len(all))
	}
	return all, nil
}

// plain is a text as words: lower case, one space between them.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// licenceOf names the licence of a text.
func licenceOf(text string) (string, error) {
	words := plain(text)
	for _, r := range refused {
		if strings.Contains(words, r) {
			return "", fmt.Errorf("%w: it holds %q", errLicence, r)
		}
	}
	for _, p := range phrases {
		if strings.Contains(words, p.text) {
			return p.licence, nil
		}
	}
	return "", fmt.Errorf("%w: its text is none that is known", errLicence)
}

// legal reports whether a file is about rights, by its name.
func legal(name string) bool {
	name = strings.ToUpper(name)
	return !strings.HasSuffix(name, ".GO") && slices.ContainsFunc([]string{"LICENSE", "LICENCE", "UNLICENSE", "COPYING", "NOTICE", "PATENTS"}, func(s string) bool { return strings.HasPrefix(name, s) })
}

// notice is a file that goes with the command, and whose it is.
type notice struct {
	text string
	of   []string
}

// notices reads what the modules ask to be told, and holds their licences against
// those that are accepted. Equal texts are kept once.
func notices(modules []module) (table []string, texts []*notice, err error) {
	byHash := map[[32]byte]*notice{}
	keep := func(m module, name string) (string, error) {
		raw, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		text := strings.TrimRight(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n") + "\n"
		h := sha256.Sum256([]byte(text))
		if byHash[h] == nil {
			byHash[h] = &notice{text: text}
			texts = append(texts, byHash[h])
		}
		byHash[h].of = append(byHash[h].of, m.Path+" "+m.Version+", "+name)
		return text, nil
	}
	for _, m := range modules {
		licence := ""
		if c, ok := chosen[m.Path]; ok {
			if _, err := keep(m, c.file); err != nil {
				return nil, nil, err
			}
			licence = c.licence
		}
		names, err := legalFiles(m.Dir)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			text, err := keep(m, name)
			if err != nil {
				return nil, nil, err
			}
			if licence != "" || strings.HasPrefix(strings.ToUpper(name), "NOTICE") || strings.HasPrefix(strings.ToUpper(name), "PATENTS") {
				continue
			}
			if licence, err = licenceOf(text); err != nil {
				return nil, nil, fmt.Errorf("%s %s, %s: %w", m.Path, m.Version, name, err)
			}
		}
		if licence == "" {
			return nil, nil, fmt.Errorf("%s %s: %w: it has no file LICENSE", m.Path, m.Version, errLicence)
		}
		table = append(table, fmt.Sprintf("| %s | %s | %s |", m.Path, m.Version, licence))
	}
	return table, texts, nil
}

// legalFiles are the files about rights at the top of a module, and in its directories
// of such files; the one that speaks for the module first.
func legalFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		switch {
		case !e.IsDir() && legal(e.Name()):
			names = append(names, e.Name())
		case e.IsDir() && e.Name() == "THIRD_PARTY_LICENSES":
			inner, err := os.ReadDir(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			for _, f := range inner {
				names = append(names, e.Name()+"/"+f.Name())
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Index(a, "/") - strings.Index(b, "/") })
	slices.SortStableFunc(names, func(a, b string) int { return speaks(a) - speaks(b) })
	return names, nil
}

// speaks puts LICENSE, whatever its ending, before LICENSE-OTHER and directories.
func speaks(name string) int {
	switch stem, _, _ := strings.Cut(strings.ToUpper(name), "."); stem {
	case "LICENSE", "LICENCE", "UNLICENSE", "COPYING":
		return 0
	}
	return 1
}

// licences checks the licences of what is linked, and that the file of notices is
// theirs; or writes that file.
func licences(ctx context.Context, write bool, w io.Writer) error {
	modules, err := linked(ctx)
	if err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	modules = append(modules, module{"Go, the standard library", "of the release that builds", strings.TrimSpace(string(root))})
	table, texts, err := notices(modules)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Third-party notices\n\nThe command `discreet` is linked with these modules on Linux, macOS or Windows. Made by `go run ./internal/ci licences -write` from the\nmodules themselves; `.ci/run` checks it, and that every licence is one that is accepted.\n\n| module | version | licence |\n|---|---|---|\n")
	b.WriteString(strings.Join(table, "\n") + "\n\nPortions of this software are copyright The FreeType Project (https://freetype.org). All rights reserved.\n")
	for _, n := range texts {
		fmt.Fprintf(&b, "\n## %s\n\n````text\n%s````\n", strings.Join(n.of, "; "), n.text)
	}
	if write {
		return os.WriteFile(noticesFile, []byte(b.String()), 0o644)
	}
	got, err := os.ReadFile(noticesFile)
	if err != nil {
		return err
	}
	if string(got) != b.String() {
		return fmt.Errorf("%s is not that of the modules that are linked; go run ./internal/ci licences -write makes it", noticesFile)
	}
	fmt.Fprintf(w, "%d modules, all under accepted licences\n", len(table))
	return nil
}
