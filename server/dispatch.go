package server

import (
	"errors"
	"reflect"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/rt"
	"opcycle/wire"
)

// publishID is the TypeId of a PublishRequest in OPC UA Binary.
const publishID = id.PublishRequest_Encoding_DefaultBinary

// service is one service: what it decodes and who answers.
type service struct {
	request     reflect.Type // the library's struct
	sessionless bool         // works without an activated session
	serve       func(*call) (ua.Response, ua.StatusCode)
}

// call is one request under way. session is nil for a sessionless service.
type call struct {
	conn    *connection
	session *session
	id      uint32
	head    header
	request any
}

// of describes a service by the type of its request.
func of[R any](serve func(*call, *R) (ua.Response, ua.StatusCode)) service {
	return service{
		request: reflect.TypeFor[R](),
		serve:   func(c *call) (ua.Response, ua.StatusCode) { return serve(c, c.request.(*R)) },
	}
}

// free marks a service that needs no session (Part 4, 5.5 and 5.7.2).
func free(s service) service {
	s.sessionless = true
	return s
}

// serviceTable lists what the server answers; Publish has its own way (publish).
func serviceTable() map[uint32]service {
	return map[uint32]service{
		id.FindServersRequest_Encoding_DefaultBinary:                   free(of((*call).findServers)),
		id.GetEndpointsRequest_Encoding_DefaultBinary:                  free(of((*call).getEndpoints)),
		id.CreateSessionRequest_Encoding_DefaultBinary:                 free(of((*call).createSession)),
		id.ActivateSessionRequest_Encoding_DefaultBinary:               free(of((*call).activateSession)),
		id.CloseSessionRequest_Encoding_DefaultBinary:                  free(of((*call).closeSession)),
		id.CancelRequest_Encoding_DefaultBinary:                        of((*call).cancel),
		id.ReadRequest_Encoding_DefaultBinary:                          of((*call).read),
		id.WriteRequest_Encoding_DefaultBinary:                         of((*call).write),
		id.CallRequest_Encoding_DefaultBinary:                          of((*call).callMethods),
		id.BrowseRequest_Encoding_DefaultBinary:                        of((*call).browse),
		id.BrowseNextRequest_Encoding_DefaultBinary:                    of((*call).browseNext),
		id.TranslateBrowsePathsToNodeIDsRequest_Encoding_DefaultBinary: of((*call).translate),
		id.RegisterNodesRequest_Encoding_DefaultBinary:                 of((*call).registerNodes),
		id.UnregisterNodesRequest_Encoding_DefaultBinary:               of((*call).unregisterNodes),
		id.CreateSubscriptionRequest_Encoding_DefaultBinary:            of((*call).createSubscription),
		id.ModifySubscriptionRequest_Encoding_DefaultBinary:            of((*call).modifySubscription),
		id.SetPublishingModeRequest_Encoding_DefaultBinary:             of((*call).setPublishingMode),
		id.DeleteSubscriptionsRequest_Encoding_DefaultBinary:           of((*call).deleteSubscriptions),
		id.TransferSubscriptionsRequest_Encoding_DefaultBinary:         of((*call).transferSubscriptions),
		id.RepublishRequest_Encoding_DefaultBinary:                     of((*call).republish),
		id.CreateMonitoredItemsRequest_Encoding_DefaultBinary:          of((*call).createMonitoredItems),
		id.ModifyMonitoredItemsRequest_Encoding_DefaultBinary:          of((*call).modifyMonitoredItems),
		id.SetMonitoringModeRequest_Encoding_DefaultBinary:             of((*call).setMonitoringMode),
		id.SetTriggeringRequest_Encoding_DefaultBinary:                 of((*call).setTriggering),
		id.DeleteMonitoredItemsRequest_Encoding_DefaultBinary:          of((*call).deleteMonitoredItems),
	}
}

// call answers every service but Publish. warm.
func (c *connection) call(id uint32, body []byte, h header, whole bool) error {
	svc, ok := c.server.services[h.service]
	if !ok {
		return c.fault(id, h.handle, ua.StatusBadServiceUnsupported)
	}
	if !whole {
		return c.fault(id, h.handle, ua.StatusBadDecodingError)
	}
	k := call{conn: c, id: id, head: h}
	if !svc.sessionless {
		s, status := c.session(h.token)
		if status != ua.StatusOK {
			return c.fault(id, h.handle, status)
		}
		k.session = s
	}
	hide := guard{reader{b: body, at: h.extra}}
	hide.extension()
	if !checkRequest(body, h.end, svc.request) {
		return c.fault(id, h.handle, ua.StatusBadDecodingError)
	}
	_, request, err := ua.DecodeService(body)
	if err != nil {
		return c.fault(id, h.handle, ua.StatusBadDecodingError)
	}
	k.request = request
	response, status := svc.serve(&k)
	switch {
	case status != ua.StatusOK:
		return c.fault(id, h.handle, status)
	case response == nil: // answered by the PLC thread
		return nil
	}
	return c.answer(id, h.handle, response)
}

// answer encodes and sends a response. warm.
func (c *connection) answer(id, handle uint32, response ua.Response) error {
	response.SetHeader(&ua.ResponseHeader{
		Timestamp: time.Now(), RequestHandle: handle,
		ServiceDiagnostics: &ua.DiagnosticInfo{}, AdditionalHeader: ua.NewExtensionObject(nil),
	})
	body, err := ua.Encode(response)
	if err != nil {
		return c.fault(id, handle, ua.StatusBadEncodingError)
	}
	message := append(putTypeID(make([]byte, 0, 4+len(body)), ua.ServiceTypeID(response)), body...)
	if most := c.most(); len(message) > most {
		return c.fault(id, handle, ua.StatusBadResponseTooLarge)
	}
	err = c.wire.Send(id, message)
	if errors.Is(err, wire.ErrTooLarge) {
		return c.fault(id, handle, ua.StatusBadResponseTooLarge)
	}
	return err
}

// most is how long a response may be: by the channel, and by the smallest
// MaxResponseMessageSize of its sessions (Part 4, 5.7.2.2).
func (c *connection) most() int {
	n := c.wire.MaxBody()
	for _, s := range c.sessions {
		if s.maxResponse > 0 && int64(s.maxResponse) < int64(n) {
			n = int(s.maxResponse)
		}
	}
	return n
}

// fault answers with a ServiceFault. warm.
func (c *connection) fault(id, handle uint32, status ua.StatusCode) error {
	c.server.counters.Faults.Add(1)
	return c.wire.Send(id, putFault(make([]byte, 0, responseHeaderSize), dateTime(), handle, status))
}

// publish hands a Publish request to the PLC thread. hot: no allocation unless it is
// refused.
func (c *connection) publish(id uint32, body []byte, h header) error {
	s, status := c.session(h.token)
	if status != ua.StatusOK {
		return c.fault(id, h.handle, status)
	}
	p := c.slot()
	if p == nil {
		return c.fault(id, h.handle, ua.StatusBadTooManyPublishRequests)
	}
	if status := p.decode(body, h); status != ua.StatusOK {
		return c.fault(id, h.handle, status)
	}
	s.seat.told.Store(true)
	c.carries.Store(true)
	p.id, p.seat, p.deadline = id, s.seat, 0
	if h.hint > 0 {
		p.deadline = rt.Now() + int64(h.hint)*int64(time.Millisecond)
	}
	p.busy.Store(true)
	if !c.inbox.put(message{publish: p}) {
		p.busy.Store(false)
		c.server.counters.InboxFull.Add(1)
		return c.fault(id, h.handle, ua.StatusBadTooManyPublishRequests)
	}
	return nil
}

// slot returns a free place for a Publish request, nil when all are under way. hot.
func (c *connection) slot() *publishRequest {
	for range c.slots {
		p := &c.slots[c.next]
		if c.next++; c.next == len(c.slots) {
			c.next = 0
		}
		if !p.busy.Load() {
			return p
		}
	}
	return nil
}
