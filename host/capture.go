package host

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
)

// Capture is what was asked of a machine and answered, to be written to a file from which
// the same can be read anywhere: every file read, every link and folder, and the errno of
// every question that failed. What names the machine, its network, its disks and its user
// is replaced (see redactor).
type Capture struct {
	of       *recorder
	words    []string // that name the machine
	tool     bench.Tool
	date     time.Time
	attempts []bench.Attempt
}

// CaptureName is the name of the capture beside a result.
const CaptureName = "host.tar"

// manifest is the first member of a capture.
type manifest struct {
	Format int        `json:"format"` // captureFormat
	Tool   bench.Tool `json:"tool"`   // that made it
	Date   time.Time  `json:"date"`   // UTC, whole seconds
	Kernel string     `json:"kernel"`

	Members  int   `json:"members"`  // that follow, so that a cut file is found out
	Bytes    int64 `json:"bytes"`    // in them
	Replaced int   `json:"replaced"` // names, addresses and numbers that were

	Errnos map[string]string              `json:"errnos"` // the kernel's words
	Failed map[string]map[string][]string `json:"failed"` // question, errno, names
	Lists  map[string][]string            `json:"lists"`  // folder, what it lists
	Seen   []string                       `json:"seen"`   // there, but not read
}

// The form of a capture and its bounds. A machine of 512 CPUs and 5000 threads comes to
// some 25 MB.
const (
	captureFormat = 1
	manifestName  = "opcycle/manifest.json"
	maxMembers    = 200_000
	maxCapture    = 128 << 20
)

// Record reads the machine below root as ReadFacts does, and keeps what it read.
func Record(root string, tool bench.Tool) (Facts, *Capture, error) {
	files, done, err := open(root)
	if err != nil {
		return Facts{}, nil, err
	}
	defer done()
	r := record(files)
	f, err := readFacts(r, root)
	if err == nil {
		f.Attempts, err = attemptsIn(files, root)
	}
	if err != nil {
		return f, nil, err
	}
	return f, &Capture{of: r, words: namesOf(f.Host, root), tool: tool, date: time.Now().UTC().Truncate(time.Second), attempts: f.Attempts}, nil
}

// Tried adds what was tried on the machine.
func (c *Capture) Tried(attempts []bench.Attempt) { c.attempts = attempts }

// member is a file or, with a target, a link of the tar.
type member struct {
	name, target string
	data         []byte
}

// WriteTo writes the tar: the manifest, then the members by name. The same capture gives
// the same bytes each time.
func (c *Capture) WriteTo(w io.Writer) (int64, error) {
	r := newRedactor(c.words)
	members, err := c.members(r)
	if err != nil {
		return 0, err
	}
	m := c.manifest(r, members)
	head, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return 0, fmt.Errorf("write the capture: %w", err)
	}
	out := counted{w: w}
	t := tar.NewWriter(&out)
	for _, x := range append([]member{{name: manifestName, data: append(head, '\n')}}, members...) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: x.name, Size: int64(len(x.data)), Mode: 0o644, ModTime: c.date}
		if x.target != "" {
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, x.target, 0o777
		}
		if err := t.WriteHeader(h); err != nil {
			return out.n, fmt.Errorf("write the capture: %s: %w", x.name, err)
		}
		if _, err := t.Write(x.data); err != nil {
			return out.n, fmt.Errorf("write the capture: %s: %w", x.name, err)
		}
	}
	if err := t.Close(); err != nil {
		return out.n, fmt.Errorf("write the capture: %w", err)
	}
	return out.n, nil
}

// members are the redacted files and links. NB: in the order of the names, by which what
// is replaced gets its number.
func (c *Capture) members(r *redactor) ([]member, error) {
	self := c.of.links["proc/self"]
	var out []member
	for _, name := range slices.Sorted(maps.Keys(c.of.files)) {
		out = append(out, member{name: ownName(r.name(name), self), data: r.file(name, c.of.files[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(c.of.links)) {
		out = append(out, member{name: ownName(r.name(name), self), target: r.name(c.of.links[name])})
	}
	if c.attempts != nil {
		text, err := json.MarshalIndent(c.attempts, "", " ")
		if err != nil {
			return nil, fmt.Errorf("write the capture: %w", err)
		}
		out = append(out, member{name: AttemptsFile, data: append([]byte(r.text(string(text))), '\n')})
	}
	slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
	out = slices.CompactFunc(out, func(a, b member) bool { return a.name == b.name }) // self and its number
	var size int64
	for _, x := range out {
		size += int64(len(x.data))
	}
	if len(out) > maxMembers || size > maxCapture {
		return nil, fmt.Errorf("write the capture: %d files of %d bytes together are more than %d of %d bytes", len(out), size, maxMembers, maxCapture)
	}
	return out, nil
}

func (c *Capture) manifest(r *redactor, members []member) manifest {
	m := manifest{Format: captureFormat, Tool: c.tool, Date: c.date, Members: len(members), Lists: map[string][]string{}}
	m.Kernel = strings.TrimSpace(string(c.of.files["proc/sys/kernel/osrelease"]))
	for _, x := range members {
		m.Bytes += int64(len(x.data))
	}
	failed, words := c.of.failures()
	m.Errnos, m.Failed = words, failed
	for _, of := range m.Failed {
		for _, names := range of {
			r.names(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.of.lists)) {
		list := slices.Clone(c.of.lists[name])
		r.names(list)
		m.Lists[r.name(name)] = list
	}
	m.Seen = slices.Sorted(maps.Keys(c.of.there))
	r.names(m.Seen)
	m.Replaced = r.count()
	return m
}

// ownName puts the files of proc/self where the link proc/self points, as a tar that is
// unpacked needs them.
func ownName(name, self string) string {
	if rest, ok := strings.CutPrefix(name, "proc/self/"); ok && self != "" {
		return path.Join("proc", self, rest)
	}
	return name
}

// counted counts what is written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
