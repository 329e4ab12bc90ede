package wire

import (
	"bytes"
	"crypto/rsa"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// maxSealedOpen bounds the encrypted part of an OPN: every block of it costs one RSA
// operation, and a request with 4096-bit keys on both sides needs 1536 bytes.
const maxSealedOpen = 4096

// asymmetric seals and opens OPN messages between the two key pairs (Part 6, 6.7.4).
// nil is policy None.
type asymmetric struct {
	algorithm   *uapolicy.EncryptionAlgorithm
	policy      string
	ours        []byte // certificates, DER
	theirs      []byte
	thumbprint  []byte // of theirs
	decryptSize int    // bytes of our key
	encryptSize int    // bytes of theirs
}

// openHeader is the header of an OPN chunk; its parts lie in the chunk.
type openHeader struct {
	policy      string
	certificate []byte
	thumbprint  []byte
	end         int // where the encrypted part starts
}

// parseOpenHeader reads Part 6, 6.7.2.3 without trusting a length. cold.
func parseOpenHeader(chunk []byte) (openHeader, error) {
	if len(chunk) < channelEnd {
		return openHeader{}, refuse(ua.StatusBadTCPMessageTypeInvalid, "OPN of %d bytes: shorter than its header", len(chunk))
	}
	b := ua.NewBuffer(chunk[channelEnd:])
	h := openHeader{policy: b.ReadString(), certificate: b.ReadBytes(), thumbprint: b.ReadBytes()}
	if b.Error() != nil || len(h.policy) > 255 {
		return openHeader{}, refuse(ua.StatusBadSecurityPolicyRejected, "OPN: the security header does not decode")
	}
	h.end = channelEnd + b.Pos()
	return h, nil
}

// newAsymmetric pairs our key with the key of the client's certificate. cold.
func newAsymmetric(cfg Config, h openHeader) (*asymmetric, error) {
	if h.policy == ua.SecurityPolicyURINone {
		return nil, nil
	}
	certificate, err := uapolicy.ParseCertificate(h.certificate)
	if err != nil {
		return nil, refuse(ua.StatusBadCertificateInvalid, "client certificate: %v", err)
	}
	theirs, ok := certificate.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, refuse(ua.StatusBadCertificateInvalid, "client certificate: a %T, policy %s needs an RSA key", certificate.PublicKey, h.policy)
	}
	if !bytes.Equal(h.thumbprint, uapolicy.Thumbprint(cfg.Certificate)) {
		return nil, refuse(ua.StatusBadCertificateInvalid, "OPN is sealed for another certificate than ours: the client has to ask for the endpoints again")
	}
	algorithm, err := uapolicy.Asymmetric(h.policy, cfg.Key, theirs)
	if err != nil {
		return nil, refuse(ua.StatusBadCertificatePolicyCheckFailed, "keys do not fit %s: %v", h.policy, err)
	}
	return &asymmetric{
		algorithm: algorithm, policy: h.policy, ours: cfg.Certificate, theirs: bytes.Clone(h.certificate),
		thumbprint: uapolicy.Thumbprint(h.certificate), decryptSize: cfg.Key.Size(), encryptSize: theirs.Size(),
	}, nil
}

// extra is the number of bytes that say how long the padding is (Part 6, 6.7.2.5).
func extra(keySize int) int {
	if keySize > 256 {
		return 2
	}
	return 1
}

// open decrypts and verifies an OPN and returns its sequence header and body. One
// answer for every failure: what exactly was wrong would help an attacker. cold.
func (a *asymmetric) open(chunk []byte, head int) ([]byte, error) {
	if a == nil {
		return chunk[head:], nil
	}
	bad := refuse(ua.StatusBadSecurityChecksFailed, "OPN is not sealed for us by the key of its certificate")
	sealed := chunk[head:]
	if len(sealed) == 0 || len(sealed) > maxSealedOpen || len(sealed)%a.decryptSize != 0 {
		return nil, bad
	}
	plain, err := a.algorithm.Decrypt(sealed)
	if err != nil {
		return nil, bad
	}
	all := append(bytes.Clone(chunk[:head]), plain...)
	end := len(all) - a.algorithm.RemoteSignatureLength()
	if end < head+sequenceSize || a.algorithm.VerifySignature(all[:end], all[end:]) != nil {
		return nil, bad
	}
	padding := int(all[end-1]) + 1
	if extra(a.decryptSize) == 2 {
		padding = int(all[end-1])<<8 + int(all[end-2]) + 2
	}
	if end -= padding; end < head+sequenceSize {
		return nil, bad
	}
	return all[head:end], nil
}

// seal makes the chunk of an OPN response. cold: a millisecond with RSA.
func (a *asymmetric) seal(channel, sequence, requestID uint32, body []byte) ([]byte, error) {
	head := ua.NewBuffer(nil)
	head.Write([]byte{'O', 'P', 'N', final, 0, 0, 0, 0})
	head.WriteUint32(channel)
	if a == nil {
		head.WriteString(ua.SecurityPolicyURINone)
		head.WriteByteString(nil)
		head.WriteByteString(nil)
	} else {
		head.WriteString(a.policy)
		head.WriteByteString(a.ours)
		head.WriteByteString(a.thumbprint)
	}
	start := head.Len()
	head.WriteUint32(sequence)
	head.WriteUint32(requestID)
	head.Write(body)
	chunk := head.Bytes()
	if a == nil {
		put32(chunk[sizeOffset:], uint32(len(chunk)))
		return chunk, nil
	}
	block := a.algorithm.PlaintextBlockSize()
	signature := a.algorithm.SignatureLength()
	tail := extra(a.encryptSize)
	padding := (block - (len(chunk)-start+tail+signature)%block) % block
	for range padding + 1 {
		chunk = append(chunk, byte(padding))
	}
	if tail == 2 {
		chunk = append(chunk, byte(padding>>8))
	}
	put32(chunk[sizeOffset:], uint32(start+(len(chunk)-start+signature)/block*a.encryptSize))
	sum, err := a.algorithm.Signature(chunk)
	if err != nil {
		return nil, err
	}
	sealed, err := a.algorithm.Encrypt(append(chunk[start:], sum...))
	if err != nil {
		return nil, err
	}
	return append(chunk[:start:start], sealed...), nil
}
