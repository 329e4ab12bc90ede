package host

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"opcycle/bench"
)

// kernel fills how the kernel preempts, and whether it shares real-time time by groups.
func (t *tree) kernel(h *bench.Host) {
	release, version, _ := strings.Cut(h.Kernel, " ")
	config, ok := t.config(release)
	if !ok {
		t.unreadable = append(t.unreadable, "/proc/config.gz, /boot/config-"+release+": neither is there")
	}
	h.Preempt = t.preempt(version, h.Cmdline, config)
	if ok {
		h.RTGroupSched = groupSched(config, h.Cmdline)
		built := has(config, "CONFIG_RT_GROUP_SCHED=y")
		t.groupsBuilt = &built
	}
}

// config is the kernel's build configuration, where it can be read.
func (t *tree) config(release string) (string, bool) {
	if b, err := t.files.read("proc/config.gz"); err == nil {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			b, err = io.ReadAll(z)
		}
		if err != nil {
			t.miss("proc/config.gz", err)
			return "", false
		}
		return string(b), true
	}
	for _, name := range []string{"boot/config-" + release, "lib/modules/" + release + "/config"} {
		if s, ok := t.option(name); ok {
			return s, true
		}
	}
	return "", false
}

func has(config, line string) bool { return strings.Contains("\n"+config+"\n", "\n"+line+"\n") }

// parameter is the value of a kernel parameter, the last one given.
func parameter(cmdline, name string) string {
	value := ""
	for _, w := range strings.Fields(cmdline) {
		if v, ok := strings.CutPrefix(w, name+"="); ok {
			value = v
		}
	}
	return value
}

// preempt names the preemption model; a dynamic one with its mode in brackets, from
// debugfs, else the command line, else the build's default, else left out.
func (t *tree) preempt(version, cmdline, config string) string {
	realtime, _ := t.option("sys/kernel/realtime")
	switch {
	case realtime == "1", strings.Contains(version, "PREEMPT_RT"):
		return "PREEMPT_RT"
	case !strings.Contains(version, "PREEMPT_DYNAMIC"):
		if strings.Contains(version, "PREEMPT") {
			return "PREEMPT"
		}
		if has(config, "CONFIG_PREEMPT_VOLUNTARY=y") {
			return "voluntary"
		}
		if version == "" {
			return ""
		}
		return "none"
	}
	mode := ""
	if s, ok := t.option("sys/kernel/debug/sched/preempt"); ok {
		_, s, _ = strings.Cut(s, "(")
		mode, _, _ = strings.Cut(s, ")")
	}
	if mode == "" {
		mode = parameter(cmdline, "preempt")
	}
	for _, d := range []struct{ line, mode string }{
		{"CONFIG_PREEMPT_NONE=y", "none"}, {"CONFIG_PREEMPT_VOLUNTARY=y", "voluntary"},
		{"CONFIG_PREEMPT_LAZY=y", "lazy"}, {"CONFIG_PREEMPT=y", "full"},
	} {
		if mode == "" && has(config, d.line) {
			mode = d.mode
		}
	}
	if mode == "" {
		return "PREEMPT_DYNAMIC"
	}
	return "PREEMPT_DYNAMIC (" + mode + ")"
}

// groupSched is true when a cgroup needs a real-time share of its own before its threads
// may be FIFO (cpu.rt_runtime_us).
func groupSched(config, cmdline string) *bool {
	on := has(config, "CONFIG_RT_GROUP_SCHED=y")
	if on && has(config, "CONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y") {
		on = parameter(cmdline, "rt_group_sched") == "1"
	} else if on && parameter(cmdline, "rt_group_sched") == "0" {
		on = false
	}
	return &on
}
