package rt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What needs the kernel's side (groups that have files once they are made, writes that
// keep what they do not name) is tested in run, against a resctrl in user space.

func resctrlTree(t *testing.T, files map[string]string) Resctrl {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "sys/fs/resctrl", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return NewResctrl(root)
}

func TestParseSchemata(t *testing.T) {
	for name, c := range map[string]struct {
		text, want, problem string
	}{
		"one socket":     {text: "    L3:0=ff\n", want: "L3:0=ff\n"},
		"gaps and MB":    {text: "    L3:0=fffff;2=000ff\n    MB:0= 100;2=  40\n", want: "L3:0=fffff;2=000ff\nMB:0=100;2=40\n"},
		"code and data":  {text: "L3DATA:0=ff\nL3CODE:0=f\n  L2:0=ff;1=ff;\n", want: "L3DATA:0=ff\nL3CODE:0=f\nL2:0=ff;1=ff\n"},
		"being locked":   {text: "L3:uninitialized\n", want: "L3\n"},
		"nothing":        {},
		"no colon":       {text: "L3 0=ff\n", problem: "colon"},
		"no id":          {text: "L3:=ff\n", problem: `"=ff"`},
		"no value":       {text: "L3:0;1=ff\n", problem: `"0"`},
		"a negative id":  {text: "L3:-1=ff\n", problem: `"-1=ff"`},
		"a word for id ": {text: "L3:zero=ff\n", problem: `"zero=ff"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSchemata(c.text)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil || s.String() != c.want {
				t.Errorf("read %q, %v", s.String(), err)
			}
		})
	}
}

func TestSchemataValues(t *testing.T) {
	s, err := ParseSchemata("L3:0=0f0;3=00f\nMB:0=100\n")
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := s.Mask("L3", 3); !ok || m != 0xf {
		t.Errorf("the mask is %x, %v", m, ok)
	}
	for _, id := range []int{1, 2} { // a gap is no value, not 0
		if _, ok := s.Mask("L3", id); ok {
			t.Errorf("id %d has a mask", id)
		}
	}
	s = s.Set("L3", 3, "ff").Set("L3", 4, "1").Set("L2", 0, "3")
	if got := s.String(); got != "L3:0=0f0;3=ff;4=1\nMB:0=100\nL2:0=3\n" {
		t.Errorf("set to %q", got)
	}
}

func TestCacheControlOfTrees(t *testing.T) {
	info := func(resource string) map[string]string {
		return map[string]string{"info/" + resource + "/cbm_mask": "7ff\n", "info/" + resource + "/min_cbm_bits": "2\n", "info/" + resource + "/shareable_bits": "600\n",
			"info/" + resource + "/sparse_masks": "1\n", "info/" + resource + "/num_closids": "16\n"}
	}
	code := info("L2CODE")
	for k, v := range info("L2DATA") {
		code[k] = v
	}
	for name, c := range map[string]struct {
		files map[string]string
		level int
		want  []string
	}{"L3": {info("L3"), 3, []string{"L3"}}, "code and data": {code, 2, []string{"L2CODE", "L2DATA"}}} {
		t.Run(name, func(t *testing.T) {
			got, err := resctrlTree(t, c.files).Cache(c.level)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Resources, c.want) || got.Mask != 0x7ff || got.MinBits != 2 || got.Shareable != 0x600 || !got.Sparse || got.Classes != 16 {
				t.Errorf("read %+v", got)
			}
		})
	}
	old := info("L3") // Linux 4.10 has neither
	delete(old, "info/L3/shareable_bits")
	delete(old, "info/L3/sparse_masks")
	if got, err := resctrlTree(t, old).Cache(3); err != nil || got.Shareable != 0 || got.Sparse {
		t.Errorf("an old kernel's: %+v, %v", got, err)
	}
	if _, err := resctrlTree(t, info("L3")).Cache(2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a level that is not there: %v", err)
	}
	for file, text := range map[string]string{"cbm_mask": "xyz\n", "min_cbm_bits": "", "num_closids": "-1\n"} {
		bad := info("L3")
		bad["info/L3/"+file] = text
		if _, err := resctrlTree(t, bad).Cache(3); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s of %q: %v", file, text, err)
		}
	}
}

func TestResctrlErrorsKeepTheNumberAndTheWords(t *testing.T) {
	r := resctrlTree(t, map[string]string{"info/last_cmd_status": "Out of CLOSIDs\n", "schemata": "L3:0=ff\n"})
	if err := os.Mkdir(filepath.Join(r.Dir(), "opcycle-rt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.Make("opcycle-rt"); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "last_cmd_status: Out of CLOSIDs") {
		t.Errorf("the error is %v", err)
	}
	if err := r.SetCPUs("opcycle-rt", "3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a write to a file that is not there: %v", err) // it must not make one
	}
	if groups, err := r.Groups(); err != nil || len(groups) != 0 {
		t.Errorf("folders without schemata are groups: %q, %v", groups, err)
	}
	if !r.Mounted() || NewResctrl(t.TempDir()).Mounted() {
		t.Error("mounted is what has info")
	}
}
