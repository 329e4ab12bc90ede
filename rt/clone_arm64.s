//go:build linux

#include "textflag.h"

#define SYS_rt_sigprocmask 135
#define SYS_close           57
#define SYS_clone          220
#define SYS_execve         221
#define SYS_exit_group      94

#define SIGCHLD 17

// A signal mask without a signal, and the count of countSignal.
DATA noSignals<>+0(SB)/8, $0
GLOBL noSignals<>(SB), RODATA|NOPTR, $8
GLOBL ·signalsHandled(SB), NOPTR, $8

// func rawClone() int
TEXT ·rawClone(SB), NOSPLIT|NOFRAME, $0-8
	MOVD $SIGCHLD, R0
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $SYS_clone, R8
	SVC
	MOVD R0, ret+0(FP)
	RET

// func cloneExit() int
TEXT ·cloneExit(SB), NOSPLIT|NOFRAME, $0-8
	MOVD $SIGCHLD, R0
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $SYS_clone, R8
	SVC
	CBZ  R0, child
	MOVD R0, ret+0(FP)
	RET

child:
	MOVD $1, R0
	MOVD $SYS_exit_group, R8
	SVC
	BRK  $0

// func cloneExec(flags uintptr, path *byte, argv, envp **byte) int
// The child writes nothing to memory: with CLONE_VM this stack is the parent's too.
TEXT ·cloneExec(SB), NOSPLIT|NOFRAME, $0-40
	MOVD flags+0(FP), R0
	ORR  $SIGCHLD, R0
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $SYS_clone, R8
	SVC
	CBZ  R0, child
	MOVD R0, ret+32(FP)
	RET

child:
	MOVD $2, R0 // SIG_SETMASK
	MOVD $noSignals<>(SB), R1
	MOVD ZR, R2
	MOVD $8, R3
	MOVD $SYS_rt_sigprocmask, R8
	SVC
	MOVD $1, R0
	MOVD $SYS_close, R8
	SVC
	MOVD path+8(FP), R0
	MOVD argv+16(FP), R1
	MOVD envp+24(FP), R2
	MOVD $SYS_execve, R8
	SVC
	MOVD $127, R0
	MOVD $SYS_exit_group, R8
	SVC
	BRK  $0

// func countSignal()
// A handler by the C calling convention; it returns to the kernel's own trampoline.
TEXT ·countSignal(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $·signalsHandled(SB), R1
	MOVD (R1), R2
	ADD  $1, R2
	MOVD R2, (R1)
	RET

// func handlerAddresses() (handler, restorer uintptr)
TEXT ·handlerAddresses(SB), NOSPLIT|NOFRAME, $0-16
	MOVD $·countSignal(SB), R0
	MOVD R0, handler+0(FP)
	MOVD ZR, restorer+8(FP)
	RET

// func signalCount() uint64
TEXT ·signalCount(SB), NOSPLIT|NOFRAME, $0-8
	MOVD ·signalsHandled(SB), R0
	MOVD R0, ret+0(FP)
	RET
