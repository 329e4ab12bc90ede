package wire

import (
	"fmt"

	"github.com/gopcua/opcua/ua"
)

// SignSession signs data (the client's certificate and nonce, one after the other) with
// our key by the channel's policy, for CreateSession (Part 4, 5.7.2); nil and "" with
// policy None. cold: RSA.
func (c *Channel) SignSession(data []byte) (signature []byte, algorithm string, err error) {
	if c.asymmetric == nil {
		return nil, "", nil
	}
	signature, err = c.asymmetric.algorithm.Signature(data)
	if err != nil {
		return nil, "", fmt.Errorf("wire: sign for the session with our key: %w: %w", ua.StatusBadSecurityChecksFailed, err)
	}
	return signature, c.asymmetric.algorithm.SignatureURI(), nil
}

// VerifySession checks the client's signature over data (our certificate and nonce, one
// after the other), for ActivateSession (Part 4, 5.7.3); nil with policy None. cold: RSA.
func (c *Channel) VerifySession(data []byte, signature []byte) error {
	if c.asymmetric == nil {
		return nil
	}
	if err := c.asymmetric.algorithm.VerifySignature(data, signature); err != nil {
		return fmt.Errorf("wire: the session's signature is not by the key of the client's certificate: %w: %w", ua.StatusBadApplicationSignatureInvalid, err)
	}
	return nil
}
