// Package configs holds the profiles and the vendors' published figures, embedded into
// the binary. A profile says only what differs from bench.Defaults. It reads nothing and
// decodes nothing.
package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"opcycle/bench"
)

//go:embed *.yaml reference/*.csv result.schema.json
var files embed.FS

// Profiles returns the names of the profiles, sorted.
func Profiles() []string {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // a constant pattern
	}
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], ".yaml")
	}
	return names
}

// Profile returns the text of a profile by its name, without ".yaml".
func Profile(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no profile is called %q; %s; name a file of your own with its ending, .yaml",
			name, bench.Suggest(name, Profiles()))
	}
	return data, nil
}

// Schema is the JSON Schema (2020-12) of a result, run.json.
func Schema() []byte {
	data, err := files.ReadFile("result.schema.json")
	if err != nil {
		panic(err) // embedded
	}
	return data
}

// References is the folder of the vendors' figures, one CSV file a report.
func References() fs.FS {
	sub, err := fs.Sub(files, "reference")
	if err != nil {
		panic(err) // a constant, valid path
	}
	return sub
}
