# opcycle, the plan single-node with Podman, as root, real-time.
# One of two hosts: the server waits on port 4840 of all addresses of this host for the plan that the client brings.
# It knows no users: open the port to the client's host only.
# The CPUs are of the machine that printed it: 7,5, housekeeping 0-3.

# --rm --name opcycle-server
#     the container is removed at its end; the result stays on the host
# --hostname "$(uname -n)"
#     the result carries the machine's name, not the container's
# --network host
#     the network of the host itself: its card is measured, not a bridge of Podman before it
# --no-healthcheck
#     a question every 30 s would take CPU time from what is measured
# --read-only
#     nothing is written but results
# --security-opt no-new-privileges
#     no program inside gains a privilege by being executed
# --cap-drop all
#     no capability but those below; not even root's own
# --user 0:0
#     root inside: /dev/cpu_dma_latency is root's (mode 600), and so is the results' folder
# --cap-add SYS_NICE
#     SCHED_FIFO: PLC thread 80, server 45
# --cap-add IPC_LOCK
#     memory is locked: a page fault in a cycle costs more than many a cycle has
# --ulimit=rtprio=80 --ulimit=memlock=-1
#     the same two where the container has a user namespace (userns=auto): there the kernel asks the limits
# --device /dev/cpu_dma_latency
#     C-states stay shallow. SELinux: as root, Podman makes the node anew inside, with the container's label; nothing to set
# --cpuset-cpus 0-3,5,7
#     the plan's CPUs, said here and nowhere else: server 5,7, housekeeping 0-3
podman run --detach \
  --rm --name opcycle-server \
  --hostname "$(uname -n)" \
  --network host \
  --no-healthcheck \
  --read-only \
  --security-opt no-new-privileges \
  --cap-drop all \
  --user 0:0 \
  --cap-add SYS_NICE \
  --cap-add IPC_LOCK \
  --ulimit=rtprio=80 --ulimit=memlock=-1 \
  --device /dev/cpu_dma_latency \
  --cpuset-cpus 0-3,5,7 \
  localhost/opcycle:latest \
  serve --listen=opc.tcp://0.0.0.0:4840 --rt=require --server-cpus=7,5
podman exec opcycle-server /opcycle health --wait 30s

# The server runs until it is told to end:
#   podman stop opcycle-server
