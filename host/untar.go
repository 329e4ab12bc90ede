package host

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func openCapture(file string) (replay, error) {
	f, err := os.Open(file)
	if err != nil {
		return replay{}, bare(err)
	}
	defer f.Close()
	m, mem, err := readCapture(f)
	if err != nil {
		return replay{}, err
	}
	if mem.dir, err = os.MkdirTemp("", "opcycle-capture-*"); err != nil {
		return replay{}, fmt.Errorf("make a folder for what is parsed of it: %w; set TMPDIR", err)
	}
	if err := mem.unpackProc(); err != nil {
		mem.close()
		return replay{}, err
	}
	return replay{overlayOf(mem, m), mem}, nil
}

// readCapture reads a tar that comes from anywhere: every name is judged, every size
// bounded.
func readCapture(r io.Reader) (manifest, *memory, error) {
	var m manifest
	mem := &memory{files: map[string][]byte{}, links: map[string]string{}}
	var size int64
	t, count := tar.NewReader(r), 0
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, nil, fmt.Errorf("after %d members: %w; it is no capture, or damaged", count, err)
		}
		if h.Typeflag == tar.TypeDir {
			continue // of an unpacked capture that was packed again
		}
		err = mem.take(h, t)
		if count++; err == nil && count > 1 && h.Name == manifestName {
			err = errTwice
		}
		if err != nil {
			return m, nil, fmt.Errorf("member %q: %w", h.Name, err)
		}
		if count == 1 {
			if m, err = mem.head(); err != nil {
				return m, nil, err
			}
			continue
		}
		if size += h.Size; count > maxMembers+1 || size > maxCapture {
			return m, nil, fmt.Errorf("member %q: more than %d members or %d bytes in all", h.Name, maxMembers, maxCapture)
		}
	}
	if count == 0 {
		return m, nil, errors.New("it is empty: no capture of opcycle")
	}
	if count != m.Members+1 || size != m.Bytes {
		return m, nil, fmt.Errorf("it holds %d members of %d bytes and says %d of %d: it was cut or changed", count-1, size, m.Members, m.Bytes)
	}
	return m, mem, nil
}

// head takes the manifest, which comes first.
func (m *memory) head() (manifest, error) {
	text, ok := m.files[manifestName]
	if !ok {
		return manifest{}, fmt.Errorf("its first member is not %s: it is no capture of opcycle, or was packed again in another order", manifestName)
	}
	delete(m.files, manifestName)
	head, err := parseManifest(text)
	if err != nil {
		return head, fmt.Errorf("%s: %w", manifestName, err)
	}
	return head, nil
}

var errTwice = errors.New("it is in there twice")

// take keeps one member.
func (m *memory) take(h *tar.Header, r io.Reader) error {
	_, file := m.files[h.Name]
	_, link := m.links[h.Name]
	switch {
	case !fs.ValidPath(h.Name) || h.Name == "." || strings.ContainsAny(h.Name, "\\\x00"):
		return errors.New("the name leads out of the capture")
	case file || link:
		return errTwice
	case h.Typeflag == tar.TypeSymlink:
		return m.takeLink(h.Name, h.Linkname)
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("it is of type %q: a capture has files and links only", h.Typeflag)
	case h.Size > maxFile:
		return errTooLarge
	}
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return fmt.Errorf("%w; it is cut or damaged", err)
	}
	m.files[h.Name] = b
	return nil
}

func (m *memory) takeLink(name, target string) error {
	if path.IsAbs(target) || !fs.ValidPath(path.Join(path.Dir(name), target)) || len(target) > 4096 {
		return fmt.Errorf("the link to %q leads out of the capture", target)
	}
	if name == "proc/self" && !processNumber.MatchString(target) {
		return fmt.Errorf("the link to %q is no process", target)
	}
	m.links[name] = target
	return nil
}

var (
	processNumber = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
	namespaceLink = regexp.MustCompile(`^proc/[1-9][0-9]{0,9}/ns/[a-z_]+$`)
	namespace     = regexp.MustCompile(`^[a-z_]+:\[[0-9]+\]$`)
)

// unpackProc writes what procfs parses below dir, and nothing else: the names are known,
// proc/self is a number and a namespace's link points to no path.
func (m *memory) unpackProc() error {
	self, ok := m.links["proc/self"]
	own := filepath.Join(m.dir, "proc", self)
	if err := os.MkdirAll(filepath.Join(own, "ns"), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"proc/cmdline", "proc/meminfo", "proc/stat"} {
		if err := m.unpack(name); err != nil {
			return err
		}
	}
	if !ok {
		return nil
	}
	if err := m.unpack("proc/" + self + "/limits"); err != nil {
		return err
	}
	if err := os.Symlink(self, filepath.Join(m.dir, "proc", "self")); err != nil {
		return err
	}
	for name, target := range m.links {
		if !namespaceLink.MatchString(name) || !strings.HasPrefix(name, "proc/"+self+"/") {
			continue
		}
		if !namespace.MatchString(target) {
			return fmt.Errorf("member %q: the link to %q is no namespace", name, target)
		}
		if err := os.Symlink(target, filepath.Join(m.dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) unpack(name string) error {
	b, ok := m.files[name]
	if !ok {
		return nil
	}
	return os.WriteFile(filepath.Join(m.dir, filepath.FromSlash(name)), b, 0o600)
}
