//go:build linux

#include "textflag.h"

#define SYS_rt_sigprocmask 14
#define SYS_rt_sigreturn   15
#define SYS_close           3
#define SYS_clone          56
#define SYS_execve         59
#define SYS_exit_group    231

#define SIGCHLD 17

// A signal mask without a signal, and the count of countSignal.
DATA noSignals<>+0(SB)/8, $0
GLOBL noSignals<>(SB), RODATA|NOPTR, $8
GLOBL ·signalsHandled(SB), NOPTR, $8

// func rawClone() int
TEXT ·rawClone(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ $SIGCHLD, DI
	XORQ SI, SI
	XORQ DX, DX
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $SYS_clone, AX
	SYSCALL
	MOVQ AX, ret+0(FP)
	RET

// func cloneExit() int
TEXT ·cloneExit(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ  $SIGCHLD, DI
	XORQ  SI, SI
	XORQ  DX, DX
	XORQ  R10, R10
	XORQ  R8, R8
	MOVQ  $SYS_clone, AX
	SYSCALL
	TESTQ AX, AX
	JZ    child
	MOVQ  AX, ret+0(FP)
	RET

child:
	MOVQ $1, DI
	MOVQ $SYS_exit_group, AX
	SYSCALL
	INT  $3

// func cloneExec(flags uintptr, path *byte, argv, envp **byte) int
// The child writes nothing to memory: with CLONE_VM this stack is the parent's too.
TEXT ·cloneExec(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ  flags+0(FP), DI
	ORQ   $SIGCHLD, DI
	XORQ  SI, SI
	XORQ  DX, DX
	XORQ  R10, R10
	XORQ  R8, R8
	MOVQ  $SYS_clone, AX
	SYSCALL
	TESTQ AX, AX
	JZ    child
	MOVQ  AX, ret+32(FP)
	RET

child:
	MOVQ $2, DI // SIG_SETMASK
	LEAQ noSignals<>(SB), SI
	XORQ DX, DX
	MOVQ $8, R10
	MOVQ $SYS_rt_sigprocmask, AX
	SYSCALL
	MOVQ $1, DI
	MOVQ $SYS_close, AX
	SYSCALL
	MOVQ path+8(FP), DI
	MOVQ argv+16(FP), SI
	MOVQ envp+24(FP), DX
	MOVQ $SYS_execve, AX
	SYSCALL
	MOVQ $127, DI
	MOVQ $SYS_exit_group, AX
	SYSCALL
	INT  $3

// func countSignal()
// A handler by the C calling convention: it may change what the kernel has saved.
TEXT ·countSignal(SB), NOSPLIT|NOFRAME, $0-0
	INCQ ·signalsHandled(SB)
	RET

// func returnFromSignal()
TEXT ·returnFromSignal(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ $SYS_rt_sigreturn, AX
	SYSCALL
	INT  $3

// func handlerAddresses() (handler, restorer uintptr)
TEXT ·handlerAddresses(SB), NOSPLIT|NOFRAME, $0-16
	LEAQ ·countSignal(SB), AX
	MOVQ AX, handler+0(FP)
	LEAQ ·returnFromSignal(SB), AX
	MOVQ AX, restorer+8(FP)
	RET

// func signalCount() uint64
TEXT ·signalCount(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ ·signalsHandled(SB), AX
	MOVQ AX, ret+0(FP)
	RET
