#include "textflag.h"

// func Cycles() int64
TEXT ·Cycles(SB), NOSPLIT|NOFRAME, $0-8
	LFENCE
	RDTSC
	LFENCE
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
