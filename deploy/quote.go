package deploy

import (
	"fmt"
	"regexp"
	"strings"
)

// bare needs no quotes in a shell, nor in a unit of systemd.
var bare = regexp.MustCompile(`^[a-zA-Z0-9_@+=:,./-]+$`)

// shellWord is s as one word of a POSIX shell.
func shellWord(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return strings.Join(out, " ")
}

// unitWord is s as one word of a command in a unit: quotes as in C, and neither a specifier
// nor a variable in it.
//
// https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines
func unitWord(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(s) + `"`
}

func unitWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = unitWord(w)
	}
	return strings.Join(out, " ")
}

// unitPath is a path as a Quadlet key takes it: generators of different versions read
// quotes and specifiers in it differently, so that only what needs neither is taken.
func unitPath(what, path string) error {
	if path == "" || bare.MatchString(path) {
		return nil
	}
	return fmt.Errorf("%s %q: a Quadlet unit takes letters, digits and _ @ + = , . / - in a path; choose another folder", what, path)
}
