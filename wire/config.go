package wire

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"time"

	"github.com/gopcua/opcua/ua"
)

// minBuffer is the smallest chunk that every peer has to take (Part 6, 7.1.2.3).
const minBuffer = 8192

// Security is what an OpenSecureChannel request may ask for.
type Security struct {
	PolicyURI string
	Mode      ua.MessageSecurityMode
}

// Config says what a [Channel] accepts. A zero field takes the default that its
// comment names; everything else is used as it stands or refused by [Config.Validate].
type Config struct {
	// ChannelID is the SecureChannelId. The server gives every channel another one.
	// Token ids are numbered per channel and leave it out: gopcua's client v0.9.1
	// drops its live keys at 1.25 x the token's life when the two are equal.
	ChannelID uint32

	// Buffer is the largest chunk in bytes that we offer, either way; default 65535.
	// The ACK announces the smallest of it and both sizes of the client's HEL for
	// both directions: gopcua's client takes ReceiveBufSize as its own.
	Buffer uint32
	// MaxMessage bounds the body of a reassembled request in bytes; default 512 KiB.
	// NB: gopcua's decoder v0.9.1 has no limit of depth: a Variant nested a million times
	// (2 MiB) overflows the stack and ends the process beyond recover; 1 MiB does not.
	MaxMessage uint32
	// MaxChunks bounds the chunks of a request; default 512.
	MaxChunks uint32
	// Backlog bounds the bytes that may wait for a slow reader, and with them one
	// message of TrySend in sealed form; default 4 x Buffer, at least Buffer. A
	// second buffer of about this size takes what TrySend hands to the other sender.
	Backlog int

	// Security lists what may be asked for; no default.
	Security []Security
	// Certificate (DER) and Key are needed for policies other than None.
	Certificate []byte
	Key         *rsa.PrivateKey
	// VerifyClient judges the client's certificate (DER); nil takes every one whose
	// key fits the policy. An error that wraps a ua.StatusCode gives the peer that code.
	VerifyClient func(certificate []byte) error

	// SendNow writes what the kernel takes at once to the socket's descriptor, never
	// waits and never raises SIGPIPE. A full socket is n < len(p) with a nil error, [ErrWouldBlock] or
	// EAGAIN; every other error ends the channel.
	SendNow func(fd uintptr, p []byte) (n int, err error)

	// HelloTimeout bounds HEL and the first OPN together; default 5 s.
	HelloTimeout time.Duration
	// SendTimeout bounds how long Send waits for a reader; default 10 s. It then closes the channel.
	SendTimeout time.Duration
	// MinLifetime and MaxLifetime bound the life of a token; default 10 s and 1 h.
	MinLifetime, MaxLifetime time.Duration
}

// withDefaults fills zero fields. cold.
func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.HelloTimeout, 5*time.Second)
	def(&c.SendTimeout, 10*time.Second)
	def(&c.MinLifetime, 10*time.Second)
	def(&c.MaxLifetime, max(time.Hour, c.MinLifetime))
	if c.Buffer == 0 {
		c.Buffer = 65535
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = 512 << 10
	}
	if c.MaxChunks == 0 {
		c.MaxChunks = 512
	}
	if c.Backlog == 0 {
		c.Backlog = 4 * int(c.Buffer)
	}
	return c
}

// Validate names everything that [Accept] would refuse; defaults count as set. cold.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	complain := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("wire: "+format, args...))
		}
	}
	complain(c.ChannelID == 0, "channel id 0 means `none yet`: give every channel its own from 1")
	complain(c.Buffer < minBuffer || c.Buffer > 1<<24, "buffer %d: use %d to %d bytes", c.Buffer, minBuffer, 1<<24)
	complain(c.MaxMessage > 1<<30, "message limit %d: use at most %d bytes", c.MaxMessage, 1<<30)
	complain(c.Backlog < int(c.Buffer), "backlog %d: it must hold one chunk of %d bytes", c.Backlog, c.Buffer)
	complain(c.SendNow == nil, "no SendNow: give a non-blocking write")
	complain(c.HelloTimeout < 0 || c.SendTimeout < 0, "negative timeout: use 0 for the default")
	complain(c.MinLifetime < time.Millisecond || c.MaxLifetime < c.MinLifetime || c.MaxLifetime > 24*time.Hour,
		"token life %v to %v: use 1 ms to 24 h, the smaller first", c.MinLifetime, c.MaxLifetime)
	complain(len(c.Security) == 0, "no security: list at least one policy and mode")
	for _, s := range c.Security {
		if err := s.validate(); err != nil {
			errs = append(errs, err)
			continue
		}
		complain(s.PolicyURI != ua.SecurityPolicyURINone && (len(c.Certificate) == 0 || c.Key == nil),
			"policy %s needs a certificate and its key", s.PolicyURI)
	}
	return errors.Join(errs...)
}

// validate refuses deprecated policies and modes that do not fit. cold.
func (s Security) validate() error {
	switch s.PolicyURI {
	case ua.SecurityPolicyURINone:
		if s.Mode == ua.MessageSecurityModeNone {
			return nil
		}
	case ua.SecurityPolicyURIBasic256Sha256, ua.SecurityPolicyURIAes128Sha256RsaOaep, ua.SecurityPolicyURIAes256Sha256RsaPss:
		if s.Mode == ua.MessageSecurityModeSign || s.Mode == ua.MessageSecurityModeSignAndEncrypt {
			return nil
		}
	default:
		return fmt.Errorf("wire: policy %q is deprecated or unknown: use None, Basic256Sha256, Aes128_Sha256_RsaOaep or Aes256_Sha256_RsaPss", s.PolicyURI)
	}
	return fmt.Errorf("wire: policy %s does not go with mode %v: None goes with None, the others with Sign or SignAndEncrypt", s.PolicyURI, s.Mode)
}
