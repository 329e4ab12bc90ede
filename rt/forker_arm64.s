//go:build linux

#include "textflag.h"

// A program of its own, without a reference to anything outside: ForkerCode copies it. It
// starts with the stack that the kernel made: argc, argv, a zero, envp.
//
// R19 memory below the stack, R20 forks to do, R21 argc, R22 argv+1, R23 envp.
TEXT ·forker(SB), NOSPLIT|NOFRAME, $0-0
	MOVD RSP, R19
	MOVD (R19), R21
	ADD  $16, R19, R22
	ADD  R21<<3, R22, R23
	SUB  $64, R19

	// The memory of a small dynamic C program.
	MOVD $9, R20 // regions, two mappings each

region:
	MOVD ZR, R0
	MOVD $16384, R1
	MOVD $3, R2    // read, write
	MOVD $0x22, R3 // private, anonymous
	MOVD $-1, R4
	MOVD ZR, R5
	MOVD $222, R8  // mmap
	SVC
	CMN  $4096, R0
	BHI  done
	MOVD R0, (R0)
	ADD  $4096, R0
	MOVD R0, (R0)
	ADD  $4096, R0
	MOVD $8192, R1
	MOVD $1, R2    // read: a mapping of its own
	MOVD $226, R8  // mprotect
	SVC
	SUB  $1, R20
	CBNZ R20, region

order:
	MOVD ZR, R0
	MOVD R19, R1
	MOVD $8, R2
	MOVD $63, R8 // read
	SVC
	CMP  $8, R0
	BNE  done
	MOVD (R19), R20

next:
	MOVD $17, R0 // SIGCHLD
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $220, R8 // clone
	SVC
	CBZ  R0, child
	CMP  $0, R0
	BLT  failed
	ADD  $8, R19, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD $260, R8 // wait4
	SVC
	CMP  $0, R0
	BLT  failed
	MOVWU 8(R19), R0
	MOVD $0x100, R1
	CMP  $1, R21
	BEQ  expected
	MOVD ZR, R1

expected:
	CMP  R1, R0
	BNE  failed
	SUB  $1, R20
	CBNZ R20, next

answer:
	MOVD ZR, R0
	MOVD R19, R1
	MOVD $8, R2
	MOVD $64, R8 // write
	SVC
	CMP  $8, R0
	BEQ  order

done:
	MOVD ZR, R0
	MOVD $94, R8 // exit_group
	SVC

failed:
	MOVD $-1, R0
	MOVD R0, (R19)
	B    answer

child:
	MOVD $1, R0
	CMP  $1, R21
	BEQ  leave
	MOVD (R22), R0
	MOVD R22, R1
	MOVD R23, R2
	MOVD $221, R8 // execve
	SVC
	MOVD $127, R0

leave:
	MOVD $94, R8 // exit_group
	SVC
	BRK  $0

	// The end that ForkerCode looks for.
	WORD $0x6b726f66
	WORD $0x2e207265

// func forkerStart() *byte
TEXT ·forkerStart(SB), NOSPLIT|NOFRAME, $0-8
	MOVD $·forker(SB), R0
	MOVD R0, ret+0(FP)
	RET
