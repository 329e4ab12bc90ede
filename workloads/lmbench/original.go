package lmbench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// original is a program of lmbench that measures what a reading of ours does.
type original struct {
	figure string // key of ours
	// row is in the mechanism of our reading; empty: the headline.
	row  string
	args []string // program and arguments; {file}, {folder}, {stat} are put in
	// server starts what the program talks to, and stop ends it; the server is on the
	// measured CPU, or on the other one.
	server, stop []string
	apart        bool
	read         func(out string) (float64, error) // the printed figure in our unit
}

// originals are the programs in the order of the tables, as lmbench 2 and 3 have them.
func originals() []original {
	const host = "localhost"
	out := []original{
		{figure: "processor/null_call", args: []string{"lat_syscall", "null"}, read: micro},
		{figure: "processor/null_io", row: "read 1 byte", args: []string{"lat_syscall", "read"}, read: micro},
		{figure: "processor/null_io", row: "write 1 byte", args: []string{"lat_syscall", "write"}, read: micro},
		{figure: "processor/stat", args: []string{"lat_syscall", "stat", "{stat}"}, read: micro},
		{figure: "processor/open_close", args: []string{"lat_syscall", "open", "{stat}"}, read: micro},
		{figure: "processor/select", args: []string{"lat_select", "-n", "100", "tcp"}, read: micro},
		{figure: "processor/select", row: "select on 100 file", args: []string{"lat_select", "-n", "100", "file"}, read: micro},
		{figure: "processor/signal_install", args: []string{"lat_sig", "install"}, read: micro},
		{figure: "processor/signal_handler", args: []string{"lat_sig", "catch"}, read: micro},
		{figure: "processor/fork", args: []string{"lat_proc", "fork"}, read: micro},
		{figure: "processor/exec", row: "fork+exec, dynamic", args: []string{"lat_proc", "exec"}, read: micro},
		{figure: "processor/sh", row: "-c, dynamic", args: []string{"lat_proc", "shell"}, read: micro},
	}
	for _, c := range []struct{ n, kb string }{{"2", "0"}, {"2", "16"}, {"2", "64"}, {"8", "16"}, {"8", "64"}, {"16", "16"}, {"16", "64"}} {
		out = append(out, original{figure: "context_switching/context_switch_" + c.n + "p_" + c.kb + "k",
			args: []string{"lat_ctx", "-s", c.kb, c.n}, read: line(c.n)})
	}
	return append(out,
		original{figure: "local_latency/pipe", args: []string{"lat_pipe"}, read: micro},
		original{figure: "local_latency/af_unix", args: []string{"lat_unix"}, read: micro},
		original{figure: "local_latency/udp", args: []string{"lat_udp", host}, server: []string{"lat_udp", "-s"}, stop: []string{"lat_udp", "-S", host}, read: micro},
		original{figure: "local_latency/tcp", args: []string{"lat_tcp", host}, server: []string{"lat_tcp", "-s"}, stop: []string{"lat_tcp", "-S", host}, read: micro},
		original{figure: "local_latency/tcp_connect", args: []string{"lat_connect", host}, server: []string{"lat_connect", "-s"}, stop: []string{"lat_connect", "-S", host}, apart: true, read: micro},
		original{figure: "file_vm/create_0k", args: []string{"lat_fs", "-N", "3", "{folder}"}, read: perSecond("0k", 2)},
		original{figure: "file_vm/delete_0k", args: []string{"lat_fs", "-N", "3", "{folder}"}, read: perSecond("0k", 3)},
		original{figure: "file_vm/create_10k", args: []string{"lat_fs", "-s", "10k", "{folder}"}, read: perSecond("10k", 2)},
		original{figure: "file_vm/delete_10k", args: []string{"lat_fs", "-s", "10k", "{folder}"}, read: perSecond("10k", 3)},
		original{figure: "file_vm/mmap", args: []string{"lat_mmap", "64m", "{file}"}, read: second},
		original{figure: "file_vm/protection_fault", args: []string{"lat_sig", "prot", "{file}"}, read: micro},
		original{figure: "file_vm/page_fault", args: []string{"lat_pagefault", "{file}"}, read: micro},
		original{figure: "local_bandwidth/pipe", args: []string{"bw_pipe"}, read: mega},
		original{figure: "local_bandwidth/af_unix", args: []string{"bw_unix"}, read: mega},
		original{figure: "local_bandwidth/tcp", args: []string{"bw_tcp", "-m", "65536", host}, server: []string{"bw_tcp", "-s"}, stop: []string{"bw_tcp", "-S", host}, read: second},
		original{figure: "local_bandwidth/file_reread", args: []string{"bw_file_rd", "64m", "io_only", "{file}"}, read: second},
		original{figure: "local_bandwidth/mmap_reread", args: []string{"bw_mmap_rd", "64m", "mmap_only", "{file}"}, read: second},
		original{figure: "local_bandwidth/bcopy_libc", row: "memmove, 32 MiB", args: []string{"bw_mem", "32m", "bcopy"}, read: second},
		original{figure: "local_bandwidth/bcopy_hand", row: "unrolled, 32 MiB", args: []string{"bw_mem", "32m", "fcp"}, read: second},
		original{figure: "local_bandwidth/memory_read", row: "unrolled, 64 MiB", args: []string{"bw_mem", "64m", "frd"}, read: second},
		original{figure: "local_bandwidth/memory_write", row: "unrolled, 64 MiB", args: []string{"bw_mem", "64m", "fwr"}, read: second},
		// Three repetitions of its 220 sizes take half a minute.
		original{figure: "memory_latency/main", row: "stride 128, 64 MiB", args: []string{"lat_mem_rd", "-N", "3", "64", "128"}, read: second},
	)
}

// micro reads "Simple read: 0.2947 microseconds", mega the same in MB/s.
func micro(out string) (float64, error) { return labelled(out, "microseconds") }
func mega(out string) (float64, error)  { return labelled(out, "MB/sec") }

func labelled(out, unit string) (float64, error) {
	m := regexp.MustCompile(`:\s*([0-9.]+)\s+` + regexp.QuoteMeta(unit)).FindStringSubmatch(out)
	if m == nil {
		return 0, unlike(out, "a line NAME: NUMBER "+unit)
	}
	return number(m[1])
}

// second reads the second number of the last line that has two: "67.11 8742.20".
func second(out string) (float64, error) {
	last := ""
	for l := range strings.Lines(out) {
		if w := strings.Fields(l); len(w) >= 2 && numeric(w[0]) && numeric(w[1]) {
			last = w[1]
		}
	}
	if last == "" {
		return 0, unlike(out, "a line of two numbers")
	}
	return number(last)
}

// line reads the line of lat_ctx that begins with a number of processes: "8 4.04".
func line(first string) func(string) (float64, error) {
	return func(out string) (float64, error) {
		for l := range strings.Lines(out) {
			if w := strings.Fields(l); len(w) == 2 && w[0] == first {
				return number(w[1])
			}
		}
		return 0, unlike(out, "a line "+first+" TIME")
	}
}

// perSecond reads a line of lat_fs, size, files, created and deleted a second, as µs.
func perSecond(size string, column int) func(string) (float64, error) {
	return func(out string) (float64, error) {
		for l := range strings.Lines(out) {
			if w := strings.Fields(l); len(w) == 4 && w[0] == size {
				v, err := number(w[column])
				return 1e6 / v, err
			}
		}
		return 0, unlike(out, "a line "+size+" FILES CREATED DELETED")
	}
}

func numeric(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 {
		return 0, fmt.Errorf("it printed %q, which is no figure", s)
	}
	return v, nil
}

// unlike is the error of an output that is not as expected; its last line says most.
func unlike(out, want string) error {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	if len(last) > 100 {
		last = last[:100] + "…"
	}
	return fmt.Errorf("it did not print %s, its last line is %q", want, last)
}
