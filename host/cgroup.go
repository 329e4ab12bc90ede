package host

import (
	"path"
	"slices"
	"strings"
)

// levels are the folders of this process's cgroup for a controller, own group first, up to
// the top of the mount, of the one hierarchy (v2) and of the controller's own (v1).
func (t *tree) levels(controller string) []string {
	const mount = "sys/fs/cgroup"
	var out []string
	for line := range strings.Lines(t.text("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		var tops []string
		switch {
		case f[0] == "0":
			tops = []string{mount, mount + "/unified"}
		case slices.Contains(strings.Split(f[1], ","), controller):
			tops = []string{mount + "/" + f[1], mount + "/" + controller}
		}
		for _, top := range tops {
			if !t.exists(top) {
				continue
			}
			for p := path.Clean("/" + f[2]); ; p = path.Dir(p) {
				out = append(out, path.Join(top, p))
				if p == "/" {
					break
				}
			}
		}
	}
	return out
}

// cpuset is what the cgroup lets an affinity be set to; nil: not known.
func (t *tree) cpuset() []int {
	for _, dir := range t.levels("cpuset") {
		for _, name := range []string{"cpuset.cpus.effective", "cpuset.effective_cpus"} {
			if s, ok := t.option(dir + "/" + name); ok && s != "" {
				return t.list(dir+"/"+name, s)
			}
		}
	}
	t.unreadable = append(t.unreadable, "/sys/fs/cgroup: no effective cpuset of this process")
	return nil
}

// quota is the nearest CPU quota above this process as "quota period", both in µs; empty:
// none is set.
func (t *tree) quota() string {
	for _, dir := range t.levels("cpu") {
		if s, ok := t.option(dir + "/cpu.max"); ok && !strings.HasPrefix(s, "max") {
			return s
		}
		if q, ok := t.option(dir + "/cpu.cfs_quota_us"); ok && q != "-1" {
			return q + " " + t.text(dir+"/cpu.cfs_period_us")
		}
	}
	return ""
}
