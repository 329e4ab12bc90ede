package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"opcycle/bench"
)

// stateVersion is of the files in a campaign's state folder.
const stateVersion = 1

// checkpoint is how far a phase of a campaign is. Two are kept, in turn, so that a write
// that a power cut damaged leaves the one before.
type checkpoint struct {
	Plan     string        `json:"plan"`  // digest of the campaign's file
	Seq      int64         `json:"seq"`   // the greater is the newer
	Phase    int           `json:"phase"` // from 0
	Started  time.Time     `json:"started"`
	At       time.Time     `json:"at"`
	Lost     time.Duration `json:"lost"`  // what is lost at most when nothing newer follows, ns
	Clean    bool          `json:"clean"` // the part of it ended by an interrupt, not by a kill
	Pauses   []bench.Pause `json:"pauses"`
	CAT      *bool         `json:"cat"`   // applied; nil: not asked for
	Noise    []string      `json:"noise"` // of the parts that ended cleanly
	Quiet    int           `json:"quiet"` // parts whose noise nobody could verify at their end
	Warnings []string      `json:"warnings"`
	State    []byte        `json:"state"` // the suite's own; nil: the phase began, or its suite keeps none
}

// states is the state folder of a campaign. Its files are a line that tells what they are
// and the sum of the rest, then JSON.
type states struct{ dir string }

func (s states) slot(seq int64) string { return fmt.Sprintf("checkpoint-%d", seq%2) }

// write stores v so that name is either what it was or whole, also after a power cut:
// temporary name, fsync, rename, fsync of the folder.
func (s states) write(name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	t, err := os.CreateTemp(s.dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err = fmt.Fprintf(t, "%s\n%s", headline(body), body); err != nil {
		_, _ = t.Close(), os.Remove(t.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return settle(t, filepath.Join(s.dir, name))
}

func headline(body []byte) string {
	return fmt.Sprintf("opcycle campaign state %d %d bytes sha256 %x", stateVersion, len(body), sha256.Sum256(body))
}

// read decodes name into v. An error that is no fs.ErrNotExist says why it is of no use.
func (s states) read(name string, v any) error {
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return err
	}
	first, body, _ := bytes.Cut(data, []byte("\n"))
	var version int
	if _, err := fmt.Sscanf(string(first), "opcycle campaign state %d ", &version); err != nil {
		return fmt.Errorf("%s is no state of a campaign, or was cut off", name)
	}
	if version != stateVersion {
		return fmt.Errorf("%s is of version %d, this program writes %d", name, version, stateVersion)
	}
	if string(first) != headline(body) {
		return fmt.Errorf("%s is damaged or was cut off: its length or sum is wrong", name)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// latest is the newest checkpoint of phase that can be read. ok is false when the phase has
// none. warning names what could not be read and was passed over; the error says that
// nothing can be read though something is there.
func (s states) latest(plan string, phase int) (c checkpoint, ok bool, warning string, err error) {
	var bad []string
	for i := range int64(2) {
		var read checkpoint
		switch err := s.read(s.slot(i), &read); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			bad = append(bad, err.Error())
		case read.Plan != plan:
			bad = append(bad, s.slot(i)+" is of another campaign")
		case read.Phase == phase && (!ok || read.Seq > c.Seq):
			c, ok = read, true
		}
	}
	switch {
	case len(bad) == 2:
		return c, false, "", fmt.Errorf("neither checkpoint in %s can be used: %s; %s; remove both to measure phase %d from its start, those before it are kept",
			s.dir, bad[0], bad[1], phase+1)
	case len(bad) == 1 && ok:
		warning = bad[0] + ": went on from the checkpoint before it"
	case len(bad) == 1:
		warning = bad[0] + ": it was this phase's first, so the phase began again"
	}
	return c, ok, warning, nil
}

// clear removes what a write left that never got its name.
func (s states) clear() error {
	left, err := filepath.Glob(filepath.Join(s.dir, ".*-*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
