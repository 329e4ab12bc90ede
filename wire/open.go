package wire

import (
	"bytes"
	"crypto/rand"
	"slices"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// nonceSize is SecureChannelNonceLength of the accepted policies (Part 7).
const nonceSize = 32

// openRequest is what counts of an OpenSecureChannelRequest (Part 4, 5.6.2).
type openRequest struct {
	id       uint32 // of the message
	handle   uint32
	protocol uint32
	kind     ua.SecurityTokenRequestType
	mode     ua.MessageSecurityMode
	nonce    []byte
	lifetime time.Duration
}

// decodeOpen reads the request by hand: the peer is nobody yet, and ua.DecodeService
// would build whatever its AdditionalHeader names. cold.
func decodeOpen(plain []byte) (openRequest, error) {
	b := ua.NewBuffer(plain[sequenceSize:])
	typeID, auth, extension := new(ua.NodeID), new(ua.NodeID), new(ua.NodeID)
	b.ReadStruct(typeID)
	if b.Error() != nil || typeID.Namespace() != 0 || typeID.IntID() != id.OpenSecureChannelRequest_Encoding_DefaultBinary {
		return openRequest{}, refuse(ua.StatusBadTCPMessageTypeInvalid, "OPN with a body that is no OpenSecureChannelRequest")
	}
	r := openRequest{id: u32(plain[4:])}
	b.ReadStruct(auth)
	b.ReadTime()
	r.handle = b.ReadUint32()
	b.ReadUint32() // diagnostics
	b.ReadString() // audit entry
	b.ReadUint32() // timeout
	b.ReadStruct(extension)
	if b.ReadByte() != ua.ExtensionObjectEmpty {
		b.ReadBytes()
	}
	r.protocol = b.ReadUint32()
	r.kind = ua.SecurityTokenRequestType(b.ReadUint32())
	r.mode = ua.MessageSecurityMode(b.ReadUint32())
	r.nonce = bytes.Clone(b.ReadBytes())
	r.lifetime = time.Duration(b.ReadUint32()) * time.Millisecond
	if b.Error() != nil {
		return openRequest{}, refuse(ua.StatusBadDecodingError, "OPN: %v", b.Error())
	}
	return r, nil
}

// unsealOpen checks everything of an OPN chunk that issue and renewal share. cold.
func (c *Channel) unsealOpen(chunk []byte, channel uint32) (openRequest, error) {
	h, err := parseOpenHeader(chunk)
	if err != nil {
		return openRequest{}, err
	}
	if chunk[3] != final {
		return openRequest{}, refuse(ua.StatusBadTCPMessageTypeInvalid, "OPN chunk of type %q: OPN is one final chunk", chunk[3])
	}
	if got := u32(chunk[channelOffset:]); got != channel {
		return openRequest{}, refuse(ua.StatusBadTCPSecureChannelUnknown, "OPN for channel %d: this connection has %d", got, channel)
	}
	if channel == 0 {
		err = c.introduce(h)
	} else if h.policy != c.security.PolicyURI || (c.asymmetric != nil && !bytes.Equal(h.certificate, c.client)) {
		err = refuse(ua.StatusBadSecurityChecksFailed, "renewal with another policy or certificate than the channel's")
	}
	if err != nil {
		return openRequest{}, err
	}
	plain, err := c.asymmetric.open(chunk, h.end)
	if err != nil {
		return openRequest{}, err
	}
	if len(plain) < sequenceSize {
		return openRequest{}, refuse(ua.StatusBadTCPMessageTypeInvalid, "OPN without a sequence header")
	}
	if err := c.from.step(u32(plain), channel == 0); err != nil {
		return openRequest{}, err
	}
	return decodeOpen(plain)
}

// introduce takes the policy and the certificate of the first OPN, or refuses them. cold.
func (c *Channel) introduce(h openHeader) error {
	if !slices.ContainsFunc(c.cfg.Security, func(s Security) bool { return s.PolicyURI == h.policy }) {
		return refuse(ua.StatusBadSecurityPolicyRejected, "policy %q is not offered", h.policy)
	}
	c.security.PolicyURI = h.policy
	if h.policy == ua.SecurityPolicyURINone {
		return nil
	}
	if c.cfg.VerifyClient != nil {
		if err := c.cfg.VerifyClient(h.certificate); err != nil {
			return refuse(statusOf(err, ua.StatusBadCertificateUntrusted), "client certificate: %v", err)
		}
	}
	var err error
	if c.asymmetric, err = newAsymmetric(c.cfg, h); err != nil {
		return err
	}
	c.client = c.asymmetric.theirs
	return nil
}

// issue answers the first OPN. cold.
func (c *Channel) issue(chunk []byte) error {
	r, err := c.unsealOpen(chunk, 0)
	if err != nil {
		return err
	}
	if r.kind != ua.SecurityTokenRequestTypeIssue {
		return refuse(ua.StatusBadRequestTypeInvalid, "first OPN of type %v: expected Issue", r.kind)
	}
	c.security.Mode = r.mode
	if !slices.Contains(c.cfg.Security, c.security) {
		return refuse(ua.StatusBadSecurityModeRejected, "mode %v is not offered with %s", r.mode, c.security.PolicyURI)
	}
	return c.grant(r)
}

// renew answers a later OPN. cold.
func (c *Channel) renew(chunk []byte) error {
	r, err := c.unsealOpen(chunk, c.cfg.ChannelID)
	if err != nil {
		return err
	}
	if r.kind != ua.SecurityTokenRequestTypeRenew {
		return refuse(ua.StatusBadRequestTypeInvalid, "OPN of type %v on an open channel: expected Renew", r.kind)
	}
	if r.mode != c.security.Mode {
		return refuse(ua.StatusBadSecurityModeRejected, "renewal with mode %v: the channel has %v", r.mode, c.security.Mode)
	}
	if err := c.grant(r); err != nil {
		return err
	}
	c.count.renewals.Add(1)
	return nil
}

// grant makes a token, sends the response and registers its keys: for receiving at
// once, for sending from the first message that the client secures with it
// (Part 4, 5.6.2.1). cold.
func (c *Channel) grant(r openRequest) error {
	if c.asymmetric != nil && len(r.nonce) != nonceSize {
		return refuse(ua.StatusBadNonceInvalid, "client nonce of %d bytes: the policy wants %d", len(r.nonce), nonceSize)
	}
	var nonce []byte
	if c.asymmetric != nil {
		nonce = make([]byte, nonceSize)
		rand.Read(nonce) // never fails
	}
	open, err := derive(c.security, nonce, r.nonce, false)
	if err != nil {
		return err
	}
	seal, err := derive(c.security, r.nonce, nonce, true)
	if err != nil {
		return err
	}
	life := min(max(r.lifetime, c.cfg.MinLifetime), c.cfg.MaxLifetime)
	if r.lifetime == 0 {
		life = c.cfg.MaxLifetime
	}
	t := &token{id: c.from.nextToken(c.cfg.ChannelID), created: time.Now(), life: life, open: open, seal: seal}
	body, err := t.response(c.cfg.ChannelID, r.handle, nonce)
	if err != nil {
		return err
	}
	return c.sendOpen(r.id, body, t)
}

// response encodes the OpenSecureChannelResponse. cold.
func (t *token) response(channel, handle uint32, nonce []byte) ([]byte, error) {
	body, err := ua.Encode(&ua.OpenSecureChannelResponse{
		ResponseHeader: &ua.ResponseHeader{
			Timestamp:          t.created,
			RequestHandle:      handle,
			ServiceDiagnostics: &ua.DiagnosticInfo{},
			AdditionalHeader:   ua.NewExtensionObject(nil),
		},
		SecurityToken: &ua.ChannelSecurityToken{
			ChannelID: channel, TokenID: t.id, CreatedAt: t.created,
			RevisedLifetime: uint32(t.life / time.Millisecond),
		},
		ServerNonce: nonce,
	})
	const typeID = id.OpenSecureChannelResponse_Encoding_DefaultBinary
	return append([]byte{1, 0, typeID & 0xff, typeID >> 8}, body...), err
}
