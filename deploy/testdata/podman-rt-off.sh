# opcycle, the plan single-node with Podman, as root, without real-time policy (rt: off).
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
#     root inside: the results' folder is root's
# --cpuset-cpus 0-3,5-7
#     the plan's CPUs, said here and nowhere else: server 5,7, client 6, housekeeping 0-3
# --volume '/home/plc/it'\''s mine.yaml:/profile/profile.yaml:ro,z'
#     the profile; :z lets both containers read it (SELinux)
# --volume /var/lib/opcycle:/results:Z
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
  --cpuset-cpus 0-3,5-7 \
  --volume '/home/plc/it'\''s mine.yaml:/profile/profile.yaml:ro,z' \
  --volume /var/lib/opcycle:/results:Z \
  localhost/opcycle:latest \
  run /profile/profile.yaml --server-cpus=7,5 --client-cpus=6
