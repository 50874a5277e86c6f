package join

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"tabrelay/relay/lib/called"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// Protocol versions that a proxy can speak without a relay: the same as with one, which a test of the relay checks.
// The first of the legacy era answers clients that ask for a version nobody knows (MCP 2025-11-25, "Lifecycle").
const modernVersion = "2026-07-28"

var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// logLevels are those of RFC 5424, as MCP names them, least first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// minimalServer answers a client while no relay can be reached: lifecycle, ping and log levels, and an error with the
// reason for everything else. It promises no tools, so that no client waits for them. It belongs to the goroutine of
// Proxy.Run.
type minimalServer struct {
	name, version   string
	initialized     bool // the client's initialize was answered, by a relay or here
	initializedHere bool // it was answered here, so the client knows of no tools
	hadRelay        bool // a relay answered this client before
	shutdown        bool // the client said shutdown
	level           string
}

// offlineRequest is one message of the client.
type offlineRequest struct {
	id      json.RawMessage // nil: it expects no reply
	method  string
	params  []rawjson.Member
	modern  bool
	problem *fault.Error // why it is no request
	isReply bool         // it replies to a request of a relay
}

func parseRequest(text []byte) (m offlineRequest) {
	trimmed := bytes.TrimSpace(text)
	if !json.Valid(trimmed) {
		m.problem = fault.New(fault.ParseError, "The message is not JSON")
		return m
	}
	members, ok := rawjson.Members(trimmed)
	if !ok {
		m.problem = fault.New(fault.InvalidRequest, "The message is not a JSON object; batches are not answered "+
			"without a relay")
		return m
	}
	m.id = rawjson.Get(members, "id")
	if rawjson.Get(members, "method") == nil && (rawjson.Get(members, "result") != nil ||
		rawjson.Get(members, "error") != nil) {
		m.isReply = true
		return m
	}
	if m.id != nil && strings.IndexByte(`"-0123456789`, m.id[0]) < 0 {
		m.id = nil
		m.problem = fault.New(fault.InvalidRequest, "The id is neither a string nor a number")
	} else if json.Unmarshal(rawjson.Get(members, "method"), &m.method) != nil || m.method == "" {
		m.problem = fault.New(fault.InvalidRequest, "The message has no method")
	}
	m.params, _ = rawjson.Members(rawjson.Get(members, "params"))
	meta, _ := rawjson.Members(rawjson.Get(m.params, "_meta"))
	m.modern = rawjson.Get(meta, metaVersion) != nil
	return m
}

// needsRelay reports whether only a relay can do what the client asks.
func (n *minimalServer) needsRelay(m offlineRequest) bool {
	if m.isReply || m.problem != nil || m.id == nil || n.shutdown || n.lifecycleError(m) != nil {
		return false
	}
	switch m.method {
	case "initialize", "server/discover", "ping", "logging/setLevel", "shutdown", "exit":
		return false
	}
	return true
}

// wasPromised reports whether a relay has promised the client that it can do what m asks.
func (n *minimalServer) wasPromised(m offlineRequest) bool {
	return n.needsRelay(m) && (n.initialized && !n.initializedHere || m.modern && n.hadRelay)
}

// lifecycleError is why a request of the legacy era is not allowed at this moment.
func (n *minimalServer) lifecycleError(m offlineRequest) *fault.Error {
	switch {
	case m.modern || m.method == "ping":
		return nil
	case m.method == "exit" && !n.shutdown:
		return fault.New(fault.ShutdownNotRequested, "Shutdown not requested")
	case m.method == "exit":
		return nil
	case n.shutdown:
		return fault.New(fault.ShuttingDown, "Server shutting down",
			fault.WithHint("This connection was shut down by its client; open a new one."))
	case m.method == "initialize" && n.initialized:
		return fault.New(fault.AlreadyInitialized, "Server already initialized")
	case !n.initialized && m.method != "initialize" && m.method != "shutdown" && m.method != "server/discover":
		return fault.New(fault.NotInitialized, "Server not initialized")
	}
	return nil
}

// answer is the reply to one message; nil when the client expects none. why is the reason for which there is no relay.
func (n *minimalServer) answer(m offlineRequest, why reason) []byte {
	switch {
	case m.isReply:
		return nil
	case m.problem != nil:
		return refuse(m, m.problem)
	case m.id == nil:
		return nil
	}
	if failure := n.lifecycleError(m); failure != nil {
		return refuse(m, failure)
	}
	switch {
	case m.method == "server/discover":
		return resultReply(m.id, n.discover(why))
	case m.modern:
		return refuse(m, unavailable(m.method, why))
	case m.method == "initialize":
		n.initialized, n.initializedHere = true, true
		return resultReply(m.id, n.initialize(m, why))
	case m.method == "ping":
		return resultReply(m.id, struct{}{})
	case m.method == "logging/setLevel":
		return n.setLevel(m)
	case m.method == "shutdown", m.method == "exit":
		n.shutdown = true
		return resultReply(m.id, struct{}{})
	}
	return refuse(m, unavailable(m.method, why))
}

func (n *minimalServer) setLevel(m offlineRequest) []byte {
	var level string
	if json.Unmarshal(rawjson.Get(m.params, "level"), &level) != nil ||
		!slices.Contains(logLevels, strings.ToLower(level)) {
		return refuse(m, fault.New(fault.InvalidParams, "Invalid log level",
			fault.WithHint("Use one of "+strings.Join(logLevels, ", ")+".")))
	}
	n.level = strings.ToLower(level)
	return resultReply(m.id, struct{}{})
}

type (
	capabilities struct {
		Logging struct{} `json:"logging"`
	}
	identity struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
)

func (n *minimalServer) initialize(m offlineRequest, why reason) any {
	var asked string
	_ = json.Unmarshal(rawjson.Get(m.params, "protocolVersion"), &asked) // anything else counts as an unknown version
	if !slices.Contains(legacyVersions, asked) {
		asked = legacyVersions[0]
	}
	return struct {
		ProtocolVersion string       `json:"protocolVersion"`
		Capabilities    capabilities `json:"capabilities"`
		ServerInfo      identity     `json:"serverInfo"`
		Instructions    string       `json:"instructions"`
	}{asked, capabilities{}, identity{n.name, n.version}, why.instructions()}
}

func (n *minimalServer) discover(why reason) any {
	return struct {
		Meta              map[string]identity `json:"_meta"`
		ResultType        string              `json:"resultType"`
		TTL               int                 `json:"ttlMs"` // 0: it may change at any moment
		CacheScope        string              `json:"cacheScope"`
		SupportedVersions []string            `json:"supportedVersions"`
		Capabilities      capabilities        `json:"capabilities"`
		Instructions      string              `json:"instructions"`
	}{
		map[string]identity{"io.modelcontextprotocol/serverInfo": {n.name, n.version}}, "complete", 0, "private",
		append([]string{modernVersion}, legacyVersions...), capabilities{}, why.instructions(),
	}
}

// unavailable refuses what minimal mode does not have.
func unavailable(method string, why reason) *fault.Error {
	what := "The method " + method
	subject, _, _ := strings.Cut(method, "/")
	switch subject {
	case "tools", "resources", "prompts":
		what = strings.ToUpper(subject[:1]) + subject[1:] + " capability"
	case "completion":
		what = "Completions capability"
	}
	return fault.New(fault.MethodNotFound, what+" unavailable in minimal mode: "+why.text,
		fault.WithHint(why.next+"\n"+recoveryHint))
}

// recoveryHint is what the person has to do once the cause is gone.
const recoveryHint = "tabrelay goes on by itself once that is repaired; " +
	"then reconnect this server in the client (or restart the client), so that it lists the tools."

// log is a notification of the legacy era, nil when the client does not want its level.
func (n *minimalServer) log(level, text string) []byte {
	if slices.Index(logLevels, level) < slices.Index(logLevels, cmp.Or(n.level, "info")) {
		return nil
	}
	return rawjson.MustEncode(map[string]any{"jsonrpc": "2.0", "method": "notifications/message",
		"params": map[string]any{
			"level": level, "logger": "tabrelay", "data": text,
		}})
}

var toolsChanged = []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)

// reply is a JSON-RPC response.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *replyError     `json:"error,omitempty"`
}

type replyError struct {
	Code    int          `json:"code"`
	Message string       `json:"message"`
	Data    *fault.Error `json:"data"`
}

func resultReply(id json.RawMessage, result any) []byte {
	return rawjson.MustEncode(reply{JSONRPC: "2.0", ID: id, Result: result})
}

func errorReply(id json.RawMessage, code int, failure *fault.Error) []byte {
	return rawjson.MustEncode(reply{JSONRPC: "2.0", ID: id, Error: &replyError{code, failure.Message, failure}})
}

// refuse is the protocol error for a message.
func refuse(m offlineRequest, failure *fault.Error) []byte {
	return errorReply(m.id, failure.ProtocolNumber(m.modern), failure)
}

// reason is why there is no relay, in words that may go to a client: without paths of this machine.
type reason struct{ text, next string }

// reasonOf words an error.
func reasonOf(err error, home string) reason {
	next := oneLine(withoutFolders(called.In(nextStep(err)), home)) + "."
	return reason{text: oneLine(withoutFolders(err.Error(), home)), next: strings.ToUpper(next[:1]) + next[1:]}
}

func (r reason) instructions() string {
	return "tabrelay is in minimal mode and offers no tools. Why: " + r.text +
		".\nWhat to do: tell the person. " + r.next + "\n" + recoveryHint
}

func oneLine(text string) string {
	return strings.TrimRight(fault.Sanitize(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")), ".")
}

// withoutFolders removes the path of the home folder, and shortens that of the user's folder to ~.
func withoutFolders(text, home string) string {
	if home != "" { // a program that has no home folder can use a relay elsewhere
		text = strings.ReplaceAll(text, home+string(os.PathSeparator), "")
		text = strings.ReplaceAll(text, home, "the home folder of tabrelay")
	}
	if person, err := os.UserHomeDir(); err == nil && len(person) > 1 {
		text = strings.ReplaceAll(text, person, "~")
	}
	return text
}
