package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"hash"

	"github.com/gopcua/opcua/ua"
)

// macSize is the signature of the accepted policies, all HMAC-SHA2-256, and the length of their signing keys.
const macSize = sha256.Size

// cbc is what crypto/cipher returns for AES; crypto/tls leans on SetIV in the same way.
type cbc interface {
	cipher.BlockMode
	SetIV(iv []byte)
}

// keys seal or open the chunks of one direction under one token. A nil *keys is
// policy None. Not uapolicy.Symmetric: that makes a cipher, a MAC and a copy for
// every chunk. Owned by whoever owns the direction: the holder of the turn seals,
// the connection's goroutine opens.
type keys struct {
	mac hash.Hash
	sum [macSize]byte
	iv  []byte
	cbc cbc // nil with mode Sign
}

// derive makes the keys of the party that gave seed in the OPN exchange; secret is the other
// one's nonce (Part 6, 6.7.5). cold.
func derive(s Security, secret, seed []byte, seal bool) (*keys, error) {
	if s.PolicyURI == ua.SecurityPolicyURINone {
		return nil, nil
	}
	keySize := 32
	if s.PolicyURI == ua.SecurityPolicyURIAes128Sha256RsaOaep {
		keySize = 16
	}
	p := expand(secret, seed, macSize+keySize+aes.BlockSize)
	k := &keys{mac: hmac.New(sha256.New, p[:macSize]), iv: p[macSize+keySize:]}
	if s.Mode != ua.MessageSecurityModeSignAndEncrypt {
		return k, nil
	}
	block, err := aes.NewCipher(p[macSize : macSize+keySize])
	if err != nil {
		return nil, err
	}
	mode := cipher.NewCBCDecrypter(block, k.iv)
	if seal {
		mode = cipher.NewCBCEncrypter(block, k.iv)
	}
	var ok bool
	if k.cbc, ok = mode.(cbc); !ok {
		return nil, errors.New("wire: this Go's AES-CBC has no SetIV: build with the Go version of go.mod")
	}
	return k, nil
}

// expand is P_SHA256 of RFC 5246, 5. cold.
func expand(secret, seed []byte, n int) []byte {
	mac := hmac.New(sha256.New, secret)
	sum := func(parts ...[]byte) []byte {
		mac.Reset()
		for _, p := range parts {
			mac.Write(p)
		}
		return mac.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < n; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:n]
}

// room is the largest body of one chunk of at most size bytes (Part 6, 6.7.2.5). hot.
func (k *keys) room(size int) int {
	switch {
	case k == nil:
		return size - bodyStart
	case k.cbc == nil:
		return size - bodyStart - macSize
	}
	return (size-symmetricEnd)/aes.BlockSize*aes.BlockSize - sequenceSize - 1 - macSize
}

// size is the size of a chunk with n bytes of body. hot.
func (k *keys) size(n int) int {
	switch {
	case k == nil:
		return bodyStart + n
	case k.cbc == nil:
		return bodyStart + n + macSize
	}
	plain := sequenceSize + n + 1 + macSize
	return symmetricEnd + (plain+aes.BlockSize-1)/aes.BlockSize*aes.BlockSize
}

// seal pads, signs and encrypts a chunk in place; chunk has its final size and its
// body is n bytes. hot: no allocation.
func (k *keys) seal(chunk []byte, n int) {
	if k == nil {
		return
	}
	end := len(chunk) - macSize
	if k.cbc != nil {
		padding := end - (bodyStart + n) - 1
		for i := bodyStart + n; i < end; i++ {
			chunk[i] = byte(padding)
		}
	}
	k.mac.Reset()
	k.mac.Write(chunk[:end])
	k.mac.Sum(chunk[:end])
	if k.cbc != nil {
		k.cbc.SetIV(k.iv)
		k.cbc.CryptBlocks(chunk[symmetricEnd:], chunk[symmetricEnd:])
	}
}

// open decrypts and verifies a chunk in place and returns it without padding
// and signature; ok is false for whatever is wrong with it, without saying what
// (a padding oracle would need to know). hot: no allocation.
func (k *keys) open(chunk []byte) (plain []byte, ok bool) {
	if k == nil {
		return chunk, len(chunk) >= bodyStart
	}
	sealed := chunk[symmetricEnd:]
	if len(sealed) < sequenceSize+macSize {
		return nil, false
	}
	if k.cbc != nil {
		if len(sealed)%aes.BlockSize != 0 {
			return nil, false
		}
		k.cbc.SetIV(k.iv)
		k.cbc.CryptBlocks(sealed, sealed)
	}
	end := len(chunk) - macSize
	k.mac.Reset()
	k.mac.Write(chunk[:end])
	if subtle.ConstantTimeCompare(k.mac.Sum(k.sum[:0]), chunk[end:]) != 1 {
		return nil, false
	}
	if k.cbc != nil {
		end -= int(chunk[end-1]) + 1
		if end < bodyStart {
			return nil, false
		}
	}
	return chunk[:end], true
}
