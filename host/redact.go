package host

import (
	"fmt"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"opcycle/bench"
)

// redactor replaces what tells one machine, its network, its disks and its user from
// others, the same thing by the same word throughout a capture, so that a control group's
// path still leads to its files:
//
//   - the host's name, short and full, the machine id and the user's name: host, user
//   - IPv4 addresses by 192.0.2.N (RFC 5737), IPv6 ones by 2001:db8::N (RFC 3849), but for
//     those of no host (0.0.0.0, ::, 127.0.0.1, ::1)
//   - MAC addresses by 02:00:00:00:00:NN, in the names of network cards too (enx…)
//   - UUIDs (disks, boot id, pods) by 00000000-0000-4000-8000-NNNNNNNNNNNN
//   - on the kernel's command line the values of parameters that name a site (ip=,
//     nfsroot=, rd.iscsi.…=, ks=, …), disks by serial number and label
//
// It leaves the kernel's own words alone, below sys/devices/system, sys/kernel and boot: a
// host may be called "performance". It does not know what a process's own name says.
type redactor struct {
	words []word
	given map[string]string // what was replaced, by kind and text
	made  map[string]bool   // what it was replaced by
	next  map[string]int    // the last number given, by the form of the replacement
}

type word struct {
	at *regexp.Regexp
	by string
}

var (
	uuidAt  = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
	macAt   = regexp.MustCompile(`\b(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}\b`)
	cardAt  = regexp.MustCompile(`\b(enx|wlx|wwx)([0-9a-f]{12})\b`)
	ipv4At  = regexp.MustCompile(`(^|[^-.\w])(\d{1,3}(?:\.\d{1,3}){3})($|[^-.\w])`)
	ipv6At  = regexp.MustCompile(`[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*`)
	diskAt  = regexp.MustCompile(`(/by-id/|/by-label/|/by-partlabel/|LABEL=)[^\s,"]+`)
	loginAt = regexp.MustCompile(`//[^\s/@]+@`)
	siteAt  = regexp.MustCompile(`(^|\s)((?:ip|ifname|BOOTIF|nameserver|nfsroot|nfsaddrs|netroot|cifsroot|rd\.iscsi\.[a-z.]+|rd\.fcoe|rd\.zfcp|` +
		`systemd\.hostname|systemd\.machine_id|systemd\.set_credential[a-z_]*|hostname|ks|inst\.[a-z.]+|ignition\.config\.url|` +
		`cloud-config-url|ds|url|seedfrom|user|username|passwd|password|luks\.name|rd\.luks\.name|console\.conman)=)("[^"]*"|\S+)`)
)

// namesOf are the words that name the machine below root and its user.
func namesOf(h bench.Host, root string) []string {
	out := []string{h.Name}
	if short, _, ok := strings.Cut(h.Name, "."); ok {
		out = append(out, short)
	}
	if id, err := os.ReadFile(filepath.Join(root, "etc/machine-id")); err == nil {
		out = append(out, strings.TrimSpace(string(id)))
	}
	if !live(root) {
		return out
	}
	if name, err := os.Hostname(); err == nil {
		out = append(out, name)
	}
	if u, err := user.Current(); err == nil {
		out = append(out, "user:"+u.Username)
	}
	return out
}

func newRedactor(words []string) *redactor {
	r := &redactor{given: map[string]string{}, made: map[string]bool{}, next: map[string]int{}}
	for _, w := range words {
		by := "host"
		if name, ok := strings.CutPrefix(w, "user:"); ok {
			w, by = name, "user"
		}
		// localhost and root name nobody; one letter would be everywhere.
		if len(w) < 2 || slices.Contains([]string{by, "localhost", "root", "(none)"}, w) {
			continue
		}
		r.words = append(r.words, word{regexp.MustCompile(`(^|[^A-Za-z0-9])(` + regexp.QuoteMeta(w) + `)($|[^A-Za-z0-9])`), by})
	}
	return r
}

// file redacts what a file holds. Packed ones (config.gz) are left.
func (r *redactor) file(name string, b []byte) []byte {
	switch {
	case !utf8.Valid(b):
		return b
	case name == "proc/sys/kernel/hostname":
		return []byte(r.host(strings.TrimSuffix(string(b), "\n")) + "\n")
	case name == "proc/cmdline":
		return []byte(r.text(r.site(string(b))))
	case ofKernel(name):
		return b
	}
	return []byte(r.text(string(b)))
}

func (r *redactor) host(name string) string {
	if name == "" || name == "localhost" || name == "(none)" {
		return name
	}
	r.given["host "+name] = "host"
	return "host"
}

func ofKernel(name string) bool {
	for _, p := range []string{"sys/devices/system/", "sys/kernel/", "boot/", "lib/modules/"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// site removes the values that name a site from a kernel's command line.
func (r *redactor) site(s string) string {
	s = siteAt.ReplaceAllStringFunc(s, func(m string) string {
		r.given["site "+strings.TrimSpace(m)] = "removed"
		return m[:strings.IndexByte(m, '=')+1] + "removed"
	})
	s = diskAt.ReplaceAllStringFunc(s, func(m string) string {
		at := strings.LastIndexAny(m, "/=") + 1
		return m[:at] + r.number("disk", m[at:], "disk%d")
	})
	return loginAt.ReplaceAllString(s, "//user@")
}

func (r *redactor) name(name string) string {
	if ofKernel(name) {
		return name
	}
	return r.text(name)
}

func (r *redactor) names(names []string) {
	for i, n := range names {
		names[i] = r.name(n)
	}
}

// text redacts what may hold names and addresses anywhere.
func (r *redactor) text(s string) string {
	s = uuidAt.ReplaceAllStringFunc(s, func(m string) string {
		return r.number("uuid", strings.ToLower(m), "00000000-0000-4000-8000-%012d")
	})
	s = macAt.ReplaceAllStringFunc(s, func(m string) string {
		return r.number("mac", strings.ToLower(strings.ReplaceAll(m, "-", ":")), "02:00:00:00:00:%02x")
	})
	s = cardAt.ReplaceAllStringFunc(s, func(m string) string {
		return m[:3] + r.number("card", m[3:], "0200000000%02x")
	})
	s = around(ipv4At, s, func(m string) string { return r.address(m, "192.0.2.%d") })
	s = ipv6At.ReplaceAllStringFunc(s, func(m string) string { return r.address(m, "2001:db8::%x") })
	for _, w := range r.words {
		s = around(w.at, s, func(m string) string {
			r.given["word "+m] = w.by
			return w.by
		})
	}
	return s
}

// around replaces the second group of at, twice: two that share a separator are found one
// after the other.
func around(at *regexp.Regexp, s string, by func(string) string) string {
	for range 2 {
		s = at.ReplaceAllStringFunc(s, func(m string) string {
			g := at.FindStringSubmatch(m)
			return g[1] + by(g[2]) + g[3]
		})
	}
	return s
}

// address replaces what is one of a host.
func (r *redactor) address(s, format string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsUnspecified() || a.IsLoopback() {
		return s
	}
	return r.number("address", a.String(), format)
}

// number is the replacement of one thing, the same each time.
func (r *redactor) number(kind, s, format string) string {
	key := kind + " " + s
	if by, ok := r.given[key]; ok {
		return by
	}
	if r.made[s] {
		return s
	}
	r.next[format]++
	by := fmt.Sprintf(format, r.next[format])
	r.given[key], r.made[by] = by, true
	return by
}

// count is how many different things were replaced.
func (r *redactor) count() int { return len(r.given) }
