package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shell returns the ```sh blocks of the README, each as its lines.
func shell(t *testing.T) [][]string {
	t.Helper()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks [][]string
	inside := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "```sh":
			inside, blocks = true, append(blocks, nil)
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && line != "":
			command, _, _ := strings.Cut(line, " #")
			blocks[len(blocks)-1] = append(blocks[len(blocks)-1], strings.TrimSpace(command))
		}
	}
	return blocks
}

// words are a command's words as a shell splits them: single quotes hold one together.
func words(command string) []string {
	var out []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// The first command, as typed, in a folder of its own: a minute later there is a table
// and a result. The second is what runs this test.
func TestTheTwoCommandsOfTheReadme(t *testing.T) {
	blocks := shell(t)
	if len(blocks) < 2 || len(blocks[0]) != 1 || len(blocks[1]) != 1 || blocks[1][0] != "go test ./..." {
		t.Fatalf("the two commands are not the README's first: %q", blocks)
	}
	args, ok := strings.CutPrefix(blocks[0][0], "go run . ")
	if !ok {
		t.Fatalf("%q does not run this folder's program", blocks[0][0])
	}
	if testing.Short() {
		t.Skip("takes 70 s")
	}
	alone(t)
	dir := t.TempDir()
	c := start(t, dir, words(args)...)
	code := c.code()
	if code != exitPass && code != exitFailed {
		t.Errorf("exit %d", code)
	}
	found, err := filepath.Glob(filepath.Join(dir, "results", "*", "run.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("results: %q, %v", found, err)
	}
	f := identities(t, filepath.Dir(found[0]))
	if !f.Complete || len(f.Invalid) != 0 || f.Phase.N != 6000 {
		t.Errorf("complete %v, invalid %q, %d cycles", f.Complete, f.Invalid, f.Phase.N)
	}
	n := counts{t, f}
	if n.lost() != 0 {
		t.Errorf("%d cycles missed by other causes than a skipped release", n.lost())
	}
	t.Log(verdictLine(c.stdout.String()))
	cells(t, c.stdout.String(), f)
	leftNothing(t, filepath.Dir(found[0]))
}

// Every other command that the README names exists with these flags.
func TestTheOtherCommandsOfTheReadme(t *testing.T) {
	for _, block := range shell(t)[2:] {
		for _, line := range block {
			command, _, _ := strings.Cut(line, " | ") // what reads its output is another's
			args := words(command)
			if args[0] != "opcycle" {
				t.Errorf("%q is no command of this program", line)
				continue
			}
			if args[1] == "run" {
				args = append(args, "--dry-run")
			} else {
				args = append(args, "--help")
			}
			if code := start(t, "", args[1:]...).code(); code != exitPass {
				t.Errorf("%q: exit %d", line, code)
			}
		}
	}
}
