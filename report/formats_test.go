package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"opcycle/judge"
)

// inForm writes a scenario in a form.
func inForm(t *testing.T, format, scenario string) []byte {
	t.Helper()
	f, err := FindFormat(format)
	if err != nil {
		t.Fatal(err)
	}
	file := scenarioFile(t, scenario)
	var b bytes.Buffer
	if err := f.Write(&b, file, judge.Judge(file), shipped(t)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFormatGoldens(t *testing.T) {
	for format, c := range map[string]struct {
		ending    string
		scenarios []string
	}{
		"markdown":  {"md", []string{"eventful", "invalid", "empty"}},
		"junit":     {"xml", []string{"clean", "eventful", "invalid", "empty", "overrun", "overflow", "incomplete"}},
		"benchstat": {"benchstat", []string{"eventful", "empty", "invalid", "overrun"}},
		"csv":       {"csv", []string{"clean", "invalid", "overrun", "overflow"}},
		"json":      {"json", []string{"empty"}},
		"hgrm":      {"hgrm", []string{"overflow"}},
	} {
		for _, scenario := range c.scenarios {
			t.Run(format+"/"+scenario, func(t *testing.T) {
				golden(t, scenario+"."+c.ending, inForm(t, format, scenario))
			})
		}
	}
}

// A CI server reads any of the three: they must say the same.
func TestJUnitJSONAndExitCodeAgree(t *testing.T) {
	codes := map[int]int{}
	for name := range scenarios() {
		t.Run(name, func(t *testing.T) {
			code := judge.Judge(scenarioFile(t, name)).ExitCode()
			codes[code]++
			var suites junitSuites
			if err := xml.Unmarshal(inForm(t, "junit", name), &suites); err != nil {
				t.Fatal(err)
			}
			if clean := suites.Failures+suites.Errors == 0; clean != (code == 0) {
				t.Errorf("exit code %d, but %d failures and %d errors", code, suites.Failures, suites.Errors)
			}
			if n := len(suites.Suites[0].Cases); n != suites.Tests {
				t.Errorf("%d cases, tests=%d", n, suites.Tests)
			}
			var j Judged
			if err := json.Unmarshal(inForm(t, "json", name), &j); err != nil {
				t.Fatal(err)
			}
			if j.Verdict.ExitCode != code {
				t.Errorf("exit code %d, in JSON %d", code, j.Verdict.ExitCode)
			}
		})
	}
	if len(codes) < 3 {
		t.Errorf("the scenarios have the exit codes %v only", codes)
	}
}

// Markdown must not lose a word of the text, nor let a figure's name become emphasis.
func TestMarkdownEscapes(t *testing.T) {
	md := string(inForm(t, "markdown", "eventful"))
	if strings.Contains(md, " execution_time") {
		t.Error("an underscore is not escaped")
	}
	for line := range strings.Lines(md) {
		if strings.HasPrefix(line, "|") && !strings.HasSuffix(strings.TrimSpace(line), "|") {
			t.Errorf("a row that does not end: %q", line)
		}
	}
}

func TestBenchstatLines(t *testing.T) {
	lines := 0
	for line := range strings.Lines(string(inForm(t, "benchstat", "eventful"))) {
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		lines++
		if n := len(strings.Fields(line)); n < 4 || n%2 != 0 {
			t.Errorf("no name, count and pairs of value and unit: %q", line)
		}
	}
	if lines < 10 {
		t.Errorf("only %d lines", lines)
	}
}
