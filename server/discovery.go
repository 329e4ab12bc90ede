package server

import (
	"net/url"
	"slices"

	"github.com/gopcua/opcua/ua"
)

// transportURI is UA TCP with UA Secure Conversation and UA Binary (Part 7).
const transportURI = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary"

// maxURL bounds a URL that is answered back (Part 6, 7.1.2.3).
const maxURL = 4096

// host returns the URL under which the client reached this server: the one it gave in the
// request, else the one in its HEL, else the address it connected to. Strict clients
// compare it letter by letter with theirs, trailing slash included.
func (c *connection) host(requested string) string {
	for _, u := range []string{requested, c.wire.EndpointURL()} {
		if p, err := url.Parse(u); err == nil && p.Scheme == "opc.tcp" && p.Host != "" && len(u) <= maxURL {
			return u
		}
	}
	return "opc.tcp://" + c.wire.LocalAddr().String()
}

// endpoints lists the endpoints of the server under the given URL.
func (s *Server) endpoints(u string) []*ua.EndpointDescription {
	return []*ua.EndpointDescription{{
		EndpointURL:       u,
		Server:            s.application(u),
		SecurityMode:      ua.MessageSecurityModeNone,
		SecurityPolicyURI: ua.SecurityPolicyURINone,
		UserIdentityTokens: []*ua.UserTokenPolicy{{
			PolicyID: anonymousPolicy, TokenType: ua.UserTokenTypeAnonymous, SecurityPolicyURI: ua.SecurityPolicyURINone,
		}},
		TransportProfileURI: transportURI,
	}}
}

// application describes the server (Part 4, 7.2).
func (s *Server) application(u string) *ua.ApplicationDescription {
	return &ua.ApplicationDescription{
		ApplicationURI:  s.cfg.ApplicationURI,
		ProductURI:      productURI,
		ApplicationName: ua.NewLocalizedText(s.cfg.ApplicationName),
		ApplicationType: ua.ApplicationTypeServer,
		DiscoveryURLs:   []string{u},
	}
}

// getEndpoints is GetEndpoints (Part 4, 5.5.4).
func (c *call) getEndpoints(r *ua.GetEndpointsRequest) (ua.Response, ua.StatusCode) {
	out := &ua.GetEndpointsResponse{}
	if len(r.ProfileURIs) == 0 || slices.Contains(r.ProfileURIs, transportURI) {
		out.Endpoints = c.conn.server.endpoints(c.conn.host(r.EndpointURL))
	}
	return out, ua.StatusOK
}

// findServers is FindServers (Part 4, 5.5.2).
func (c *call) findServers(r *ua.FindServersRequest) (ua.Response, ua.StatusCode) {
	out := &ua.FindServersResponse{}
	if len(r.ServerURIs) == 0 || slices.Contains(r.ServerURIs, c.conn.server.cfg.ApplicationURI) {
		out.Servers = []*ua.ApplicationDescription{c.conn.server.application(c.conn.host(r.EndpointURL))}
	}
	return out, ua.StatusOK
}
