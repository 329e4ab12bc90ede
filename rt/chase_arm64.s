#include "textflag.h"

#define LOAD10 MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0; MOVD (R0), R0

// func Chase(at uintptr, hundreds int64) uintptr
TEXT ·Chase(SB), NOSPLIT|NOFRAME, $0-24
	MOVD at+0(FP), R0
	MOVD hundreds+8(FP), R1
	CMP  $0, R1
	BLE  done

loop:
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	LOAD10
	SUBS $1, R1
	BNE  loop

done:
	MOVD R0, ret+16(FP)
	RET

// func LoadBytes(at uintptr, offsets []uint64) uint64
TEXT ·LoadBytes(SB), NOSPLIT|NOFRAME, $0-40
	MOVD at+0(FP), R0
	MOVD offsets_base+8(FP), R1
	MOVD offsets_len+16(FP), R2
	MOVD ZR, R3
	CMP  $0, R2
	BLE  done

loop:
	MOVD  (R1), R4
	MOVBU (R0)(R4), R5
	ADD   R5, R3
	ADD   $8, R1
	SUBS  $1, R2
	BNE   loop

done:
	MOVD R3, ret+32(FP)
	RET

// func StoreBytes(at, length, stride uintptr, value byte)
TEXT ·StoreBytes(SB), NOSPLIT|NOFRAME, $0-25
	MOVD  at+0(FP), R0
	MOVD  length+8(FP), R1
	MOVD  stride+16(FP), R2
	MOVBU value+24(FP), R3
	ADD   R0, R1

loop:
	CMP  R1, R0
	BHS  done
	MOVB R3, (R0)
	ADD  R2, R0
	B    loop

done:
	RET
