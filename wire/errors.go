package wire

import (
	"fmt"

	"github.com/gopcua/opcua/ua"
)

// condition is an error without particulars: a constant, so that a hot function can return it.
type condition string

func (c condition) Error() string { return string(c) }

const (
	// ErrClosed: the channel was closed on our side; drop it and accept the client's next one.
	ErrClosed = condition("wire: the channel is closed; the client has to connect again")
	// ErrWouldBlock may be returned by [Config.SendNow] for a full socket.
	ErrWouldBlock = condition("wire: the socket takes no more at the moment")
	// ErrSlow: the client took too long to read; the channel is closed.
	ErrSlow = condition("wire: the client did not read for the send timeout; the channel is closed")
	// ErrTooLarge: the body exceeds [Channel.MaxBody] or [Channel.MaxTryBody]; answer in parts or with Bad_ResponseTooLarge.
	ErrTooLarge = condition("wire: the message exceeds what the client or the backlog takes; send it in parts or answer with Bad_ResponseTooLarge")
)

// Error is a violation that ended the channel, with the status that the peer was
// told. errors.Is finds the status.
type Error struct {
	Status ua.StatusCode
	What   string // what was expected and what came
	Peer   bool   // the peer sent this ERR to us
}

func (e *Error) Error() string {
	if e.Peer {
		return fmt.Sprintf("wire: the peer ended the connection: %s (%v)", e.What, e.Status)
	}
	return fmt.Sprintf("wire: %s (told the peer %v)", e.What, e.Status)
}

// Unwrap makes errors.Is(err, ua.StatusBad...) work.
func (e *Error) Unwrap() error { return e.Status }

// refuse builds an Error. cold: it allocates, once per connection.
func refuse(status ua.StatusCode, format string, args ...any) *Error {
	return &Error{Status: status, What: fmt.Sprintf(format, args...)}
}
