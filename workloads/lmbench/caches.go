package lmbench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"opcycle/bench"
)

const (
	kib = 1 << 10
	mib = 1 << 20

	defaultLine = 64 // bytes, where the kernel does not know
)

// level is the CPU's data cache of a level; an error: the kernel knows of none.
func (b *bed) level(n int) (bench.Cache, error) {
	cpu := bench.CPU{Caches: b.Caches}
	c, ok := cpu.DataCache(n)
	if !ok || c.Bytes <= 0 {
		return c, fmt.Errorf("the kernel names no data cache of level %d (/sys/devices/system/cpu/cpu*/cache)", n)
	}
	return c, nil
}

// lastLevel is the size of the largest cache, 0: none is known.
func (b *bed) lastLevel() int64 {
	var most int64
	for _, c := range b.Caches {
		if c.Type != "Instruction" {
			most = max(most, c.Bytes)
		}
	}
	return most
}

// line is the distance of two loads that shall not meet in one cache line.
func (b *bed) line() int {
	var most int64
	for _, c := range b.Caches {
		most = max(most, c.Line)
	}
	if most < 8 || most > 1024 || most&(most-1) != 0 {
		return defaultLine
	}
	return int(most)
}

// cacheRange is a working set that is at home in the cache of that level: half of the L1,
// half of the L2. Of an L3 it is the geometric middle between it and the L2, at most half:
// other CPUs, and machines that the kernel does not see, have the rest of it.
func (b *bed) cacheRange(level int) (int64, error) {
	c, err := b.level(level)
	if err != nil {
		return 0, err
	}
	size := c.Bytes / 2
	if level == 1 {
		return size &^ 4095, nil
	}
	below, err := b.level(level - 1)
	if err != nil {
		return 0, err
	}
	if level == 3 {
		size = min(size, max(2*below.Bytes, int64(math.Sqrt(float64(below.Bytes)*float64(c.Bytes)))))
	}
	if size < 2*below.Bytes {
		return 0, fmt.Errorf("the level %d cache (%s) is less than four times that of level %d (%s): no working set is in the one and not in the other",
			level, sizeText(c.Bytes), level-1, sizeText(below.Bytes))
	}
	return size &^ 4095, nil
}

// Bounds of the working set that stands for main memory.
const (
	leastMain = 64 * mib
	mostMain  = 512 * mib // filling it takes a virtual machine seconds
	cachesIn  = 4         // of it would fit so many times the largest cache
	shareOf   = 4         // of the memory that is free
)

// mainRange is a working set that no cache holds, as far as the machine has the memory and
// the run the time; short says what it should have been, empty: it is.
func (b *bed) mainRange() (size int64, short string, err error) {
	last := b.lastLevel()
	want := max(leastMain, cachesIn*last)
	most := int64(mostMain)
	if b.Quick {
		most = leastMain
	}
	free, err := available(b.Root)
	if err != nil {
		return 0, "", err
	}
	size = min(want, most, free/shareOf) &^ (2*mib - 1)
	switch {
	case size < 2*mib:
		return 0, "", fmt.Errorf("%s of memory are free: too little", sizeText(free))
	case last == 0:
		short = fmt.Sprintf("the kernel names no caches: whether %s are more than they hold is not known", sizeText(size))
	case size < want&^(2*mib-1):
		short = fmt.Sprintf("%s are less than four times the largest cache (%s): part of it may be in there", sizeText(size), sizeText(last))
	}
	return size, short, nil
}

// available is the memory that this process may still use, bytes: what the kernel says is
// free for programs, or less where its control group has a limit.
func available(root string) (int64, error) {
	text, err := slurp(root + "/proc/meminfo")
	if err != nil {
		return 0, err
	}
	kb, _, _ := strings.Cut(field(text, "MemAvailable"), " ")
	free, err := strconv.ParseInt(kb, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s/proc/meminfo has no MemAvailable", root)
	}
	free *= kib
	groups, err := slurp(root + "/proc/self/cgroup")
	if err != nil {
		return free, nil // a kernel without control groups
	}
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		switch {
		case controllers == "":
			free = limited(free, root+"/sys/fs/cgroup", path, "memory.max", "memory.current")
		case strings.Contains(","+controllers+",", ",memory,"):
			free = limited(free, root+"/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")
		}
	}
	return free, nil
}

// limited is free, or what the limits of a control group and of those above it leave.
func limited(free int64, mount, path, limitFile, usageFile string) int64 {
	for {
		limit, err1 := byteCount(mount + path + "/" + limitFile)
		usage, err2 := byteCount(mount + path + "/" + usageFile)
		if err1 == nil && err2 == nil { // "max" is no number: no limit
			free = min(free, max(limit-usage, 0))
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return free
		}
		path = path[:i]
	}
}

func byteCount(path string) (int64, error) {
	text, err := slurp(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}

// sizeText writes a size as short as it is exact to four digits.
func sizeText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 && (n >= 10*mib || n%1024 == 0 || v >= 10*1024) {
		v, i = v/1024, i+1
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " " + units[i]
}
