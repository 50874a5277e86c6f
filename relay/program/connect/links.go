package connect

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Link is the address that has a client ask its person whether to add tabrelay. It is for people who do not have
// tabrelay yet: it names no file of this machine and holds no token, and the client gets the program from npm.
type Link struct {
	Client  string
	address func(Server) string
}

// Address is the link itself, for a client that is to list these tools.
func (l Link) Address(toolset string) string {
	return l.address(Server{Command: "npx", Toolset: toolset, client: l.Client})
}

// Links are the clients that can be added to by a link, by name.
var Links = []Link{
	{"cursor", func(s Server) string { return configLink("cursor://anysphere.cursor-deeplink/mcp/install", s) }},
	{"goose", gooseLink},
	{"lmstudio", func(s Server) string { return configLink("lmstudio://add_mcp", s) }},
	{"vscode", func(s Server) string { return nameLink("vscode:mcp/install", s) }},
	{"vscode-insiders", func(s Server) string { return nameLink("vscode-insiders:mcp/install", s) }},
}

// FindLink returns the link of the client of that name.
func FindLink(name string) (Link, bool) {
	i := slices.IndexFunc(Links, func(l Link) bool { return l.Client == name })
	if i < 0 {
		return Link{}, false
	}
	return Links[i], true
}

// LinkNames are the names of the clients with a link.
func LinkNames() []string {
	names := make([]string, len(Links))
	for i, l := range Links {
		names[i] = l.Client
	}
	return names
}

// npxArgs are the arguments of npx.
func npxArgs(s Server) []string { return append([]string{"-y", entryName}, s.args()...) }

// linked is an entry in a link.
type linked struct {
	Name    string   `json:"name,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// configLink carries the name beside the entry, which is JSON in base64.
func configLink(address string, s Server) string {
	config := base64.StdEncoding.EncodeToString(entryText(linked{Command: s.Command, Args: npxArgs(s)}))
	return address + "?name=" + entryName + "&config=" + url.QueryEscape(config)
}

// nameLink is VS Code's: the whole query is the entry, with the name in it.
func nameLink(address string, s Server) string {
	text := string(entryText(linked{Name: entryName, Command: s.Command, Args: npxArgs(s)}))
	return address + "?" + escape(text)
}

func gooseLink(s Server) string {
	query := []string{"cmd=" + s.Command}
	for _, arg := range npxArgs(s) {
		query = append(query, "arg="+escape(arg))
	}
	query = append(query, "id="+entryName, "name="+entryName, "description="+
		escape("Use the web applications you are signed in to"))
	return "goose://extension?" + strings.Join(query, "&")
}

// escape is encodeURIComponent, where a blank is no plus sign.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func entryText(entry linked) []byte {
	text, err := json.Marshal(entry)
	if err != nil {
		panic("connect: an entry of strings is no JSON: " + err.Error()) // strings always are
	}
	return text
}
