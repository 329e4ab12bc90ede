package client

import "time"

// ConnectLimit is how long one connection may take, from the first SYN to the last
// monitored item. It is no part of Config: `reconnect` says for how long a lost connection
// is tried for anew, and 0 there means no second try, not no first one.
const ConnectLimit = 5 * time.Second

// silence is how long a server may owe an answer, at the least, before it counts as gone.
const silence = 5 * time.Second

// aliveEvery is how long nothing is heard, at the most, from a server that has no news.
const aliveEvery = 100 * time.Millisecond

// aliveCount is the MaxKeepAliveCount to ask for at a publishing interval.
func aliveCount(interval time.Duration) uint32 { return uint32(max(1, aliveEvery/interval)) }

// requestTimeout is how long a request may stay unanswered. The library has one limit for
// all, and a Publish request waits for its turn: each of those before it, and its own, for
// a publishing interval or, without news, for a keep-alive time (Part 4, 5.14.1.2).
func requestTimeout(publishRequests int, interval time.Duration, alive uint32) time.Duration {
	turn := max(interval, time.Duration(alive)*interval)
	return max(silence, time.Duration(publishRequests+1)*turn+time.Second)
}
