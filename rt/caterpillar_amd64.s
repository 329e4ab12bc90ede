#include "textflag.h"

// A step: AX is a node {function, next, value}; it changes the value in memory and leaves
// the next node in AX.
TEXT stepA<>(SB), NOSPLIT|NOFRAME, $0-0
	ADDQ $1, 16(AX)
	MOVQ 8(AX), AX
	RET

TEXT stepB<>(SB), NOSPLIT|NOFRAME, $0-0
	ADDQ $3, 16(AX)
	MOVQ 8(AX), AX
	RET

TEXT stepC<>(SB), NOSPLIT|NOFRAME, $0-0
	ADDQ $5, 16(AX)
	MOVQ 8(AX), AX
	RET

TEXT stepD<>(SB), NOSPLIT|NOFRAME, $0-0
	ADDQ $7, 16(AX)
	MOVQ 8(AX), AX
	RET

// func caterpillarSteps() (a, b, c, d uintptr)
TEXT ·caterpillarSteps(SB), NOSPLIT, $0-32
	LEAQ stepA<>(SB), AX
	MOVQ AX, a+0(FP)
	LEAQ stepB<>(SB), AX
	MOVQ AX, b+8(FP)
	LEAQ stepC<>(SB), AX
	MOVQ AX, c+16(FP)
	LEAQ stepD<>(SB), AX
	MOVQ AX, d+24(FP)
	RET

// func caterpillarWalk(node *CaterpillarNode, n int64) *CaterpillarNode
TEXT ·caterpillarWalk(SB), NOSPLIT, $8-24
	MOVQ node+0(FP), AX
	MOVQ n+8(FP), BX
loop:
	MOVQ 0(AX), CX
	CALL CX
	DECQ BX
	JNZ  loop
	MOVQ AX, ret+16(FP)
	RET
