package lmbench

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// tinyText is what the tiny program writes.
const tinyText = "Hello world\n"

// tinyProgram is the smallest static program that does what the original's hello does: it
// writes tinyText to standard output and exits with status 0. Machine code by hand: no
// compiler, no loader and no libc is in the figure.
func tinyProgram() ([]byte, error) {
	switch runtime.GOARCH {
	case "amd64":
		return executable(append(tinyAMD64(), tinyText...))
	case "arm64":
		return executable(append(tinyARM64(), tinyText...))
	}
	return executable(nil)
}

// executable is code as a static ELF program of one segment, read and executed.
//
// https://man7.org/linux/man-pages/man5/elf.5.html
func executable(code []byte) ([]byte, error) {
	machine, ok := map[string]uint16{"amd64": 62, "arm64": 183}[runtime.GOARCH]
	if !ok || len(code) == 0 {
		return nil, fmt.Errorf("no machine code for %s", runtime.GOARCH)
	}
	const (
		base    = 0x400000
		head    = 64
		segment = 56
	)
	size := uint64(head + segment + len(code))
	le := binary.LittleEndian
	out := make([]byte, 0, size)
	out = append(out, 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	out = le.AppendUint16(out, 2) // an executable
	out = le.AppendUint16(out, machine)
	out = le.AppendUint32(out, 1)
	out = le.AppendUint64(out, base+head+segment) // entry
	out = le.AppendUint64(out, head)              // the program headers
	out = le.AppendUint64(out, 0)                 // no section
	out = le.AppendUint32(out, 0)
	for _, v := range []uint16{head, segment, 1, 0, 0, 0} {
		out = le.AppendUint16(out, v)
	}
	out = le.AppendUint32(out, 1) // load
	out = le.AppendUint32(out, 5) // read and execute
	for _, v := range []uint64{0, base, base, size, size, 0x1000} {
		out = le.AppendUint64(out, v)
	}
	return append(out, code...), nil
}

// tinyAMD64 is write(1, text, 12); exit(0). The text follows the code.
func tinyAMD64() []byte {
	return []byte{
		0xb8, 1, 0, 0, 0, // mov eax, 1 (write)
		0xbf, 1, 0, 0, 0, // mov edi, 1
		0x48, 0x8d, 0x35, 16, 0, 0, 0, // lea rsi, [rip+16]: behind the code
		0xba, byte(len(tinyText)), 0, 0, 0, // mov edx, 12
		0x0f, 0x05, // syscall
		0xb8, 60, 0, 0, 0, // mov eax, 60 (exit)
		0x31, 0xff, // xor edi, edi
		0x0f, 0x05, // syscall
	}
}

// tinyARM64 is the same.
func tinyARM64() []byte {
	var out []byte
	for _, word := range []uint32{
		0xd2800020,                            // mov x0, #1
		0x100000e1,                            // adr x1, .+28: behind the code
		0xd2800002 | uint32(len(tinyText))<<5, // mov x2, #12
		0xd2800808,                            // mov x8, #64 (write)
		0xd4000001,                            // svc #0
		0xd2800000,                            // mov x0, #0
		0xd2800ba8,                            // mov x8, #93 (exit)
		0xd4000001,                            // svc #0
	} {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	return out
}
