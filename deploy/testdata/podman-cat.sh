# opcycle, the plan single-node with Podman, as root, real-time.
# The plan is of the machine that printed it: server 7,5, client 6, housekeeping 0-3.
mkdir -p /var/lib/opcycle

# --rm --name opcycle
#     the container is removed at its end; the result stays on the host
# --hostname "$(uname -n)"
#     the result carries the machine's name, not the container's
# --network none
#     server and client talk over the loopback inside
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
#     SCHED_FIFO: PLC thread 80, server 45, client 48
# --cap-add IPC_LOCK
#     memory is locked: a page fault in a cycle costs more than many a cycle has
# --ulimit=rtprio=80 --ulimit=memlock=-1
#     the same two where the container has a user namespace (userns=auto): there the kernel asks the limits
# --device /dev/cpu_dma_latency
#     C-states stay shallow. SELinux: as root, Podman makes the node anew inside, with the container's label; nothing to set
# --cpuset-cpus 0-3,5-7
#     the plan's CPUs, said here and nowhere else: server 5,7, client 6, housekeeping 0-3
# --volume '/home/plc/it'\''s mine.yaml:/profile/profile.yaml:ro,z'
#     the profile; :z lets both containers read it (SELinux)
# --volume /var/lib/opcycle:/results:Z
#     the results; :Z gives the folder this container's own label (SELinux)
# --volume /sys/fs/resctrl:/sys/fs/resctrl
#     cache allocation: opcycle makes two groups of its own in it, and removes them; mounted on the host (mount -t resctrl resctrl /sys/fs/resctrl). Never :z or :Z
# --security-opt label=disable
#     SELinux: resctrl has the label of the kernel's own file systems, which no container type may write to, and no boolean allows
podman run \
  --rm --name opcycle \
  --hostname "$(uname -n)" \
  --network none \
  --no-healthcheck \
  --read-only \
  --security-opt no-new-privileges \
  --cap-drop all \
  --user 0:0 \
  --cap-add SYS_NICE \
  --cap-add IPC_LOCK \
  --ulimit=rtprio=80 --ulimit=memlock=-1 \
  --device /dev/cpu_dma_latency \
  --cpuset-cpus 0-3,5-7 \
  --volume '/home/plc/it'\''s mine.yaml:/profile/profile.yaml:ro,z' \
  --volume /var/lib/opcycle:/results:Z \
  --volume /sys/fs/resctrl:/sys/fs/resctrl \
  --security-opt label=disable \
  localhost/opcycle:latest \
  run /profile/profile.yaml --server-cpus=7,5 --client-cpus=6
