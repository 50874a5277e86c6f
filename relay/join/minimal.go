package join

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// Protocol versions that a shim can speak without a relay: the same as with one, which a test of the relay checks.
// The first of the legacy era answers clients that ask for a version nobody knows (MCP 2025-11-25, "Lifecycle").
const modernVersion = "2026-07-28"

var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// logLevels are those of RFC 5424, as MCP names them, least first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// minimal answers a client while there is no relay and none can be had: its lifecycle, ping and log levels, and for
// everything else why there is nothing. It promises no tools, so that no client waits for them. It belongs to the
// goroutine of Shim.Run.
type minimal struct {
	name, version string
	opened        bool // the client's initialize was answered, by a relay or here
	here          bool // it was answered here, so the client knows of no tools
	served        bool // a relay answered this client before
	shut          bool // the client said shutdown
	level         string
}

// request is one message of the client.
type request struct {
	id      json.RawMessage // nil: it expects no answer
	method  string
	params  []rawjson.Member
	modern  bool
	problem *fault.Error // why it is no request
	answer  bool         // it answers a request of a relay
}

func parseRequest(text []byte) (m request) {
	trimmed := bytes.TrimSpace(text)
	if !json.Valid(trimmed) {
		m.problem = fault.New(fault.ParseError, "The message is not JSON")
		return m
	}
	members, ok := rawjson.Members(trimmed)
	if !ok {
		m.problem = fault.New(fault.InvalidRequest, "The message is not a JSON object; batches are not answered without a relay")
		return m
	}
	m.id = rawjson.Get(members, "id")
	if rawjson.Get(members, "method") == nil && (rawjson.Get(members, "result") != nil || rawjson.Get(members, "error") != nil) {
		m.answer = true
		return m
	}
	if bytes.Equal(m.id, []byte("null")) {
		m.id = nil
		m.problem = fault.New(fault.InvalidRequest, "The id is null")
	} else if json.Unmarshal(rawjson.Get(members, "method"), &m.method) != nil || m.method == "" {
		m.problem = fault.New(fault.InvalidRequest, "The message has no method")
	}
	m.params, _ = rawjson.Members(rawjson.Get(members, "params"))
	m.modern = isModern(members)
	return m
}

// wantsRelay reports whether only a relay can do what the client asks.
func (n *minimal) wantsRelay(m request) bool {
	if m.answer || m.problem != nil || m.id == nil || n.shut || n.refusal(m) != nil {
		return false
	}
	switch m.method {
	case "initialize", "server/discover", "ping", "logging/setLevel", "shutdown", "exit":
		return false
	}
	return true
}

// promised reports whether a relay has promised the client that it can do what m asks.
func (n *minimal) promised(m request) bool {
	return n.wantsRelay(m) && (n.opened && !n.here || m.modern && n.served)
}

// refusal is why a request of the legacy era comes at the wrong moment.
func (n *minimal) refusal(m request) *fault.Error {
	switch {
	case m.modern || m.method == "ping":
		return nil
	case m.method == "exit" && !n.shut:
		return fault.New(fault.ShutdownNotRequested, "Shutdown not requested")
	case m.method == "exit":
		return nil
	case n.shut:
		return fault.New(fault.ShuttingDown, "Server shutting down", fault.WithHint("This connection was shut down by its client; open a new one."))
	case m.method == "initialize" && n.opened:
		return fault.New(fault.AlreadyInitialized, "Server already initialized")
	case !n.opened && m.method != "initialize" && m.method != "shutdown" && m.method != "server/discover":
		return fault.New(fault.NotInitialized, "Server not initialized")
	}
	return nil
}

// answer is what a client hears to one message; nil when it expects nothing. why is what keeps the relay away.
func (n *minimal) answer(m request, why reason) []byte {
	switch {
	case m.answer:
		return nil
	case m.problem != nil:
		return refused(m, m.problem)
	case m.id == nil:
		return nil
	}
	if failure := n.refusal(m); failure != nil {
		return refused(m, failure)
	}
	switch {
	case m.method == "server/discover":
		return succeeded(m, n.discover(why))
	case m.modern:
		return refused(m, unavailable(m.method, why))
	case m.method == "initialize":
		n.opened, n.here = true, true
		return succeeded(m, n.initialize(m, why))
	case m.method == "ping":
		return succeeded(m, struct{}{})
	case m.method == "logging/setLevel":
		return n.setLevel(m)
	case m.method == "shutdown", m.method == "exit":
		n.shut = true
		return succeeded(m, struct{}{})
	}
	return refused(m, unavailable(m.method, why))
}

func (n *minimal) setLevel(m request) []byte {
	var level string
	if json.Unmarshal(rawjson.Get(m.params, "level"), &level) != nil || !slices.Contains(logLevels, strings.ToLower(level)) {
		return refused(m, fault.New(fault.InvalidParams, "Invalid log level", fault.WithHint("Use one of "+strings.Join(logLevels, ", ")+".")))
	}
	n.level = strings.ToLower(level)
	return succeeded(m, struct{}{})
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

func (n *minimal) initialize(m request, why reason) any {
	var asked string
	_ = json.Unmarshal(rawjson.Get(m.params, "protocolVersion"), &asked) // what is no version is answered as an unknown one
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

func (n *minimal) discover(why reason) any {
	return struct {
		Meta              map[string]identity `json:"_meta"`
		ResultType        string              `json:"resultType"`
		TTL               int                 `json:"ttlMs"` // 0: it may be another at any moment
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
	return fault.New(fault.MethodNotFound, what+" unavailable in minimal mode: "+why.text, fault.WithHint(why.next+"\n"+recovery))
}

// recovery is what a client's person has to know once the cause is gone.
const recovery = "tabrelay goes on by itself once that is repaired; then reconnect this server in the client (or restart the client), so that it lists the tools."

// log is a notification of the legacy era, nil when the client does not want its level.
func (n *minimal) log(level, text string) []byte {
	if slices.Index(logLevels, level) < slices.Index(logLevels, cmp.Or(n.level, "info")) {
		return nil
	}
	return rawjson.MustEncode(map[string]any{"jsonrpc": "2.0", "method": "notifications/message", "params": map[string]any{
		"level": level, "logger": "tabrelay", "data": text,
	}})
}

var toolsChanged = []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)

func succeeded(m request, result any) []byte {
	return rawjson.MustEncode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", m.id, result})
}

func refused(m request, failure *fault.Error) []byte {
	type problem struct {
		Code    int          `json:"code"`
		Message string       `json:"message"`
		Data    *fault.Error `json:"data"`
	}
	return rawjson.MustEncode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   problem         `json:"error"`
	}{"2.0", m.id, problem{failure.ProtocolNumber(m.modern), failure.Message, failure}})
}

// reason is why there is no relay, in words that may go to a client: without the folders of this machine.
type reason struct{ text, next string }

// reasonOf words an error.
func reasonOf(err error, home string) reason {
	next := oneLine(withoutFolders(nextStep(err), home)) + "."
	return reason{text: oneLine(withoutFolders(err.Error(), home)), next: strings.ToUpper(next[:1]) + next[1:]}
}

func (r reason) instructions() string {
	return "tabrelay is in minimal mode and offers no tools. Why: " + r.text + ".\nWhat to do: tell the person. " + r.next + "\n" + recovery
}

func oneLine(text string) string {
	return strings.TrimRight(fault.Sanitize(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")), ".")
}

// withoutFolders leaves out the home folder's path, and that of the person.
func withoutFolders(text, home string) string {
	text = strings.ReplaceAll(text, home+string(os.PathSeparator), "")
	text = strings.ReplaceAll(text, home, "the home folder of tabrelay")
	if person, err := os.UserHomeDir(); err == nil && len(person) > 1 {
		text = strings.ReplaceAll(text, person, "~")
	}
	return text
}
