package host

import (
	"slices"
	"strings"
)

// hypervisor names what this machine runs under; empty: none seen.
func (t *tree) hypervisor() string {
	if s, ok := t.option("sys/hypervisor/type"); ok && s != "" {
		return s
	}
	vendor, _ := t.option("sys/class/dmi/id/sys_vendor")
	product, _ := t.option("sys/class/dmi/id/product_name")
	dmi := strings.TrimSpace(vendor + " " + product)
	for _, known := range []struct{ text, name string }{
		{"KVM", "kvm"}, {"QEMU", "qemu"}, {"VMware", "vmware"}, {"VirtualBox", "virtualbox"}, {"Xen", "xen"},
		{"Microsoft Corporation Virtual Machine", "hyper-v"}, {"Google Compute Engine", "google"},
		{"Amazon EC2", "amazon"}, {"Parallels", "parallels"}, {"BHYVE", "bhyve"},
	} {
		if strings.Contains(dmi, known.text) {
			return known.name
		}
	}
	if s, ok := t.option("proc/device-tree/hypervisor/compatible"); ok {
		return strings.Trim(strings.ReplaceAll(s, "\x00", " "), " ")
	}
	for line := range strings.Lines(t.text("proc/cpuinfo")) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "flags" {
			if slices.Contains(strings.Fields(v), "hypervisor") {
				return "unnamed" // the processor says so, nobody says which
			}
			break
		}
	}
	return ""
}

// container names the container manager; empty: none seen. A mark alone is not enough: the
// image of a virtual machine may have been made from a container's, marks and all.
func (t *tree) container() string {
	if t.firstNamespaces() {
		return ""
	}
	if t.exists("var/run/secrets/kubernetes.io") || t.exists("run/secrets/kubernetes.io") {
		return "kubernetes"
	}
	if s, ok := t.option("proc/self/cgroup"); ok && strings.Contains(s, "kubepods") {
		return "kubernetes"
	}
	if t.exists("run/.containerenv") {
		return "podman"
	}
	if t.exists(".dockerenv") {
		return "docker"
	}
	if s, ok := t.option("run/systemd/container"); ok && s != "" {
		return s
	}
	return ""
}

// initialMountNS is the first mount namespace's link from Linux 6.18 on (MNT_NS_INIT_INO of
// include/uapi/linux/nsfs.h); numbers below 0xF0000000 are given to no other.
const initialMountNS = "mnt:[4026531832]"

// firstNamespaces is true for a process that sees the kernel's own threads and shares the
// mounts of the machine's first process: that is no container, whatever marks it has.
func (t *tree) firstNamespaces() bool {
	if s, ok := t.option("proc/2/comm"); !ok || s != "kthreadd" {
		return false
	}
	own, ok := t.link("proc/self/ns/mnt")
	if !ok {
		return false
	}
	first, ok := t.link("proc/1/ns/mnt") // not everybody may
	return own == initialMountNS || ok && first == own
}
