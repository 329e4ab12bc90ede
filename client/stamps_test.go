package client

import (
	"encoding/binary"
	"slices"
	"testing"
)

// chunk is an MSG chunk of size bytes; kind is F (final) or C (more follow).
func chunk(kind byte, request uint32, size int) []byte {
	b := make([]byte, size)
	copy(b, "MSG")
	b[3] = kind
	binary.LittleEndian.PutUint32(b[4:], uint32(size))
	binary.LittleEndian.PutUint32(b[20:], request)
	return b
}

func TestStampsLook(t *testing.T) {
	type look struct {
		stamp  int64
		unread []byte
	}
	type want struct {
		stamp int64 // 0: none
		exact bool
	}
	short := chunk('F', 7, 24)
	binary.LittleEndian.PutUint32(short[4:], 8) // smaller than its header
	one, two := chunk('F', 1, 140), chunk('F', 2, 140)
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	for name, c := range map[string]struct {
		looks []look
		want  map[uint32]want
	}{
		"single":                  {[]look{{100, one}}, map[uint32]want{1: {100, true}, 2: {}}},
		"two in one look":         {[]look{{100, join(one, two)}}, map[uint32]want{1: {100, false}, 2: {100, true}}},
		"the second is partial":   {[]look{{100, join(one, two[:50])}}, map[uint32]want{1: {100, false}, 2: {}}},
		"only a part of a header": {[]look{{100, one[:20]}}, map[uint32]want{1: {}}},
		"partial, then whole":     {[]look{{100, one[:50]}, {101, one}}, map[uint32]want{1: {101, true}}},
		"several chunks":          {[]look{{100, join(chunk('C', 1, 8192), one)}}, map[uint32]want{1: {100, true}}},
		"first chunk only":        {[]look{{100, chunk('C', 1, 8192)}}, map[uint32]want{1: {}}},
		"last chunk later":        {[]look{{100, chunk('C', 1, 8192)}, {101, join(chunk('C', 1, 8192), one)}}, map[uint32]want{1: {101, true}}},
		"looked at again":         {[]look{{100, one}, {105, join(one, two)}}, map[uint32]want{1: {100, true}, 2: {105, true}}},
		"inside a message":        {[]look{{100, one[3:]}}, map[uint32]want{1: {}}},
		"another kind":            {[]look{{100, append([]byte("OPNF"), one[4:]...)}}, map[uint32]want{1: {}}},
		"nonsense size":           {[]look{{100, short}}, map[uint32]want{7: {}}},
		"slot used again":         {[]look{{100, one}, {101, chunk('F', 1+stampSlots, 140)}}, map[uint32]want{1: {}, 1 + stampSlots: {101, true}}},
		"request 0 is none":       {[]look{{100, chunk('F', 0, 140)}}, map[uint32]want{0: {}}},
		"nothing":                 {[]look{{100, nil}}, map[uint32]want{1: {}}},
		// A bound of an earlier look is the tighter one.
		"a bound is not loosened": {[]look{{100, join(one, two)}, {105, join(one, two, chunk('F', 3, 140))}},
			map[uint32]want{1: {100, false}, 2: {100, true}, 3: {105, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stamps{}
			for _, l := range c.looks {
				s.look(l.stamp, l.unread)
			}
			for request, w := range c.want {
				if stamp, exact := s.take(request); stamp != w.stamp || exact != w.exact {
					t.Errorf("request %d: %d, exact %v; not %d, %v", request, stamp, exact, w.stamp, w.exact)
				}
			}
		})
	}
}

func TestStampsLookAllocatesNothing(t *testing.T) {
	s := &stamps{}
	unread := slices.Concat(chunk('C', 1, 8192), chunk('F', 1, 140), chunk('F', 2, 140))
	if n := testing.AllocsPerRun(100, func() { s.look(1, unread) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
