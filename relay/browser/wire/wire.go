// Package wire is what relay and extension say to each other: frames, limits, versions and the proof of the pairing
// secret. PROTOCOL.md is the specification; schema/ defines each frame, and the extension's types and validators are
// generated from it (`npm run generate`).
//
//	extension                                  relay
//	  hello            who is dialling   -->
//	                                     <--   relay, proof
//	  proof                              -->
//	                                     <--   welcome, plugins
//	  outcome…, tabs                     -->   what it still holds, what there is
//	                                     <--   ask        calls that were open when the last connection ended
//	  state…                             -->
//	                                     <--   call       with arguments as payload
//	  started, progress…, log…           -->
//	  outcome          value as payload  -->
//	                                     <--   ack
//	  ping                               -->
//	                                     <--   pong
package wire

import (
	"fmt"
	"time"
)

// Subprotocol is what a WebSocket asks for in Sec-WebSocket-Protocol. Its number changes only when the handshake
// itself does; everything after it goes by the protocol version.
const Subprotocol = "tabrelay.v1"

// Speaks is the range of protocol versions this relay speaks.
var Speaks = Range{Min: 1, Max: WithSites}

// WithPanel is the version that added request, response and news. They are not sent to an extension that speaks less.
const WithPanel = 2

// WithSites is the version whose extension keeps to call.sites. One that speaks less is given no call that has them.
const WithSites = 3

// Range is a range of protocol versions, both ends included.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Negotiate picks the highest version that relay and extension both speak. When there is none, refusal is one
// sentence for the person, which says what to update.
func Negotiate(relay, extension Range) (version int, refusal string) {
	switch {
	case extension.Min > extension.Max || extension.Min < 1:
		return 0, fmt.Sprintf("The extension offers no protocol version (from %d to %d): reinstall the extension.",
			extension.Min, extension.Max)
	case extension.Max < relay.Min:
		return 0, fmt.Sprintf("The extension speaks protocol %d and the relay needs %d: update the extension "+
			"(run `tabrelay up`, then press Reload on its card at chrome://extensions).", extension.Max, relay.Min)
	case extension.Min > relay.Max:
		return 0, fmt.Sprintf("The extension needs protocol %d and the relay speaks %d: update the tabrelay program.",
			extension.Min, relay.Max)
	}
	return min(relay.Max, extension.Max), ""
}

// What both sides keep to. The relay tells the extension the values it runs with in welcome.
const (
	// MaxFrameBytes is the largest frame. A larger one is answered as a failure of its call, and counted.
	MaxFrameBytes = 16 << 20

	// MaxHeaderBytes is the largest header a sender may write for a frame that belongs to a call. Lists (tabs,
	// plugins, ask, ack) may fill a frame.
	MaxHeaderBytes = 64 << 10

	// readHeaderBytes is what a receiver bears: a header of MaxHeaderBytes characters, each three bytes of UTF-8.
	readHeaderBytes = 4 * MaxHeaderBytes

	// MaxResultBytes is the largest result of a call that does not say otherwise.
	MaxResultBytes = 10 << 20

	// StoredOutcomeBytes is the largest outcome the extension keeps where its worker's death cannot reach it;
	// larger ones stay in the page until they are acknowledged.
	StoredOutcomeBytes = 64 << 10

	// MaxRequestBytes is the largest body of a side panel's request, MaxResponseBytes that of the answer.
	MaxRequestBytes  = 1 << 20
	MaxResponseBytes = 4 << 20

	// MaxPathBytes is the longest path of a request, with its query.
	MaxPathBytes = 2048

	maxMethodBytes = 16
)

// The clocks of a connection.
const (
	// HandshakeTime is how long a connection may take from the upgrade to welcome. It is also how long a nonce lives.
	HandshakeTime = 5 * time.Second

	// PingEvery is how often the extension pings. It keeps a Chrome worker alive, which stops after 30 idle seconds.
	PingEvery = 20 * time.Second

	// PongTime is how long the answer to a ping may take.
	PongTime = 10 * time.Second

	// RequestTime is how long the relay works on a side panel's request.
	RequestTime = 10 * time.Second

	// StartTime is how long a document may take to start a call, if welcome does not say otherwise.
	StartTime = 4 * time.Second

	// ReconnectWait is how long a call waits for a profile that was connected a moment ago.
	ReconnectWait = 5 * time.Second
)

// SilentAfter is how long a peer may say nothing before it counts as gone.
func SilentAfter(pingEvery time.Duration) time.Duration { return pingEvery * 5 / 2 }
