# opcycle, the plan single-node with Podman, rootless: everything works, nothing is real-time, and the result says so.
# The plan is of the machine that printed it: server 7,5, client 6, housekeeping 0-3.
mkdir -p /home/plc/opcycle

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
#     root inside is the calling user outside: the results are his
# --volume /home/plc/opcycle:/results:Z
#     the results; :Z gives the folder this container's own label (SELinux)
podman run \
  --rm --name opcycle \
  --hostname "$(uname -n)" \
  --network none \
  --no-healthcheck \
  --read-only \
  --security-opt no-new-privileges \
  --cap-drop all \
  --user 0:0 \
  --volume /home/plc/opcycle:/results:Z \
  localhost/opcycle:latest \
  run --server-cpus=7,5 --client-cpus=6
