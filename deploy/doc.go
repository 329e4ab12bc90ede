// Package deploy writes a plan as what starts it in containers: a podman command line,
// Quadlet units, Kubernetes objects. It is pure: plan in, text out; it looks at no machine
// and starts nothing.
//
// It refuses what one of these forms can't carry (a newline in a path, a blank in an image's
// name), privileges without a reason (every capability, device and mount has one, printed
// beside it; nothing is ever --privileged), and plans that would not be the same in the
// container as outside.
package deploy
