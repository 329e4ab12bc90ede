// Package configs holds the profiles and the vendors' published figures, embedded into
// the binary. A profile says only what differs from bench.Defaults. It reads nothing and
// decodes nothing.
package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"opcycle/bench"
)

//go:embed *.yaml budgets/*.yaml reference/*.csv result.schema.json
var files embed.FS

// Profiles returns the names of the profiles of "opcycle run", sorted.
func Profiles() []string {
	return slices.DeleteFunc(names(), func(name string) bool { return slices.Contains(Campaigns(), name) })
}

// Campaigns returns the names of the campaigns, sorted.
func Campaigns() []string { return []string{"48-hour", "48-hour-smoke"} }

func names() []string {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // a constant pattern
	}
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], ".yaml")
	}
	return names
}

// BudgetSets returns the names of the sets of budgets, sorted.
func BudgetSets() []string {
	names, err := fs.Glob(files, "budgets/*.yaml")
	if err != nil {
		panic(err) // a constant pattern
	}
	for i := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(names[i], "budgets/"), ".yaml")
	}
	return names
}

// Budgets returns the text of a set of budgets by its name, without ".yaml".
func Budgets(name string) ([]byte, error) {
	return named("set of budgets", name, "budgets/", BudgetSets())
}

// Profile returns the text of a profile by its name, without ".yaml".
func Profile(name string) ([]byte, error) {
	if slices.Contains(Campaigns(), name) {
		return nil, fmt.Errorf("%s is a campaign of suites, not a profile; \"opcycle campaign %s\" runs it", name, name)
	}
	return named("profile", name, "", Profiles())
}

// Campaign returns the text of a campaign by its name, without ".yaml".
func Campaign(name string) ([]byte, error) {
	if slices.Contains(Profiles(), name) {
		return nil, fmt.Errorf("%s is a profile, not a campaign of suites; \"opcycle run %s\" runs it", name, name)
	}
	return named("campaign", name, "", Campaigns())
}

func named(kind, name, folder string, known []string) ([]byte, error) {
	if !slices.Contains(known, name) {
		return nil, fmt.Errorf("no %s is called %q; %s; name a file of your own with its ending, .yaml", kind, name, bench.Suggest(name, known))
	}
	data, err := files.ReadFile(folder + name + ".yaml")
	if err != nil {
		panic(err) // embedded
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
