package host

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// tree reads small files of a source and keeps what could not be read.
type tree struct {
	files       source
	unreadable  []string
	groupsBuilt *bool // CONFIG_RT_GROUP_SCHED; nil: not known
}

// procfs parses the files below proc that have a form of their own.
func (t *tree) procfs() (procfs.FS, error) {
	if err := t.files.seen("proc"); err != nil {
		return procfs.FS{}, err
	}
	folder, _ := t.files.proc()
	return procfs.NewFS(folder)
}

// through has procfs parse a file: what can't be read is noted and not parsed.
func (t *tree) through(name string, parse func() error) {
	t.after(func() error { _, err := t.files.read(name); return err }, name, parse)
}

// after has procfs parse what a question is about. The question itself is left out where
// procfs reads the machine's own files and would find out anyway.
func (t *tree) after(ask func() error, name string, parse func() error) {
	var err error
	if _, direct := t.files.proc(); !direct {
		err = ask()
	}
	if err == nil {
		err = parse()
	}
	if err != nil {
		t.miss(name, err)
	}
}

// miss notes why name could not be read.
func (t *tree) miss(name string, err error) {
	t.unreadable = append(t.unreadable, "/"+name+": "+bare(err).Error())
}

// text reads a file that must be there; "" and a note when it is not.
func (t *tree) text(name string) string {
	b, err := t.files.read(name)
	if err != nil {
		t.miss(name, err)
	}
	return strings.TrimSpace(string(b))
}

// option reads a file that kernels without the feature do not have: its absence is no
// note, nor that its process has ended; anything else is.
func (t *tree) option(name string) (string, bool) {
	b, err := t.files.read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
		t.miss(name, err)
	}
	return strings.TrimSpace(string(b)), err == nil
}

// exists is true when name can be seen.
func (t *tree) exists(name string) bool {
	err := t.files.seen(name)
	t.stranger(name, err)
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
	list, err := t.files.list(name)
	t.stranger(name, err)
	return list
}

// link is where a link points; ok is false when it is none.
func (t *tree) link(name string) (target string, ok bool) {
	target, err := t.files.link(name)
	t.stranger(name, err)
	return target, err == nil
}

// stranger notes what a capture was not asked when it was made: that is no absence.
func (t *tree) stranger(name string, err error) {
	if errors.Is(err, errNotCaptured) {
		t.miss(name, err)
	}
}
