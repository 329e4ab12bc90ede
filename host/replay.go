package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// errNotCaptured is the answer to a question that was not asked when a capture was made:
// by another version of opcycle, or for another plan.
var errNotCaptured = errors.New("not in this capture; make it anew with opcycle check --capture")

// open finds what root is: a folder, or the file of a capture. done is called when all is
// read.
func open(root string) (files source, done func(), err error) {
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read the host below %s: %w", root, bare(err))
	case !info.IsDir():
		r, err := openCapture(root)
		if err != nil {
			return nil, nil, fmt.Errorf("read the capture %s: %w", root, err)
		}
		return r, r.close, nil
	}
	files = disk(root)
	if live(root) {
		return files, func() {}, nil
	}
	text, err := files.read(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return files, func() {}, nil
	}
	var m manifest
	if err == nil {
		m, err = parseManifest(text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the unpacked capture %s: %s: %w", root, manifestName, err)
	}
	return overlayOf(files, m), func() {}, nil
}

// live is true for the root of this machine.
func live(root string) bool { return filepath.Clean(root) == "/" }

func parseManifest(text []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	if m.Format != captureFormat {
		return m, fmt.Errorf("it is of form %d, made by %s %s; this opcycle reads form %d", m.Format, m.Tool.Name, m.Tool.Version, captureFormat)
	}
	return m, nil
}

// failuresOf turns the manifest's table over.
func failuresOf(m manifest) map[call]failure {
	out := map[call]failure{}
	for what, of := range m.Failed {
		for errno, names := range of {
			text := m.Errnos[errno]
			if text == "" {
				text = errno
			}
			for _, name := range names {
				out[call{what, name}] = failure{errno, text}
			}
		}
	}
	return out
}

// overlay is a source whose failed questions fail again, whose folders list what they
// listed, and where what was seen can be seen.
type overlay struct {
	source
	failed map[call]failure
	lists  map[string][]string
	there  map[string]bool
}

func overlayOf(s source, m manifest) overlay {
	o := overlay{s, failuresOf(m), m.Lists, map[string]bool{}}
	for _, name := range m.Seen {
		o.there[name] = true
	}
	return o
}

func (o overlay) fails(what, name string) error {
	if f, ok := o.failed[call{what, name}]; ok {
		return &fs.PathError{Op: what, Path: "/" + name, Err: f}
	}
	return nil
}

func (o overlay) read(name string) ([]byte, error) {
	if err := o.fails(callRead, name); err != nil {
		return nil, err
	}
	return o.source.read(name)
}

func (o overlay) list(name string) ([]string, error) {
	if err := o.fails(callList, name); err != nil {
		return nil, err
	}
	if l, ok := o.lists[name]; ok {
		return slices.Clone(l), nil
	}
	return o.source.list(name)
}

func (o overlay) link(name string) (string, error) {
	if err := o.fails(callLink, name); err != nil {
		return "", err
	}
	return o.source.link(name)
}

func (o overlay) seen(name string) error {
	if err := o.fails(callSeen, name); err != nil {
		return err
	}
	if o.there[name] {
		return nil
	}
	return o.source.seen(name)
}

func (o overlay) proc() (string, bool) {
	folder, _ := o.source.proc()
	return folder, false
}

// memory is what a capture's file is read into. Nothing of a capture is
// written to the disk but what procfs parses, by names that are known beforehand.
type memory struct {
	files map[string][]byte
	links map[string]string
	dir   string // private, removed by close
}

// resolve follows proc/self.
func (m *memory) resolve(name string) string { return ownName(name, m.links["proc/self"]) }

func (m *memory) read(name string) ([]byte, error) {
	b, ok := m.files[m.resolve(name)]
	if !ok {
		return nil, errNotCaptured
	}
	return slices.Clone(b), nil
}

func (m *memory) list(string) ([]string, error) { return nil, errNotCaptured }

func (m *memory) link(name string) (string, error) {
	l, ok := m.links[m.resolve(name)]
	if !ok {
		return "", errNotCaptured
	}
	return l, nil
}

func (m *memory) seen(string) error { return errNotCaptured }

func (m *memory) proc() (string, bool) { return filepath.Join(m.dir, "proc"), false }

func (m *memory) close() { _ = os.RemoveAll(m.dir) } // a temporary folder: left for its cleaner where it can't be

// replay is a capture that was read.
type replay struct {
	overlay
	memory *memory
}

func (r replay) close() { r.memory.close() }
