// Package wire has what gateways and nodes of a fleet tell each other over NATS: subjects, messages and their bounds.
// Both sides check every message here, whoever NATS says has sent it.
//
// A message is a header, one JSON object on a line of its own, and for some a payload after the first line feed, which
// is passed on as the bytes it is. Calls are core requests and never in JetStream, which delivers again: what a resent
// call means is decided by its id, at the node.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// Version is that of the messages. A peer that speaks another one is refused.
const Version = 1

const (
	// MaxMessage bounds one message: what NATS servers take by default.
	MaxMessage = 1 << 20
	// MaxHeader bounds the header of a message.
	MaxHeader = 16 << 10
	// MaxArguments bounds the arguments of a call, in bytes: a node can send its browser no more.
	MaxArguments = 16<<20 - 64<<10
	// PartBytes is the size of the pieces in which larger arguments and answers travel.
	PartBytes = 512 << 10
	// MaxAnswer bounds an answer, in bytes.
	MaxAnswer = 64 << 20
	// MaxTools bounds how many tools a node offers, and MaxToolsBytes all that describes them.
	MaxTools      = 2000
	MaxToolsBytes = 8 << 20
	// MaxWait bounds how long a gateway can say that it waits for a call, in milliseconds.
	MaxWait = 60 * 60 * 1000
)

// Op is what a gateway asks a node for: the last part of a request's subject.
type Op string

// The operations.
const (
	OpTools  Op = "tools"  // the tools that it offers
	OpCall   Op = "call"   // a call; one that is sent again under its id is answered, and not carried out again
	OpPart   Op = "part"   // a piece of the arguments of a call that the node wants
	OpCancel Op = "cancel" // to end a call, or never to start it
	OpLeave  Op = "leave"  // to end what a session of a caller holds
)

// Bucket is that of JetStream KV in which each node says what it has. Its keys are the names of nodes.
const Bucket = "tabrelay-nodes"

const prefix = "tabrelay.v1."

// RequestSubject is where a gateway sends its requests to a node. NATS lets each gateway use its own name only, so that
// the subject proves who sends.
func RequestSubject(node, gateway string, op Op) string {
	return prefix + "node." + node + "." + gateway + "." + string(op)
}

// NodeSubject is where a node hears them.
func NodeSubject(node string) string { return prefix + "node." + node + ".*.*" }

// Inbox is the beginning of the subjects on which a gateway is answered.
func Inbox(gateway string) string { return prefix + "gateway." + gateway + ".inbox" }

// NodeInbox is the beginning of the subjects on which a node is answered by the directory.
func NodeInbox(node string) string { return prefix + "nodes." + node + ".inbox" }

// ParseRequest reads the subject of a request.
func ParseRequest(subject string) (node, gateway string, op Op, ok bool) {
	rest, ok := strings.CutPrefix(subject, prefix+"node.")
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 || !IsName(parts[0]) || !IsName(parts[1]) {
		return "", "", "", false
	}
	return parts[0], parts[1], Op(parts[2]), true
}

var (
	nameForm  = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)
	agentForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	idForm    = regexp.MustCompile(`^[0-9a-f]{32}$`)
	toolForm  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// NameRule says in words what [IsName] takes.
const NameRule = "1 to 32 lower-case letters, digits and hyphens"

// IsName reports whether a node or a gateway can have a name.
func IsName(name string) bool { return nameForm.MatchString(name) }

// NameOf makes a name for a node or a gateway of that of its machine.
func NameOf(host string) string {
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(host, "-"), "-")
	name = strings.TrimRight(name[:min(len(name), 32)], "-")
	if !IsName(name) {
		return "node"
	}
	return name
}

// IsAgent reports whether a person or an agent can be called so.
func IsAgent(name string) bool { return agentForm.MatchString(name) }

// Caller is on whose behalf a gateway sends a request, as far as the gateway says.
type Caller struct {
	Person  string `json:"person"`            // whose agent it is
	Agent   string `json:"agent"`             // its client, by the name that has a token at the gateway
	Machine string `json:"machine,omitempty"` // where it runs, in words
	Session string `json:"session"`           // 32 hexadecimal digits: one of its sessions
}

const maxMachine = 200 // bytes

func (c *Caller) check() error {
	switch {
	case c == nil:
		return errors.New("it has no caller")
	case !IsAgent(c.Person), !IsAgent(c.Agent):
		return errors.New("its caller has no name that a person or an agent can have")
	case len(c.Machine) > maxMachine:
		return errors.New("the machine of its caller has a name that is too long")
	case !idForm.MatchString(c.Session):
		return errors.New("the session of its caller is not one")
	}
	return nil
}

// Request is the header of a gateway's request. Which members one has depends on the operation. The payload of OpCall
// are the arguments, or nothing where Bytes says that they are too large for one message; that of OpPart is a piece.
type Request struct {
	V      int     `json:"v"`
	Known  string  `json:"known,omitempty"`  // OpTools: the hash of the tools that the gateway has already
	ID     string  `json:"id,omitempty"`     // OpCall, OpPart, OpCancel: of the call, 32 hexadecimal digits
	Life   string  `json:"life,omitempty"`   // OpCancel: of the node when the call was sent, as far as is known
	Caller *Caller `json:"caller,omitempty"` // of all but OpTools
	Bytes  int     `json:"bytes,omitempty"`  // OpCall: of arguments that come in parts
	Part   int     `json:"part,omitempty"`   // OpPart: from 1 on

	Tool       string `json:"tool,omitempty"`
	WaitMs     int64  `json:"waitMs,omitempty"`    // how long the gateway waits at the most, from now on
	TimeoutMs  int64  `json:"timeoutMs,omitempty"` // that the caller asks for; 0: the tool's own
	MaxBytes   int    `json:"maxBytes,omitempty"`
	ArrayPath  string `json:"arrayPath,omitempty"`
	Structured bool   `json:"structured,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Again      bool   `json:"again,omitempty"` // it was sent before, and may have been carried out
}

const (
	maxReason    = 2000
	maxArrayPath = 1000
)

// DecodeRequest reads a request, strictly: what this version does not know is refused. Its error completes a sentence
// that begins with the message.
func DecodeRequest(op Op, data []byte) (r Request, payload json.RawMessage, err error) {
	payload, err = decode(data, &r)
	if err == nil {
		err = r.check(op, payload)
	}
	return r, payload, err
}

func (r *Request) check(op Op, payload json.RawMessage) error {
	if r.V != Version {
		return fmt.Errorf("it is of version %d, and this side speaks version %d", r.V, Version)
	}
	if op != OpCall && op != OpPart && len(payload) > 0 {
		return errors.New("it has a payload")
	}
	switch op {
	case OpTools:
		if len(r.Known) > 64 {
			return errors.New("its hash is too long")
		}
		return nil
	case OpLeave:
		return r.Caller.check()
	case OpCancel, OpCall, OpPart:
		if !idForm.MatchString(r.ID) {
			return errors.New("its id is not 32 hexadecimal digits")
		}
		if r.Life != "" && !idForm.MatchString(r.Life) {
			return errors.New("its life is not one")
		}
		err := r.Caller.check()
		switch {
		case err != nil || op == OpCancel:
			return err
		case op == OpPart && (r.Part < 1 || len(payload) == 0 || len(payload) > PartBytes):
			return errors.New("it is not a part of arguments")
		case op == OpPart:
			return nil
		}
		return r.checkCall(payload)
	}
	return errors.New("it asks for what this side does not know")
}

func (r *Request) checkCall(payload json.RawMessage) error {
	switch {
	case !toolForm.MatchString(r.Tool):
		return errors.New("it names no tool")
	case r.WaitMs <= 0:
		return errors.New("its deadline has passed")
	case r.WaitMs > MaxWait, r.TimeoutMs < 0, r.TimeoutMs > MaxWait:
		return errors.New("its deadline is too far away")
	case r.MaxBytes < 0, len(r.ArrayPath) > maxArrayPath, len(r.Reason) > maxReason:
		return errors.New("one of its members is too large")
	case r.Bytes < 0, r.Bytes > MaxArguments, r.Bytes > 0 && len(payload) > 0:
		return errors.New("its arguments are too large")
	}
	return CheckArguments(payload)
}

// CheckArguments says why the arguments of a call cannot be taken. Its error completes a sentence as that of
// [DecodeRequest] does.
func CheckArguments(arguments json.RawMessage) error {
	switch {
	case len(arguments) > 0 && (!rawjson.Valid(arguments) || !rawjson.IsObject(arguments)):
		return errors.New("its arguments are not an object")
	case rawjson.Depth(arguments) > rawjson.MostDeep:
		return errors.New("its arguments nest too deep")
	}
	return nil
}

// Kind is what a node answers.
type Kind string

// The kinds of replies.
const (
	Accepted Kind = "accepted" // it has the call, and will tell its end
	Alive    Kind = "alive"    // the call goes on; sent every [AliveEvery]
	Progress Kind = "progress"
	Wants    Kind = "wants"   // the call has not begun: the node wants the part of its arguments that Part says
	Part     Kind = "part"    // a piece of what follows, in order, as payload
	End      Kind = "end"     // of a call; the payload, or all parts together, is an [Outcome]
	Never    Kind = "never"   // the call was not here, and will not be started: it is not executed
	Unsure   Kind = "unsure"  // the call is not known here, and the node cannot say that it never was
	Refused  Kind = "refused" // the request was not taken, and so no call was made of it
	Tools    Kind = "tools"   // the payload, or all parts together, is a list of [Tool]
	Same     Kind = "same"    // the tools are those that the gateway has already
	Left     Kind = "left"    // the session holds nothing here any more
	Waits    Kind = "waits"   // the call has not begun, and is not here: others are before it; it is to be sent again
	Turn     Kind = "turn"    // it is to be sent again now
)

// Reply is the header of a node's reply.
type Reply struct {
	V     int    `json:"v"`
	Kind  Kind   `json:"kind"`
	Life  string `json:"life,omitempty"`  // of the node: another one after each start
	Hash  string `json:"hash,omitempty"`  // Tools, Same
	Part  int    `json:"part,omitempty"`  // Part, Wants: from 1 on
	Parts int    `json:"parts,omitempty"` // End, Tools: how many parts came before
	Bytes int    `json:"bytes,omitempty"` // End, Tools: of all parts together
	Why   string `json:"why,omitempty"`   // Refused
	// Waits: how many sessions are before it, and which profile they are at.
	Before int    `json:"before,omitempty"`
	Lease  *Lease `json:"lease,omitempty"`

	Progress float64  `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

const maxWords = 4 << 10

// DecodeReply reads a reply as strictly as [DecodeRequest] reads requests.
func DecodeReply(data []byte) (r Reply, payload json.RawMessage, err error) {
	payload, err = decode(data, &r)
	switch {
	case err != nil:
	case r.V != Version:
		err = fmt.Errorf("it is of version %d, and this side speaks version %d", r.V, Version)
	case r.Life != "" && !idForm.MatchString(r.Life):
		err = errors.New("its life is not one")
	case len(r.Why) > maxWords, len(r.Message) > maxWords, len(r.Hash) > 64:
		err = errors.New("one of its members is too long")
	case r.Before < 0, r.Before > MaxQueue+1, r.Lease.check() != nil:
		err = errors.New("what it says of the lease is not one")
	case r.Parts < 0, r.Bytes < 0, r.Bytes > MaxAnswer, r.Parts > MaxAnswer/PartBytes+1, r.Part < 0:
		err = errors.New("it says that it is too large")
	}
	return r, payload, err
}

// MaxQueue bounds how many sessions wait for one profile.
const MaxQueue = 1000

const maxMember = 512 // bytes, of the names in a lease

// Lease is which session has a browser profile for itself, and how many wait for it.
type Lease struct {
	Profile string `json:"profile"`
	Holder  string `json:"holder"` // in words
	Waiting int    `json:"waiting"`
}

// check bounds a lease, and takes out of it what nobody sees.
func (l *Lease) check() error {
	if l == nil {
		return nil
	}
	if len(l.Profile) > maxMember || len(l.Holder) > maxMember || l.Waiting < 0 || l.Waiting > MaxQueue {
		return errors.New("it is not what a lease is")
	}
	l.Profile, l.Holder = fault.Sanitize(l.Profile), fault.Sanitize(l.Holder)
	return nil
}

// decode splits a message, and reads its header.
func decode(data []byte, header any) (payload json.RawMessage, err error) {
	if len(data) > MaxMessage {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(data), MaxMessage)
	}
	first, payload, _ := bytes.Cut(data, []byte("\n"))
	if len(first) > MaxHeader {
		return nil, fmt.Errorf("its header has %d bytes, more than %d", len(first), MaxHeader)
	}
	return payload, strictly(first, header)
}

// strictly reads JSON whose members have to be those of the value, each once, spelled exactly so.
func strictly(data []byte, value any) error {
	if jsonv2.Unmarshal(data, value, jsonv2.RejectUnknownMembers(true)) != nil {
		return errors.New("it is not what this version has")
	}
	return nil
}

// Encode writes a message.
func Encode(header any, payload []byte) []byte {
	b := []byte(rawjson.MustEncode(header))
	if payload == nil {
		return b
	}
	return append(append(b, '\n'), payload...)
}
