package run

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"opcycle/rt"
)

// ways are the masks of the two classes in one cache.
type ways struct{ rt, rest uint64 }

// waysOf is what both classes get of a cache whose default group has the ways usable:
// those that are asked for ("auto" or bits), each checked as the kernel will.
//
// auto is the vendor's split: the upper half for the measured CPUs, the lower half for the
// rest, of the longest run of ways that hardware does not fill too. Ways that the default
// group lacks belong to somebody else's group and are left alone.
func waysOf(o CATOptions, c rt.CacheControl, usable uint64) (ways, error) {
	w := ways{}
	for _, m := range []struct {
		name, text string
		to         *uint64
	}{{"--cat-rt-mask", o.RTMask, &w.rt}, {"--cat-rest-mask", o.RestMask, &w.rest}} {
		if m.text == catAuto {
			continue
		}
		mask, err := parseWays(m.text)
		if err == nil {
			err = checkWays(c, mask)
		}
		if err != nil {
			return w, fmt.Errorf("%s %s: %w", m.name, m.text, err)
		}
		*m.to = mask
	}
	switch {
	case w.rt == 0 && w.rest == 0:
		return halves(c, usable)
	case w.rt == 0:
		w.rt = longestRun(usable &^ c.Shareable &^ w.rest)
		if checkWays(c, w.rt) != nil {
			w.rt = longestRun(usable &^ w.rest)
		}
	case w.rest == 0:
		w.rest = longestRun(usable &^ w.rt)
	}
	for name, mask := range map[string]uint64{"the measured CPUs": w.rt, "the rest": w.rest} {
		if err := checkWays(c, mask); err != nil {
			return w, fmt.Errorf("the other mask leaves %x of %x for %s: %w; give both masks", mask, usable, name, err)
		}
	}
	return w, nil
}

// halves is the split of the vendor's report: f0 and 0f of eight ways.
func halves(c rt.CacheControl, usable uint64) (ways, error) {
	run, low := longestRun(usable&^c.Shareable), max(c.MinBits, 1)
	if bits.OnesCount64(run) < 2*low {
		run = longestRun(usable)
	}
	n := bits.OnesCount64(run)
	if n < 2*low {
		return ways{}, fmt.Errorf("the default group has the ways %x of L%d: no two classes of %d way(s) side by side fit; free ways by removing other groups", usable, c.Level, low)
	}
	first := bits.TrailingZeros64(run)
	lower := (uint64(1)<<(n-n/2) - 1) << first
	return ways{rt: run &^ lower, rest: lower}, nil
}

// longestRun are the longest stretch of ones next to each other, the uppermost of equals.
func longestRun(mask uint64) uint64 {
	var best uint64
	for mask != 0 {
		run := mask & (mask ^ (mask + mask&-mask)) // the lowest stretch
		if bits.OnesCount64(run) >= bits.OnesCount64(best) {
			best = run
		}
		mask &^= run
	}
	return best
}

// checkWays is the kernel's own check of a mask (cbm_validate), for words before the write.
func checkWays(c rt.CacheControl, mask uint64) error {
	switch n := bits.OnesCount64(longestRun(mask)); {
	case mask == 0:
		return errors.New("no way at all")
	case mask&^c.Mask != 0:
		return fmt.Errorf("the cache has the ways %x only", c.Mask)
	case n < c.MinBits:
		return fmt.Errorf("at least %d ways side by side are needed", c.MinBits)
	case !c.Sparse && longestRun(mask) != mask:
		return errors.New("the ways have a gap, which this processor does not allow")
	}
	return nil
}

// parseWays reads a mask as resctrl writes it.
func parseWays(text string) (uint64, error) {
	mask, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || mask == 0 {
		return 0, errors.New("not a mask of cache ways; write auto or hexadecimal digits such as f0")
	}
	return mask, nil
}
