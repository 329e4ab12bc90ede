package rt

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CacheLevel is what the kernel says of a level's allocation.
type CacheLevel struct {
	Level     int
	Mask      uint64 // every way
	Shareable uint64 // ways that other devices use too
	Least     int    // ways that a mask needs
	Classes   int
	Sparse    bool // masks need not be contiguous
	CDP       bool // code and data have schemata of their own
}

// Levels are the levels that can be allocated, the last level first.
func (r *Resctrl) Levels() ([]CacheLevel, error) {
	var out []CacheLevel
	for _, level := range []int{3, 2} {
		for _, name := range []string{fmt.Sprintf("L%d", level), fmt.Sprintf("L%dDATA", level)} {
			dir := filepath.Join(r.dir, "info", name)
			if _, err := os.Stat(dir); err != nil {
				continue
			}
			l := CacheLevel{Level: level, CDP: strings.HasSuffix(name, "DATA")}
			var err error
			if l.Mask, err = r.hex(filepath.Join(dir, "cbm_mask")); err != nil {
				return nil, err
			}
			l.Shareable, _ = r.hex(filepath.Join(dir, "shareable_bits")) // newer kernels only
			l.Least, l.Classes, l.Sparse = r.number(filepath.Join(dir, "min_cbm_bits"), 1), r.number(filepath.Join(dir, "num_closids"), 0), r.number(filepath.Join(dir, "sparse_masks"), 0) == 1
			out = append(out, l)
			break
		}
	}
	if len(out) == 0 {
		return nil, errors.New("resctrl is mounted, but no cache level can be allocated (no info/L3 and no info/L2)")
	}
	return out, nil
}

func (r *Resctrl) hex(path string) (uint64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("resctrl: %w", err)
	}
	v, err := strconv.ParseUint(strings.TrimSpace(string(data)), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("resctrl: %s: %w", path, err)
	}
	return v, nil
}

func (r *Resctrl) number(path string, missing int) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return missing
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return missing
	}
	return n
}

// Halves splits a level's ways as the vendor did: the upper half for the measured CPUs, the
// lower for the rest.
func (l CacheLevel) Halves() (measured, rest uint64, err error) {
	ways := bits.OnesCount64(l.Mask)
	half := ways / 2
	if half < l.Least {
		return 0, 0, fmt.Errorf("L%d has %d ways, and a mask needs %d: it can't be split", l.Level, ways, l.Least)
	}
	rest = l.Mask & (1<<(ways-half) - 1)
	return l.Mask &^ rest, rest, nil
}

// Check says what is wrong with a mask, as the kernel would without a word.
func (l CacheLevel) Check(mask uint64) error {
	switch {
	case mask&^l.Mask != 0:
		return fmt.Errorf("mask %x has ways that L%d does not have (%x)", mask, l.Level, l.Mask)
	case bits.OnesCount64(mask) < l.Least || mask == 0:
		return fmt.Errorf("mask %x has %d ways, L%d needs %d at least", mask, bits.OnesCount64(mask), l.Level, max(l.Least, 1))
	case !l.Sparse && bits.OnesCount64(mask) != bits.Len64(mask)-bits.TrailingZeros64(mask):
		return fmt.Errorf("mask %x has a gap, and this processor needs contiguous ways", mask)
	}
	return nil
}
