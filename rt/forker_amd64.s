//go:build linux

#include "textflag.h"

// A program of its own, without a reference to anything outside: ForkerCode copies it. It
// starts with the stack that the kernel made: argc, argv, a zero, envp.
//
// BX memory below the stack, R12 forks to do, R13 argc, R14 argv+1, R15 envp.
TEXT ·forker(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ SP, BX
	MOVQ (BX), R13
	LEAQ 16(BX), R14
	LEAQ 16(BX)(R13*8), R15
	SUBQ $64, BX

	// The memory of a small dynamic C program.
	MOVQ $9, R12 // regions, two mappings each

region:
	XORQ DI, DI
	MOVQ $16384, SI
	MOVQ $3, DX    // read, write
	MOVQ $0x22, R10 // private, anonymous
	MOVQ $-1, R8
	XORQ R9, R9
	MOVQ $9, AX    // mmap
	SYSCALL
	TESTQ AX, AX
	JL   done
	MOVQ AX, DI
	MOVQ DI, (DI)
	MOVQ DI, 4096(DI)
	ADDQ $8192, DI
	MOVQ $8192, SI
	MOVQ $1, DX    // read: a mapping of its own
	MOVQ $10, AX   // mprotect
	SYSCALL
	DECQ R12
	JNZ  region

order:
	XORQ DI, DI
	MOVQ BX, SI
	MOVQ $8, DX
	XORQ AX, AX // read
	SYSCALL
	CMPQ AX, $8
	JNE  done
	MOVQ (BX), R12

next:
	MOVQ  $17, DI // SIGCHLD
	XORQ  SI, SI
	XORQ  DX, DX
	XORQ  R10, R10
	XORQ  R8, R8
	MOVQ  $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JZ    child
	JL    failed
	MOVQ  AX, DI
	LEAQ  8(BX), SI
	XORQ  DX, DX
	XORQ  R10, R10
	MOVQ  $61, AX // wait4
	SYSCALL
	TESTQ AX, AX
	JL    failed
	MOVL  8(BX), AX
	MOVQ  $0x100, CX
	CMPQ  R13, $1
	JEQ   expected
	XORQ  CX, CX

expected:
	CMPL AX, CX
	JNE  failed
	DECQ R12
	JNZ  next

answer:
	XORQ DI, DI
	MOVQ BX, SI
	MOVQ $8, DX
	MOVQ $1, AX // write
	SYSCALL
	CMPQ AX, $8
	JEQ  order

done:
	XORQ DI, DI
	MOVQ $231, AX // exit_group
	SYSCALL

failed:
	MOVQ $-1, AX
	MOVQ AX, (BX)
	JMP  answer

child:
	MOVQ $1, DI
	CMPQ R13, $1
	JEQ  leave
	MOVQ (R14), DI
	MOVQ R14, SI
	MOVQ R15, DX
	MOVQ $59, AX // execve
	SYSCALL
	MOVQ $127, DI

leave:
	MOVQ $231, AX // exit_group
	SYSCALL
	INT  $3

	// The end that ForkerCode looks for.
	BYTE $0x66
	BYTE $0x6f
	BYTE $0x72
	BYTE $0x6b
	BYTE $0x65
	BYTE $0x72
	BYTE $0x20
	BYTE $0x2e

// func forkerStart() *byte
TEXT ·forkerStart(SB), NOSPLIT|NOFRAME, $0-8
	LEAQ ·forker(SB), AX
	MOVQ AX, ret+0(FP)
	RET
