#include "textflag.h"

// func Cycles() int64
TEXT ·Cycles(SB), NOSPLIT|NOFRAME, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	ISB  $15
	MOVD R0, ret+0(FP)
	RET
