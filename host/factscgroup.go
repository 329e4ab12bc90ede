package host

import (
	"path"
	"strconv"
	"strings"
)

// CgroupFacts are what this process's control group lets it have.
type CgroupFacts struct {
	Version   int    // of the hierarchy that has the cpu controller: 1 or 2; 0: not known
	Path      string // of this process in it, as /proc/self/cgroup has it; "/": its root as seen from here
	Root      bool   // the group is the hierarchy's real root: it has no cpu.max and no cgroup.type
	RTRuntime *int64 // v1: cpu.rt_runtime_us of the group, µs
	RTFile    string // where that was read
	Partition string // v2: cpuset.cpus.partition of the group: member, root, isolated
	Cpuset    string // v2: cpuset.cpus of the group, as asked for
	MemoryMax *int64 // bytes: the least memory.max (v2) or memory.limit_in_bytes (v1) of the group and those above; nil: none seen
}

// cgroupFacts reads them. The cpu controller decides the version: a hybrid system has both.
func (t *tree) cgroupFacts() CgroupFacts {
	var c CgroupFacts
	for line := range strings.Lines(t.maybe("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, controller := range strings.Split(f[1], ",") {
			if controller == "cpu" {
				c.Version, c.Path = 1, f[2]
			}
		}
		if f[0] == "0" && c.Version == 0 {
			c.Version, c.Path = 2, f[2]
		}
	}
	for _, dir := range t.levels("cpu") {
		if n := whole(t.maybe(dir + "/cpu.rt_runtime_us")); n != nil && c.RTRuntime == nil {
			c.RTRuntime, c.RTFile = n, "/"+dir+"/cpu.rt_runtime_us"
		}
	}
	if own := t.levels("cpu"); len(own) > 0 {
		c.Root = c.Path == "/" && !t.exists(own[0]+"/cgroup.type") && !t.exists(own[0]+"/cpu.max")
	}
	if own := t.levels("cpuset"); len(own) > 0 {
		c.Partition = t.maybe(own[0] + "/cpuset.cpus.partition")
		c.Cpuset = t.maybe(own[0] + "/cpuset.cpus")
	}
	for _, dir := range t.levels("memory") {
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			const none = 1 << 60 // v1 says it by the largest number of whole pages
			if n := whole(t.maybe(path.Join(dir, name))); n != nil && *n < none && (c.MemoryMax == nil || *n < *c.MemoryMax) {
				c.MemoryMax = n
			}
		}
	}
	return c
}

// whole is a whole number; nil: it is none.
func whole(s string) *int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
