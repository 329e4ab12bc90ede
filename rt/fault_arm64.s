//go:build linux

#include "textflag.h"

// The offset of the saved program counter from a handler's stack pointer: struct siginfo
// (128), then struct ucontext. Without SA_SIGINFO no register holds the context.
#define SAVED_PC (128+440)

GLOBL ·faultsSeen(SB), NOPTR, $8
GLOBL ·faultsWanted(SB), NOPTR, $8

// func storeFaulting(at uintptr, n uint64)
TEXT ·storeFaulting(SB), NOSPLIT|NOFRAME, $0-16
	MOVD at+0(FP), R0
	MOVD n+8(FP), R1
	MOVD $·faultsSeen(SB), R2
	MOVD ZR, (R2)
	MOVD $·faultsWanted(SB), R2
	MOVD R1, (R2)
	MOVD $1, R1
	MOVB R1, (R0)
	RET

// func faultsOver()
// Here the handler sends storeFaulting after the last fault: it returns to its caller.
TEXT ·faultsOver(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func onFault()
// A handler by the C calling convention.
TEXT ·onFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $·faultsSeen(SB), R1
	MOVD (R1), R2
	ADD  $1, R2
	MOVD R2, (R1)
	MOVD $·faultsWanted(SB), R1
	MOVD (R1), R3
	CMP  R3, R2
	BLO  again
	MOVD $·faultsOver(SB), R3
	MOVD R3, SAVED_PC(RSP)

again:
	RET

// func faultHandler() uintptr
TEXT ·faultHandler(SB), NOSPLIT|NOFRAME, $0-8
	MOVD $·onFault(SB), R0
	MOVD R0, ret+0(FP)
	RET

// func faultCount() uint64
TEXT ·faultCount(SB), NOSPLIT|NOFRAME, $0-8
	MOVD ·faultsSeen(SB), R0
	MOVD R0, ret+0(FP)
	RET
