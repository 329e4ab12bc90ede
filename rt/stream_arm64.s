#include "textflag.h"

// Each kernel goes through memory in blocks of 512 bytes (sumWords: 1024) with the block
// unrolled and a sum in a register of the block's own: a single one would make every
// addition wait for the one before, from block to block.

#define SUM4(o) MOVWU (o)(R0), R4; MOVWU (o+4)(R0), R5; MOVWU (o+8)(R0), R6; MOVWU (o+12)(R0), R7; ADDW R4, R3; ADDW R5, R3; ADDW R6, R3; ADDW R7, R3
#define SUM16(o) SUM4(o); SUM4(o+16); SUM4(o+32); SUM4(o+48)
#define SUM64(o) SUM16(o); SUM16(o+64); SUM16(o+128); SUM16(o+192)

// func sumInts(p *byte, blocks int) uint32
TEXT ·sumInts(SB), NOSPLIT|NOFRAME, $0-20
	MOVD p+0(FP), R0
	MOVD blocks+8(FP), R1
	MOVW ZR, R2
	CMP  $0, R1
	BLE  done

loop:
	MOVW ZR, R3
	SUM64(0)
	SUM64(256)
	ADDW R3, R2
	ADD  $512, R0
	SUBS $1, R1
	BNE  loop

done:
	MOVW R2, ret+16(FP)
	RET

#define PART4(o) MOVWU (o)(R0), R4; MOVWU (o+16)(R0), R5; MOVWU (o+32)(R0), R6; MOVWU (o+48)(R0), R7; ADDW R4, R3; ADDW R5, R3; ADDW R6, R3; ADDW R7, R3
#define PART16(o) PART4(o); PART4(o+64); PART4(o+128); PART4(o+192)

// func sumFourths(p *byte, blocks int) uint32
TEXT ·sumFourths(SB), NOSPLIT|NOFRAME, $0-20
	MOVD p+0(FP), R0
	MOVD blocks+8(FP), R1
	MOVW ZR, R2
	CMP  $0, R1
	BLE  done

loop:
	MOVW ZR, R3
	PART16(0)
	PART16(256)
	ADDW R3, R2
	ADD  $512, R0
	SUBS $1, R1
	BNE  loop

done:
	MOVW R2, ret+16(FP)
	RET

#define WORD4(o) MOVD (o)(R0), R4; MOVD (o+8)(R0), R5; MOVD (o+16)(R0), R6; MOVD (o+24)(R0), R7; ADD R4, R3; ADD R5, R3; ADD R6, R3; ADD R7, R3
#define WORD16(o) WORD4(o); WORD4(o+32); WORD4(o+64); WORD4(o+96)
#define WORD64(o) WORD16(o); WORD16(o+128); WORD16(o+256); WORD16(o+384)

// func sumWords(p *byte, blocks int) uint64
TEXT ·sumWords(SB), NOSPLIT|NOFRAME, $0-24
	MOVD p+0(FP), R0
	MOVD blocks+8(FP), R1
	MOVD ZR, R2
	CMP  $0, R1
	BLE  done

loop:
	MOVD ZR, R3
	WORD64(0)
	WORD64(512)
	ADD  R3, R2
	ADD  $1024, R0
	SUBS $1, R1
	BNE  loop

done:
	MOVD R2, ret+16(FP)
	RET

#define PUT4(o) MOVW R2, (o)(R0); MOVW R2, (o+4)(R0); MOVW R2, (o+8)(R0); MOVW R2, (o+12)(R0)
#define PUT16(o) PUT4(o); PUT4(o+16); PUT4(o+32); PUT4(o+48)
#define PUT64(o) PUT16(o); PUT16(o+64); PUT16(o+128); PUT16(o+192)

// func storeInts(p *byte, blocks int, value uint32)
TEXT ·storeInts(SB), NOSPLIT|NOFRAME, $0-20
	MOVD  p+0(FP), R0
	MOVD  blocks+8(FP), R1
	MOVWU value+16(FP), R2
	CMP   $0, R1
	BLE   done

loop:
	PUT64(0)
	PUT64(256)
	ADD  $512, R0
	SUBS $1, R1
	BNE  loop

done:
	RET

#define COPY4(o) MOVWU (o)(R1), R4; MOVW R4, (o)(R0); MOVWU (o+4)(R1), R5; MOVW R5, (o+4)(R0); MOVWU (o+8)(R1), R6; MOVW R6, (o+8)(R0); MOVWU (o+12)(R1), R7; MOVW R7, (o+12)(R0)
#define COPY16(o) COPY4(o); COPY4(o+16); COPY4(o+32); COPY4(o+48)
#define COPY64(o) COPY16(o); COPY16(o+64); COPY16(o+128); COPY16(o+192)

// func copyInts(to, from *byte, blocks int)
TEXT ·copyInts(SB), NOSPLIT|NOFRAME, $0-24
	MOVD to+0(FP), R0
	MOVD from+8(FP), R1
	MOVD blocks+16(FP), R2
	CMP  $0, R2
	BLE  done

loop:
	COPY64(0)
	COPY64(256)
	ADD  $512, R0
	ADD  $512, R1
	SUBS $1, R2
	BNE  loop

done:
	RET
