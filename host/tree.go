package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tree reads small files below a root and keeps what could not be read.
type tree struct {
	root        string
	unreadable  []string
	groupsBuilt *bool // CONFIG_RT_GROUP_SCHED; nil: not known
}

func (t *tree) path(name string) string { return filepath.Join(t.root, name) }

// miss notes why name could not be read.
func (t *tree) miss(name string, err error) {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	t.unreadable = append(t.unreadable, "/"+name+": "+err.Error())
}

// text reads a file that must be there; "" and a note when it is not.
func (t *tree) text(name string) string {
	b, err := os.ReadFile(t.path(name))
	if err != nil {
		t.miss(name, err)
	}
	return strings.TrimSpace(string(b))
}

// option reads a file that kernels without the feature do not have: its absence is no
// note, nor that its process has ended; anything else is.
func (t *tree) option(name string) (string, bool) {
	b, err := os.ReadFile(t.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
		t.miss(name, err)
	}
	return strings.TrimSpace(string(b)), err == nil
}

// exists is true when name can be seen.
func (t *tree) exists(name string) bool {
	_, err := os.Lstat(t.path(name))
	return err == nil
}

// number reads a whole number; nil and a note when there is none.
func (t *tree) number(name string) *int64 {
	s := t.text(name)
	if s == "" {
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.miss(name, fmt.Errorf("%q is no whole number", s))
		return nil
	}
	return &n
}

// entries lists a folder; nothing when it cannot be read.
func (t *tree) entries(name string) []string {
	list, err := os.ReadDir(t.path(name))
	if err != nil {
		return nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Name()
	}
	return out
}
