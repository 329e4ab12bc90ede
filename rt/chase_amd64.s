#include "textflag.h"

#define LOAD10 MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX; MOVQ (AX), AX

// func Chase(at uintptr, hundreds int64) uintptr
TEXT ·Chase(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ at+0(FP), AX
	MOVQ hundreds+8(FP), CX
	JMP  test

	PCALIGN $32
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
	DECQ CX

test:
	TESTQ CX, CX
	JG    loop
	MOVQ  AX, ret+16(FP)
	RET

// func LoadBytes(at uintptr, offsets []uint64) uint64
TEXT ·LoadBytes(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ at+0(FP), SI
	MOVQ offsets_base+8(FP), DI
	MOVQ offsets_len+16(FP), CX
	XORL AX, AX
	JMP  test

	PCALIGN $32
loop:
	MOVQ    (DI), DX
	MOVBQZX (SI)(DX*1), BX
	ADDQ    BX, AX
	ADDQ    $8, DI
	DECQ    CX

test:
	TESTQ CX, CX
	JG    loop
	MOVQ  AX, ret+32(FP)
	RET

// func StoreBytes(at, length, stride uintptr, value byte)
TEXT ·StoreBytes(SB), NOSPLIT|NOFRAME, $0-25
	MOVQ at+0(FP), DI
	MOVQ length+8(FP), CX
	MOVQ stride+16(FP), DX
	MOVB value+24(FP), AX
	ADDQ DI, CX
	JMP  test

	PCALIGN $32
loop:
	MOVB AX, (DI)
	ADDQ DX, DI

test:
	CMPQ DI, CX
	JCS  loop
	RET
