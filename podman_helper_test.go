package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// podman is Podman with storage and networks of its own, as root. What this kind of machine
// needs beyond a usual one is here and nowhere else:
//
//   - A hybrid cgroup tree (v1 beside an empty v2) confuses crun: the v2 half is unmounted, in
//     a mount namespace that all commands of a test share.
//   - CONFIG_RT_GROUP_SCHED gives a new cgroup no real-time budget: containers stay in the
//     cgroup of the test (--cgroups=disabled).
//   - Without CAP_SYS_RESOURCE no limit can be raised: the limits of a podman line are left
//     out, the capabilities beside them say the same, and the default limits are low ones.
type podman struct {
	t      *testing.T
	dir    string // of the wrapper "podman", storage and configuration
	cgroup bool   // containers get cgroups of their own
}

func newPodman(t *testing.T) *podman {
	t.Helper()
	real, err := exec.LookPath("podman")
	needs(t, err == nil, "podman")
	needs(t, os.Geteuid() == 0, "root")
	for _, tool := range []string{"crun", "unshare", "nsenter"} {
		_, err := exec.LookPath(tool)
		needs(t, err == nil, tool)
	}
	dir, err := os.MkdirTemp("", "ocp-") // Podman wants short paths
	if err != nil {
		t.Fatal(err)
	}
	p := &podman{t: t, dir: dir}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p.file("containers.conf", 0o644, "[containers]\ndefault_ulimits=[\"nofile=4096:4096\",\"nproc=2000:2000\"]\n")
	p.file("podman", 0o755, fmt.Sprintf(`#!/bin/sh
export CONTAINERS_CONF=%[1]s/containers.conf
n=$#
while [ $n -gt 0 ]; do
  word=$1; shift; n=$((n-1))
  case $word in --ulimit=*) %[4]s;; esac
  set -- "$@" "$word"
done
if [ "$1" = run ] && [ -z "$OWN_CGROUP" ]; then shift; set -- run --cgroups=disabled "$@"; fi
exec nsenter -t %[3]d -m --wd="$PWD" %[2]s --root %[1]s/s --runroot %[1]s/r --tmpdir %[1]s/t --network-config-dir %[1]s/n --cgroup-manager cgroupfs --events-backend file "$@"
`, dir, real, p.namespace(), map[bool]string{true: ":", false: "continue"}[mayRaiseLimits()]))
	t.Cleanup(func() {
		for _, args := range [][]string{{"pod", "rm", "-f", "-a", "-t", "0"}, {"rm", "-f", "-a", "-t", "0"}, {"network", "prune", "-f"}, {"rmi", "-f", "-a"}} {
			if out, err := p.command(args...).CombinedOutput(); err != nil {
				t.Logf("podman %q: %v\n%s", args, err, out)
			}
		}
	})
	return p
}

// namespace is a process whose mount namespace has no v2 half of a hybrid cgroup tree, and
// tracefs, which systemd mounts on other machines. It ends with the test.
func (p *podman) namespace() int {
	p.t.Helper()
	cmd := exec.Command("unshare", "-m", "sh", "-c", "umount /sys/fs/cgroup/unified 2>/dev/null; mount -t tracefs none /sys/kernel/tracing; echo ready; read end")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil || err1 != nil || err2 != nil {
		p.t.Fatal(err, err1, err2)
	}
	p.t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		p.t.Fatalf("a mount namespace: %q, %v", line, err)
	}
	return cmd.Process.Pid
}

// mayRaiseLimits tells whether this process may give a container more than it has.
func mayRaiseLimits() bool {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTPRIO, &l); err != nil {
		return false
	}
	return unix.Prlimit(0, unix.RLIMIT_RTPRIO, &unix.Rlimit{Cur: l.Cur, Max: unix.RLIM_INFINITY}, nil) == nil
}

func (p *podman) file(name string, mode os.FileMode, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
}

// command is one podman command line. It ends after a time that no test needs.
func (p *podman) command(args ...string) *exec.Cmd {
	return p.shell(`exec podman "$@"`, args...)
}

// shell is a script in which podman is this one.
func (p *podman) shell(script string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	p.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+p.dir+":"+os.Getenv("PATH"))
	if p.cgroup {
		cmd.Env = append(cmd.Env, "OWN_CGROUP=1")
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs podman and returns what it printed.
func (p *podman) run(args ...string) string {
	p.t.Helper()
	out, code := p.ends(p.command(args...))
	if code != 0 {
		p.t.Fatalf("podman %q: exit %d", args, code)
	}
	return out
}

// ends runs cmd to its end: what it printed, and its exit code.
func (p *podman) ends(cmd *exec.Cmd) (string, int) {
	p.t.Helper()
	var out, both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &both
	begin := time.Now()
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		p.t.Fatalf("%q: %v\n%s", cmd.Args, err, both.String())
	}
	p.t.Logf("%.60q: %.1f s, exit %d", cmd.Args[2:], time.Since(begin).Seconds(), cmd.ProcessState.ExitCode())
	if code := cmd.ProcessState.ExitCode(); code > exitFailed {
		p.t.Logf("%s\n%s", head(out.String()), ending(both.String()))
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func ending(s string) string { return s[max(0, len(s)-3000):] }

// image builds the image around a static binary, without a network.
func (p *podman) image(target, tag string, more ...string) {
	p.t.Helper()
	context := filepath.Join(p.dir, "context")
	if _, err := os.Stat(context); err != nil {
		if err := os.MkdirAll(filepath.Join(context, "results"), 0o755); err != nil {
			p.t.Fatal(err)
		}
		build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(context, "opcycle"), ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		zones := `cp /etc/ssl/certs/ca-certificates.crt "$1" && cp "$(go env GOROOT)/lib/time/zoneinfo.zip" "$1"`
		for _, cmd := range []*exec.Cmd{build, exec.Command("sh", "-c", zones, "sh", context)} {
			if out, err := cmd.CombinedOutput(); err != nil {
				p.t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
			}
		}
	}
	args := []string{"build", "-q", "--format", "docker", "--isolation", "chroot", "-f", "containers/Containerfile", "--build-arg", "FILES=prebuilt",
		"--build-arg", "VERSION=test", "--target", target, "-t", tag}
	p.run(append(append(args, more...), context)...)
}

// base makes an image of a shell and the programs given, with their libraries, from this
// machine.
func (p *podman) base(tag string, programs ...string) {
	p.t.Helper()
	const script = `set -e
root=$1; shift
for program in sh "$@"; do
  path=$(readlink -f "$(command -v "$program")")
  for file in "$path" $(ldd "$path" | grep -o '/[^ ]*'); do
    mkdir -p "$root$(dirname "$file")"; cp -L "$file" "$root$file"
  done
  mkdir -p "$root/bin"; [ -e "$root/bin/$program" ] || ln -s "$path" "$root/bin/$program"
done
mkdir -p "$root/tmp"
tar -C "$root" -c . > "$root.tar"`
	root := filepath.Join(p.dir, "base")
	if out, err := exec.Command("sh", append([]string{"-c", script, "sh", root}, programs...)...).CombinedOutput(); err != nil {
		p.t.Fatalf("a base of %q: %v\n%s", programs, err, out)
	}
	p.run("import", "-q", root+".tar", tag)
}

// deployed is what deploy prints.
func (p *podman) deployed(args ...string) string {
	p.t.Helper()
	out, err := exec.Command(executable(p.t), append([]string{"deploy"}, args...)...).Output()
	if err != nil {
		p.t.Fatalf("deploy %q: %v\n%s", args, err, strings.TrimSpace(string(out)))
	}
	return string(out)
}
