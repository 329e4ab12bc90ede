package rt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// resources are the schemata lines of a level.
func resources(level int, cdp bool) []string {
	if cdp {
		return []string{fmt.Sprintf("L%dDATA", level), fmt.Sprintf("L%dCODE", level)}
	}
	return []string{fmt.Sprintf("L%d", level)}
}

// lines give the mask to the ids of a level, and name no other domain and no other resource.
func lines(l CacheLevel, ids []int, mask uint64) string {
	var b strings.Builder
	for _, name := range resources(l.Level, l.CDP) {
		var parts []string
		for _, id := range ids {
			parts = append(parts, fmt.Sprintf("%d=%x", id, mask))
		}
		b.WriteString(name + ":" + strings.Join(parts, ";") + "\n")
	}
	return b.String()
}

// put writes into one of the kernel's files; its error has what the kernel says of the last
// command.
func (r *Resctrl) put(name, text string) error {
	if err := r.write(filepath.Join(r.dir, name), text); err != nil {
		return fmt.Errorf("resctrl: %s: %q: %w%s", name, strings.TrimSpace(text), err, r.lastStatus())
	}
	return nil
}

// lastStatus is the kernel's word on the last command, when it has one.
func (r *Resctrl) lastStatus() string {
	data, err := os.ReadFile(filepath.Join(r.dir, "info/last_cmd_status"))
	if s := strings.TrimSpace(string(data)); err == nil && s != "" && s != "ok" {
		return " (last_cmd_status: " + s + ")"
	}
	return ""
}

// schemata are the masks of a group's file by resource and domain.
func (r *Resctrl) schemata(name string) (map[string]map[int]uint64, error) {
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("resctrl: %w", err)
	}
	return parseSchemata(string(data))
}

// parseSchemata reads lines such as "    L3:0=ff;1=ff". Lines of other resources, such as
// MB, are left alone.
func parseSchemata(text string) (map[string]map[int]uint64, error) {
	out := map[string]map[int]uint64{}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || !strings.HasPrefix(name, "L") {
			continue
		}
		out[name] = map[int]uint64{}
		for _, part := range strings.Split(rest, ";") {
			id, mask, _ := strings.Cut(part, "=")
			n, err1 := strconv.Atoi(strings.TrimSpace(id))
			m, err2 := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			if err := errors.Join(err1, err2); err != nil {
				return nil, fmt.Errorf("resctrl: schemata line %q: %w", strings.TrimSpace(line), err)
			}
			out[name][n] = m
		}
	}
	return out, nil
}

func cpuText(cpus []int) string {
	var parts []string
	for _, c := range cpus {
		parts = append(parts, strconv.Itoa(c))
	}
	return strings.Join(parts, ",")
}

// cpuSet reads the kernel's list format.
func cpuSet(s string) []int {
	var out []int
	for _, part := range strings.Split(strings.TrimSpace(s), ",") {
		low, high, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(high)
		}
		for c := a; err == nil && c <= b; c++ {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out
}
