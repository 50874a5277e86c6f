package wire

import "fmt"

// Subprotocol is what a WebSocket asks for in Sec-WebSocket-Protocol. Its number changes only when the handshake
// itself does; everything after it goes by the protocol version.
const Subprotocol = "tabrelay.v1"

// Speaks is the range of protocol versions this relay speaks.
var Speaks = Range{Min: 1, Max: WithPanel}

// WithPanel is the version that added request, response and news. They are not sent to an extension that speaks less.
const WithPanel = 2

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
