// Package sel4bench measures the Linux counterparts of the four figures that seL4 publishes:
// what it costs to be interrupted, to call a server, to answer, and to be notified. They are
// analogues, not seL4: Linux has no handler of interrupts in user space, and an IPC is two
// system calls.
//
// Both ends run on one CPU, in address spaces of their own (the peer is a clone of the
// probe), at SCHED_FIFO, and stamp the processor's counter into shared memory:
//
//   - IPC call: both at priority 50. From the client's stamp before its send to the
//     server's stamp after its receive: send, receive, block, switch, return. One way.
//   - IPC reply: from the server's stamp before its send to the client's after its receive.
//   - Notify: from the sender's stamp (priority 1) before its send to the stamp of the
//     waiter (priority 99), which preempts it.
//   - IRQ invoke: an ordinary spinner stamps for ever; a thread of priority 99 sleeps to the
//     next 10 ms. From the last stamp of the spinner to the sleeper's: timer interrupt,
//     wake-up, switch, return. The spinner is a thread of the same address space, as the
//     page has it, or another process.
//
// IPC and notify are measured over futex, eventfd and pipe; the headline is the mechanism
// with the least median, and of IRQ invoke the spinner of the same address space. The first
// 10 samples are left out; the least of 110 back-to-back reads of the counter is the
// overhead, subtracted from each sample, as in sel4bench. A sample whose end is not after
// its start means that nobody was preempted: the row is then n/a, and the run has failed if
// both ends had SCHED_FIFO. Without SCHED_FIFO there is no notify, and an IPC is the ordinary
// scheduler's, which wakes and switches by other rules: its rows say "not real-time".
//
// The spinner is an ordinary thread (nice -20), since the kernel limits the time of
// real-time ones: another thread may run in its place when the timer is due. A sample whose
// stamp is more than 10 µs older than that instant is left out and counted in its row, and
// another is taken in its place, for at most four times the instants.
//
// A row is unstable, and says so, when its 99th percentile is beyond three times its median
// or its standard deviation beyond half of its mean; minimum and median are then what can be
// compared. The rows of the form have the original's number of samples: 16 of an IPC, each
// the last of 16 rounds, and 100 notifications. Its IPC samples are of a new pair of processes
// each; ours are of one pair.
//
// The unit is that of the counter: TSC cycles are reference cycles, as in the x86 rows of
// the page; the ratio to core cycles is measured where the processor has a counter for it.
// On arm64 the counter is too coarse and the figures are ns.
//
// What the figures mean: on a virtual machine of 2.3 GHz the medians were 3,300 to 5,100 TSC
// cycles for an IPC, 6 to 13 times seL4's 380 to 600 on x86, and 2,900 to 4,100 for a
// notification, 2 to 6 times seL4's 753 to 1334. They contain the scheduler, two system
// calls where seL4 has one, and the kernel's mitigations; seL4's kernel path was made for
// this one thing. The suite can't tell these shares apart; its floor, a system call that does
// nothing, only shows the scale.
package sel4bench
