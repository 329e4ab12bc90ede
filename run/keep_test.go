package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file beside a result is whole, or there is none of it.
func TestKeepIsWholeOrNothing(t *testing.T) {
	f := &Folder{Dir: t.TempDir()}
	full := errors.New("no space left")
	err := f.Keep("host.tar", func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, full)
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "write host.tar beside the result") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(f.Dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := f.Keep("host.tar", func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(f.Dir, "host.tar")); err != nil || string(b) != "whole" {
		t.Errorf("%q, %v", b, err)
	}
	if left, _ := os.ReadDir(f.Dir); len(left) != 1 {
		t.Errorf("beside it: %v", left)
	}
}
