#include "textflag.h"

// Each kernel goes through memory in blocks of 512 bytes (sumWords: 1024) with the block
// unrolled and a sum in a register of the block's own: a single one would make every
// addition wait for the one before, from block to block.

#define SUM4(o) ADDL (o)(SI), AX; ADDL (o+4)(SI), AX; ADDL (o+8)(SI), AX; ADDL (o+12)(SI), AX
#define SUM16(o) SUM4(o); SUM4(o+16); SUM4(o+32); SUM4(o+48)
#define SUM64(o) SUM16(o); SUM16(o+64); SUM16(o+128); SUM16(o+192)

// func sumInts(p *byte, blocks int) uint32
TEXT ·sumInts(SB), NOSPLIT|NOFRAME, $0-20
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	XORL DX, DX
	JMP  test

	PCALIGN $32
loop:
	XORL AX, AX
	SUM64(0)
	SUM64(256)
	ADDL AX, DX
	ADDQ $512, SI
	DECQ CX

test:
	TESTQ CX, CX
	JG    loop
	MOVL  DX, ret+16(FP)
	RET

#define PART4(o) ADDL (o)(SI), AX; ADDL (o+16)(SI), AX; ADDL (o+32)(SI), AX; ADDL (o+48)(SI), AX
#define PART16(o) PART4(o); PART4(o+64); PART4(o+128); PART4(o+192)

// func sumFourths(p *byte, blocks int) uint32
TEXT ·sumFourths(SB), NOSPLIT|NOFRAME, $0-20
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	XORL DX, DX
	JMP  test

	PCALIGN $32
loop:
	XORL AX, AX
	PART16(0)
	PART16(256)
	ADDL AX, DX
	ADDQ $512, SI
	DECQ CX

test:
	TESTQ CX, CX
	JG    loop
	MOVL  DX, ret+16(FP)
	RET

#define WORD4(o) ADDQ (o)(SI), AX; ADDQ (o+8)(SI), AX; ADDQ (o+16)(SI), AX; ADDQ (o+24)(SI), AX
#define WORD16(o) WORD4(o); WORD4(o+32); WORD4(o+64); WORD4(o+96)
#define WORD64(o) WORD16(o); WORD16(o+128); WORD16(o+256); WORD16(o+384)

// func sumWords(p *byte, blocks int) uint64
TEXT ·sumWords(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	XORL DX, DX
	JMP  test

	PCALIGN $32
loop:
	XORL AX, AX
	WORD64(0)
	WORD64(512)
	ADDQ AX, DX
	ADDQ $1024, SI
	DECQ CX

test:
	TESTQ CX, CX
	JG    loop
	MOVQ  DX, ret+16(FP)
	RET

#define WIDE4(o) VPADDD (o)(SI), Y0, Y0; VPADDD (o+32)(SI), Y1, Y1; VPADDD (o+64)(SI), Y2, Y2; VPADDD (o+96)(SI), Y3, Y3

// func sumWide(p *byte, blocks int) uint32
TEXT ·sumWide(SB), NOSPLIT|NOFRAME, $0-20
	MOVQ  p+0(FP), SI
	MOVQ  blocks+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	JMP   test

	PCALIGN $32
loop:
	WIDE4(0)
	WIDE4(128)
	WIDE4(256)
	WIDE4(384)
	ADDQ $512, SI
	DECQ CX

test:
	TESTQ        CX, CX
	JG           loop
	VPADDD       Y1, Y0, Y0
	VPADDD       Y3, Y2, Y2
	VPADDD       Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VZEROUPPER
	MOVL         X0, ret+16(FP)
	RET

#define PUT4(o) MOVL AX, (o)(DI); MOVL AX, (o+4)(DI); MOVL AX, (o+8)(DI); MOVL AX, (o+12)(DI)
#define PUT16(o) PUT4(o); PUT4(o+16); PUT4(o+32); PUT4(o+48)
#define PUT64(o) PUT16(o); PUT16(o+64); PUT16(o+128); PUT16(o+192)

// func storeInts(p *byte, blocks int, value uint32)
TEXT ·storeInts(SB), NOSPLIT|NOFRAME, $0-20
	MOVQ p+0(FP), DI
	MOVQ blocks+8(FP), CX
	MOVL value+16(FP), AX
	JMP  test

	PCALIGN $32
loop:
	PUT64(0)
	PUT64(256)
	ADDQ $512, DI
	DECQ CX

test:
	TESTQ CX, CX
	JG    loop
	RET

#define COPY4(o) MOVL (o)(SI), AX; MOVL AX, (o)(DI); MOVL (o+4)(SI), BX; MOVL BX, (o+4)(DI); MOVL (o+8)(SI), DX; MOVL DX, (o+8)(DI); MOVL (o+12)(SI), R8; MOVL R8, (o+12)(DI)
#define COPY16(o) COPY4(o); COPY4(o+16); COPY4(o+32); COPY4(o+48)
#define COPY64(o) COPY16(o); COPY16(o+64); COPY16(o+128); COPY16(o+192)

// func copyInts(to, from *byte, blocks int)
TEXT ·copyInts(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ to+0(FP), DI
	MOVQ from+8(FP), SI
	MOVQ blocks+16(FP), CX
	JMP  test

	PCALIGN $32
loop:
	COPY64(0)
	COPY64(256)
	ADDQ $512, SI
	ADDQ $512, DI
	DECQ CX

test:
	TESTQ CX, CX
	JG    loop
	RET

// func copyString(to, from *byte, bytes int)
TEXT ·copyString(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ to+0(FP), DI
	MOVQ from+8(FP), SI
	MOVQ bytes+16(FP), CX
	CLD
	REP
	MOVSB
	RET
