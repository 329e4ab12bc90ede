package rt

// caterpillarSteps are the addresses of the functions that nodes point to.
func caterpillarSteps() (a, b, c, d uintptr)

// caterpillarWalk calls the function of node, then of the node that it leads to, n times
// in all, and returns the node that comes next.
//
//go:noescape
func caterpillarWalk(node *CaterpillarNode, n int64) *CaterpillarNode
