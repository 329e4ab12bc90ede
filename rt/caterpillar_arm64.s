#include "textflag.h"

// A step: R0 is a node {function, next, value}; it changes the value in memory and leaves
// the next node in R0.
TEXT stepA<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD 16(R0), R2
	ADD  $1, R2
	MOVD R2, 16(R0)
	MOVD 8(R0), R0
	RET

TEXT stepB<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD 16(R0), R2
	ADD  $3, R2
	MOVD R2, 16(R0)
	MOVD 8(R0), R0
	RET

TEXT stepC<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD 16(R0), R2
	ADD  $5, R2
	MOVD R2, 16(R0)
	MOVD 8(R0), R0
	RET

TEXT stepD<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD 16(R0), R2
	ADD  $7, R2
	MOVD R2, 16(R0)
	MOVD 8(R0), R0
	RET

// func caterpillarSteps() (a, b, c, d uintptr)
TEXT ·caterpillarSteps(SB), NOSPLIT, $0-32
	MOVD $stepA<>(SB), R0
	MOVD R0, a+0(FP)
	MOVD $stepB<>(SB), R0
	MOVD R0, b+8(FP)
	MOVD $stepC<>(SB), R0
	MOVD R0, c+16(FP)
	MOVD $stepD<>(SB), R0
	MOVD R0, d+24(FP)
	RET

// func caterpillarWalk(node *CaterpillarNode, n int64) *CaterpillarNode
TEXT ·caterpillarWalk(SB), NOSPLIT, $16-24
	MOVD node+0(FP), R0
	MOVD n+8(FP), R1
loop:
	MOVD 0(R0), R3
	CALL (R3)
	SUBS $1, R1, R1
	BNE  loop
	MOVD R0, ret+16(FP)
	RET
