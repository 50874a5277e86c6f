package wire

import "time"

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

	// GapWait is how long a call waits for a profile that was connected a moment ago.
	GapWait = 5 * time.Second
)

// SilentAfter is how long a peer may say nothing before it counts as gone.
func SilentAfter(pingEvery time.Duration) time.Duration { return pingEvery * 5 / 2 }
