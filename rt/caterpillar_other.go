//go:build !amd64 && !arm64

package rt

func caterpillarSteps() (a, b, c, d uintptr) { return 0, 0, 0, 0 }

func caterpillarWalk(node *CaterpillarNode, n int64) *CaterpillarNode { return node }
