package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// source answers what is asked of a machine's files. A name has no leading slash. Every
// read of this room goes through one, so that a machine can be recorded and replayed.
type source interface {
	read(name string) ([]byte, error)
	list(name string) ([]string, error) // sorted, as the kernel's own order is none
	link(name string) (string, error)   // where it points, not followed
	seen(name string) error             // nil: it is there; a link is not followed

	// proc is a folder where procfs finds what it parses. direct: it is the machine's own,
	// so that nothing needs to be asked of the source before.
	proc() (folder string, direct bool)
}

// maxFile bounds one file: the interrupts of 512 CPUs with 2000 sources take 12 MB.
const maxFile = 16 << 20

// disk is a folder: "/" for this machine.
type disk string

func (d disk) path(name string) string { return filepath.Join(string(d), name) }

// read reads to the end: the files of /proc and /sys say that they are empty, or a page.
func (d disk) read(name string) ([]byte, error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

var errTooLarge = fmt.Errorf("larger than %d MiB", maxFile>>20)

func (d disk) list(name string) ([]string, error) {
	entries, err := os.ReadDir(d.path(name))
	if err != nil {
		return nil, err
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out, nil
}

func (d disk) link(name string) (string, error) { return os.Readlink(d.path(name)) }

func (d disk) seen(name string) error {
	_, err := os.Lstat(d.path(name))
	return err
}

func (d disk) proc() (string, bool) { return d.path("proc"), true }

// bare is the kernel's own error, without the path and the call.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
