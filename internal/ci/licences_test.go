package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mit  = "MIT License\n\nCopyright (c) 2020 Ada\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files (the \"Software\"), to deal\nin the Software without restriction, including ..."
	bsd2 = "Copyright Ada\n\nRedistribution and use in source and binary forms, with or without\nmodification, are permitted provided that the following conditions are met: ..."
)

func TestLicencesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		mit:                            "MIT",
		strings.ToUpper(mit):           "MIT",
		bsd2:                           "BSD-2-Clause",
		bsd2 + "\n* Neither the name ": "BSD-3-Clause",
		"  Apache License\n  Version 2.0, January 2004\n":                                           "Apache-2.0",
		"All rights reserved.":                                                                      "",
		"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3":                                              "",
		mit + "\nParts are under the GNU Lesser General\nPublic License.":                           "",
		"\"Commons Clause\" License Condition v1.0\n" + "Apache License\nVersion 2.0, January 2004": "",
		"You may use this software free of charge.":                                                 "",
	} {
		got, err := licenceOf(text)
		if got != want || (want == "") != errors.Is(err, errLicence) {
			t.Errorf("%.40q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A module without a licence, or with one that is not accepted, is an error; of the
// others every file about rights is kept, equal ones once.
func TestNoticesKeepEveryText(t *testing.T) {
	make := func(files map[string]string) module {
		dir := t.TempDir()
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return module{"example.org/m", "v1", dir}
	}
	table, texts, err := notices([]module{
		make(map[string]string{"LICENSE": mit, "NOTICE": "Made by Ada.", "license.go": "package m", "x.go": "package m"}),
		make(map[string]string{"LICENSE-OTHER": "Of a part: do as you like.", "LICENSE.md": mit, "THIRD_PARTY_LICENSES/B": bsd2}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != 2 || !strings.HasSuffix(table[0], "| MIT |") || !strings.HasSuffix(table[1], "| MIT |") {
		t.Errorf("table is %q", table)
	}
	if len(texts) != 4 || len(texts[0].of) != 2 {
		t.Errorf("%d texts, the first of %q; want 4, the first of two modules", len(texts), texts[0].of)
	}
	for _, files := range []map[string]string{{"x.go": "package m"}, {"LICENSE": "Mine."}, {"NOTICE": "Made by Ada."}} {
		if _, _, err := notices([]module{make(files)}); !errors.Is(err, errLicence) {
			t.Errorf("%v: %v; want a refusal", files, err)
		}
	}
}
