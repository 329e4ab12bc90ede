package host

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

// captured records root and writes what was recorded to a file of another folder.
func captured(t *testing.T, root string) (Facts, *Capture, string) {
	t.Helper()
	h, c, err := Record(root, bench.Tool{Name: "opcycle", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c.date = time.Unix(1764547200, 0).UTC()
	var b bytes.Buffer
	n, err := c.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes of %d, error %v", n, b.Len(), err)
	}
	file := filepath.Join(t.TempDir(), CaptureName)
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return h, c, file
}

// asJSON is what h comes to, with what r replaces replaced: the two sides of a replay.
func asJSON(t *testing.T, h any, r *redactor) string {
	t.Helper()
	b, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return r.text(r.site(string(b)))
}

// What is read from a capture, with the machine gone, is byte for byte what was read of
// the machine: every file, folder, link and failure that matters is in it, what procfs
// reads too.
func TestACaptureReplays(t *testing.T) {
	for _, name := range []string{"vm2", "rt8", "bare"} {
		t.Run(name, func(t *testing.T) {
			root := unpack(t, name)
			live, c, file := captured(t, root)
			if err := os.RemoveAll(root); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", t.TempDir())
			replayed, err := ReadFacts(file)
			if err != nil {
				t.Fatal(err)
			}
			r := newRedactor(c.words)
			if _, err := c.members(r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asJSON(t, live, r), asJSON(t, replayed, r)); diff != "" {
				t.Error(diff)
			}
			if text := asJSON(t, replayed, newRedactor(nil)); strings.Contains(text, "not in this capture") {
				t.Error(text)
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
				t.Errorf("left in the folder for temporary files: %s", left)
			}
		})
	}
}

// A capture that was unpacked by tar is a root, whose failed calls still fail.
func TestAnUnpackedCaptureIsARoot(t *testing.T) {
	_, _, file := captured(t, unpack(t, "rt8"))
	want, err := ReadFacts(file)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, m := range membersOf(t, file) {
		at := filepath.Join(root, m.name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if m.target != "" {
			err = os.Symlink(m.target, at)
		} else {
			err = os.WriteFile(at, m.data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadFacts(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A refused call comes back as it was: by its errno and in the kernel's words.
func TestARefusedCallIsReplayed(t *testing.T) {
	root := unpack(t, "vm2")
	refuse(t, root, "EACCES", "permission denied", callRead, "proc/interrupts", "sys/kernel/debug/sched/preempt")
	refuse(t, root, "EPERM", "operation not permitted", callRead, "proc/self/limits")
	live, _, file := captured(t, root)
	replayed, err := ReadFacts(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live.Host.Unreadable, replayed.Host.Unreadable); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"/proc/interrupts: permission denied", "/proc/self/limits: operation not permitted", "/sys/kernel/debug/sched/preempt: permission denied"} {
		if !slices.Contains(replayed.Host.Unreadable, want) {
			t.Errorf("%q lacks %q", replayed.Host.Unreadable, want)
		}
	}
}

// refuse adds failed calls to the manifest of an unpacked root.
func refuse(t *testing.T, root, errno, text, what string, names ...string) {
	t.Helper()
	file := filepath.Join(root, manifestName)
	m := manifest{Format: captureFormat, Errnos: map[string]string{}, Failed: map[string]map[string][]string{}}
	if b, err := os.ReadFile(file); err == nil {
		if m, err = parseManifest(b); err != nil {
			t.Fatal(err)
		}
	}
	m.Errnos[errno] = text
	if m.Failed[what] == nil {
		m.Failed[what] = map[string][]string{}
	}
	m.Failed[what][errno] = append(m.Failed[what][errno], names...)
	b, err := json.Marshal(m)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a capture was not asked for is said, not taken for absent.
func TestACaptureSaysWhatItWasNotAsked(t *testing.T) {
	files, done, err := open(second(captured(t, unpack(t, "vm2"))))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	tr := &tree{files: files}
	if _, ok := tr.option("proc/pressure/cpu"); ok || tr.exists("sys/firmware") || tr.entries("sys/bus") != nil {
		t.Error("found what is not in it")
	}
	for _, name := range []string{"/proc/pressure/cpu", "/sys/firmware", "/sys/bus"} {
		if !slices.ContainsFunc(tr.unreadable, func(s string) bool { return strings.HasPrefix(s, name+": not in this capture") }) {
			t.Errorf("%q lacks %s", tr.unreadable, name)
		}
	}
}

func second(_ Facts, _ *Capture, file string) string { return file }

func TestACaptureIsTheSameEachTime(t *testing.T) {
	_, c, file := captured(t, unpack(t, "rt8"))
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, b.Bytes()) {
		t.Error("two writes differ")
	}
	members := membersOf(t, file)
	if members[0].name != manifestName {
		t.Errorf("the first member is %s", members[0].name)
	}
	if !slices.IsSortedFunc(members[1:], func(a, b member) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the members are not in order")
	}
	m, err := parseManifest(members[0].data)
	if err != nil || m.Kernel != "6.1.0-30-rt-amd64" || m.Members != len(members)-1 || m.Tool.Version != "test" || m.Date.Year() != 2025 {
		t.Errorf("%+v, error %v", m, err)
	}
}

func membersOf(t *testing.T, file string) []member {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []member
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, member{h.Name, h.Linkname, b})
	}
}

// A capture of the machine that runs the test replays too, and holds neither its name nor
// an address of its network cards, in names and contents.
func TestALiveCaptureReplaysAndNamesNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc of Linux")
	}
	live, c, file := captured(t, "/")
	replayed, err := ReadFacts(file)
	if err != nil {
		t.Fatal(err)
	}
	r := newRedactor(c.words)
	if _, err := c.members(r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, live, r), asJSON(t, replayed, r)); diff != "" {
		t.Errorf("what is read of the capture differs from what was read live: %s", diff)
	}
	if n := len(membersOf(t, file)); n < 20 {
		t.Fatalf("only %d members: this looks at nothing", n)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	secret := []string{`\b` + regexp.QuoteMeta(name) + `\b`}
	if b, err := os.ReadFile("/etc/machine-id"); err == nil && len(bytes.TrimSpace(b)) > 0 {
		secret = append(secret, string(bytes.TrimSpace(b)))
	}
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	secret = append(secret, string(bytes.TrimSpace(b)))
	cards, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, card := range cards {
		if len(card.HardwareAddr) > 0 && card.Flags&net.FlagLoopback == 0 {
			secret = append(secret, card.HardwareAddr.String())
		}
		addresses, _ := card.Addrs()
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() {
				secret = append(secret, `\b`+regexp.QuoteMeta(n.IP.String())+`\b`)
			}
		}
	}
	for _, s := range secret {
		at := regexp.MustCompile(s)
		for _, m := range membersOf(t, file) {
			if !ofKernel(m.name) && (at.MatchString(m.name) || at.MatchString(m.target) || at.Match(m.data)) {
				t.Errorf("%s holds %s", m.name, s)
			}
		}
	}
}

func TestRedactor(t *testing.T) {
	for _, tt := range []struct{ name, file, in, want string }{
		{"host", "proc/sys/kernel/hostname", "plc7.line.example.com\n", "host\n"},
		{"host in a volume group", "proc/cmdline", "root=/dev/mapper/rhel_plc7-root rd.lvm.lv=rhel_plc7/root", "root=/dev/mapper/rhel_host-root rd.lvm.lv=rhel_host/root"},
		{"host and domain", "proc/self/cgroup", "0::/machine/plc7.line.example.com.scope", "0::/machine/host.scope"},
		{"no part of a word", "proc/x", "plc77 aplc7 sched_rt", "plc77 aplc7 sched_rt"},
		{"user", "proc/cmdline", "home=/home/erika quiet", "home=/home/user quiet"},
		{"UUIDs", "proc/cmdline", "root=UUID=5a0C2b1e-9d3f-4a5b-8c6d-7e8f9a0b1c2d resume=UUID=11111111-2222-3333-4444-555555555555 x=5a0c2b1e-9d3f-4a5b-8c6d-7e8f9a0b1c2d",
			"root=UUID=00000000-0000-4000-8000-000000000001 resume=UUID=00000000-0000-4000-8000-000000000002 x=00000000-0000-4000-8000-000000000001"},
		{"site", "proc/cmdline", "BOOT_IMAGE=(hd0)/vmlinuz ip=10.1.2.3::10.1.2.1:255.255.255.0:plc7:eth0:none isolcpus=2-3 BOOTIF=01-aa-bb-cc-dd-ee-ff\n",
			"BOOT_IMAGE=(hd0)/vmlinuz ip=removed isolcpus=2-3 BOOTIF=removed\n"},
		{"what a real-time engineer needs", "proc/cmdline", "isolcpus=managed_irq,domain,2,6-7 nohz_full=2,6-7 rcu_nocbs=2 irqaffinity=0-1 tsc=nowatchdog skew_tick=1 idle=poll intel_idle.max_cstate=0",
			"isolcpus=managed_irq,domain,2,6-7 nohz_full=2,6-7 rcu_nocbs=2 irqaffinity=0-1 tsc=nowatchdog skew_tick=1 idle=poll intel_idle.max_cstate=0"},
		{"address without a parameter", "proc/cmdline", "-- --addr 0.0.0.0:2024 --peer 10.9.8.7:99,10.9.8.7 fe80::1%eth0", "-- --addr 0.0.0.0:2024 --peer 192.0.2.1:99,192.0.2.1 2001:db8::1%eth0"},
		{"login", "proc/cmdline", "x=https://erika:secret@boot.example.com/k", "x=https://user@boot.example.com/k"},
		{"disk by serial number", "proc/cmdline", "root=/dev/disk/by-id/nvme-SAMSUNG_S4EVNX0 resume=LABEL=erikas", "root=/dev/disk/by-id/disk1 resume=LABEL=disk2"},
		{"card named by its address", "proc/interrupts", " 45: 7  PCI-MSI enx0019B8010203 enx0019b8010203-rx-0", " 45: 7  PCI-MSI enx0019B8010203 enx020000000001-rx-0"},
		{"no address", "proc/interrupts", " 0:  7  IR-PCI-MSIX-0000:03:00.0  1-edge eth0\n#1 SMP 10:33:22", " 0:  7  IR-PCI-MSIX-0000:03:00.0  1-edge eth0\n#1 SMP 10:33:22"},
		{"no version", "proc/sys/kernel/osrelease", "4.18.0-553.1.2.rt7.342.el8_10.x86_64", "4.18.0-553.1.2.rt7.342.el8_10.x86_64"},
		{"a unified control group", "proc/self/cgroup", "0::/user.slice/user-1000.slice", "0::/user.slice/user-1000.slice"},
		{"the kernel's own words", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "plc7", "plc7"},
		{"packed", "proc/config.gz", "\x1f\x8b\xff plc7", "\x1f\x8b\xff plc7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRedactor([]string{"plc7.line.example.com", "plc7", "user:erika", "user:root", "localhost", ""})
			if got := string(r.file(tt.file, []byte(tt.in))); got != tt.want {
				t.Errorf("%q\nwant %q", got, tt.want)
			}
			if again := string(r.file(tt.file, []byte(tt.want))); again != tt.want {
				t.Errorf("what was replaced is replaced again: %q", again)
			}
		})
	}
}

// A name in a control group's path is replaced in the path of its files too: the replay
// still finds them.
func TestARedactedPathStillLeadsToItsFiles(t *testing.T) {
	root := rootOf(t, map[string]string{
		"proc/sys/kernel/hostname": "3f2a9c71d0be", "proc/7/cgroup": "0::/machine.slice/3f2a9c71d0be.scope",
		"sys/fs/cgroup/machine.slice/3f2a9c71d0be.scope/cpu.max": "20000 100000",
	})
	if err := os.Symlink("7", filepath.Join(root, "proc/self")); err != nil {
		t.Fatal(err)
	}
	_, _, file := captured(t, root)
	for _, m := range membersOf(t, file) {
		if strings.Contains(m.name, "3f2a9c71d0be") || bytes.Contains(m.data, []byte("3f2a9c71d0be")) {
			t.Errorf("%s names the host", m.name)
		}
	}
	files, done, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if got := (&tree{files: files}).quota(); got != "20000 100000" {
		t.Errorf("quota %q", got)
	}
}
