//go:build linux

#include "textflag.h"

// The offset of the saved program counter in the kernel's struct ucontext.
#define SAVED_PC 168

GLOBL ·faultsSeen(SB), NOPTR, $8
GLOBL ·faultsWanted(SB), NOPTR, $8

// func storeFaulting(at uintptr, n uint64)
TEXT ·storeFaulting(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ at+0(FP), DI
	MOVQ n+8(FP), AX
	MOVQ $0, ·faultsSeen(SB)
	MOVQ AX, ·faultsWanted(SB)
	MOVB $1, (DI)
	RET

// func faultsOver()
// Here the handler sends storeFaulting after the last fault: it returns to its caller.
TEXT ·faultsOver(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func onFault()
// A handler by the C calling convention. The kernel passes the context in the third
// register with and without SA_SIGINFO.
TEXT ·onFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ ·faultsSeen(SB), AX
	INCQ AX
	MOVQ AX, ·faultsSeen(SB)
	CMPQ AX, ·faultsWanted(SB)
	JCS  again
	LEAQ ·faultsOver(SB), AX
	MOVQ AX, SAVED_PC(DX)

again:
	RET

// func faultHandler() uintptr
TEXT ·faultHandler(SB), NOSPLIT|NOFRAME, $0-8
	LEAQ ·onFault(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func faultCount() uint64
TEXT ·faultCount(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ ·faultsSeen(SB), AX
	MOVQ AX, ret+0(FP)
	RET
