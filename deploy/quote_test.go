package deploy

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// nasty are words that a careless form breaks.
func nasty() []string {
	return []string{"", " ", "a b", "it's", `"`, `\`, `\n`, "$HOME", "`id`", "$(id)", "%h", "100%", "a;b", "a&b", "*", "~", "#c", "-n", "!x", "{a,b}",
		"on", "0x10", "2026-01-01", "ä€", "execution_time.p99 < 60%", `'"'"'`, "a=b", "[1]", "? x", "key: value", "|", ">"}
}

// A shell gives back each word as it was.
func TestShellQuoting(t *testing.T) {
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+shellWords(nasty())).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, nasty()) {
		t.Errorf("got %q, want %q", got, nasty())
	}
}

// The whole script, run by a shell whose podman prints its words, is the command that was
// meant; a comment of it swallows nothing.
func TestTheScriptIsTheCommand(t *testing.T) {
	r := request(t, "")
	r.Results = "/results of $HOME/it's/100%"
	for _, w := range nasty() {
		r.Flags = append(r.Flags, Flag{"budget", w})
	}
	f, err := Podman(r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "mkdir() { :; }; podman() { printf '%s\\0' \"$@\"; }\n"+f.Text).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if i := slices.Index(words, DefaultImage); i < 0 || !slices.Equal(words[i+1:], r.command(whole, true)) {
		t.Errorf("the command is %q", words)
	}
	if !slices.Contains(words, r.Results+":/results:Z") {
		t.Errorf("no mount of %q in %q", r.Results, words)
	}
}

// A unit gives back each word: quotes and escapes of systemd.syntax(7), then specifiers and
// variables of systemd.service(5).
func TestUnitQuoting(t *testing.T) {
	for _, w := range nasty() {
		got, rest := unquoteUnit(unitWord(w))
		if got != w || rest != "" {
			t.Errorf("%q is written %s and read %q, %q", w, unitWord(w), got, rest)
		}
	}
}

// unquoteUnit reads one word as systemd does.
func unquoteUnit(s string) (word, rest string) {
	quoted := strings.HasPrefix(s, `"`)
	if quoted {
		s = s[1:]
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c == '"':
			return b.String(), s[i+1:]
		case !quoted && strings.IndexByte(" \"'\t", c) >= 0:
			return b.String(), s[i:]
		case c == '\\' || (c == '%' || c == '$') && i+1 < len(s) && s[i+1] == c:
			i++
			b.WriteByte(s[i])
		case c == '%' || c == '$':
			b.WriteString("<expanded>")
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// The objects are YAML that gives back each argument and path as it was.
func TestObjectsParseBack(t *testing.T) {
	r := request(t, "plc: {interval: 20ms} # it's\n")
	r.Results = `/a "b" 'c' #d {e}`
	for _, w := range nasty() {
		if !strings.Contains(w, "$(") { // refused: TestRefused
			r.Flags = append(r.Flags, Flag{"budget", w})
		}
	}
	f, err := Kube(r, Cluster{})
	if err != nil {
		t.Fatal(err)
	}
	var configMap struct{ Data map[string]string }
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Args []string }
					Volumes    []struct {
						HostPath struct{ Path string } `yaml:"hostPath"`
					}
				}
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(f.Text))
	for _, v := range []any{&configMap, &job} {
		if err := d.Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	if got := configMap.Data["profile.yaml"]; got != r.Profile.Text {
		t.Errorf("the profile is %q", got)
	}
	spec := job.Spec.Template.Spec
	if got := spec.Containers[0].Args; !slices.Equal(got, r.command(whole, false)) {
		t.Errorf("the arguments are %q", got)
	}
	if got := spec.Volumes[1].HostPath.Path; got != r.Results {
		t.Errorf("the folder is %q", got)
	}
}
