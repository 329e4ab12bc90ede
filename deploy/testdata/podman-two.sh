# opcycle, the plan single-node with Podman, as root, real-time.
# The plan is of the machine that printed it: server 7,5, client 6, housekeeping 0-3.
mkdir -p /var/lib/opcycle
podman network exists opcycle || podman network create opcycle

# --rm --name opcycle-server
#     the container is removed at its end; the result stays on the host
# --hostname "$(uname -n)"
#     the result carries the machine's name, not the container's
# --network opcycle
#     server and client meet here; no port is open on the host
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
  --network opcycle \
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
  serve --listen=opc.tcp://0.0.0.0:4840 --server-cpus=7,5
podman exec opcycle-server /opcycle health --wait 30s

# --rm --name opcycle-client
#     the container is removed at its end; the result stays on the host
# --hostname "$(uname -n)"
#     the result carries the machine's name, not the container's
# --network opcycle
#     server and client meet here; no port is open on the host
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
#     SCHED_FIFO: client 48
# --cap-add IPC_LOCK
#     memory is locked: a page fault in a cycle costs more than many a cycle has
# --ulimit=rtprio=80 --ulimit=memlock=-1
#     the same two where the container has a user namespace (userns=auto): there the kernel asks the limits
# --device /dev/cpu_dma_latency
#     C-states stay shallow. SELinux: as root, Podman makes the node anew inside, with the container's label; nothing to set
# --cpuset-cpus 0-3,6
#     the plan's CPUs, said here and nowhere else: client 6, housekeeping 0-3
# --volume /var/lib/opcycle:/results:Z
#     the results; :Z gives the folder this container's own label (SELinux)
podman run \
  --rm --name opcycle-client \
  --hostname "$(uname -n)" \
  --network opcycle \
  --no-healthcheck \
  --read-only \
  --security-opt no-new-privileges \
  --cap-drop all \
  --user 0:0 \
  --cap-add SYS_NICE \
  --cap-add IPC_LOCK \
  --ulimit=rtprio=80 --ulimit=memlock=-1 \
  --device /dev/cpu_dma_latency \
  --cpuset-cpus 0-3,6 \
  --volume /var/lib/opcycle:/results:Z \
  localhost/opcycle:latest \
  measure opc.tcp://opcycle-server:4840 --client-cpus=6

# The server runs until it is told to end:
#   podman stop opcycle-server
