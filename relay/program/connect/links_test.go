package connect

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each link is read as its client's documentation says that the client reads it.
func TestLinksReadAsTheClientReadsThem(t *testing.T) {
	for _, toolset := range []string{"", "gateway", "a+b c&d,e"} {
		for _, link := range Links {
			want := linked{Command: "npx", Args: []string{"-y", "tabrelay", "mcp", "--client", link.Client}}
			if toolset != "" {
				want.Args = append(want.Args, "--toolset", toolset)
			}
			name, got := readLink(t, link.Address(toolset))
			if name != "tabrelay" {
				t.Errorf("%s: it is called %q", link.Client, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", link.Client, diff)
			}
		}
	}
}

func readLink(t *testing.T, address string) (name string, entry linked) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	switch where := u.Scheme + ":" + u.Opaque + "//" + u.Host + u.Path; where {
	case "cursor://anysphere.cursor-deeplink/mcp/install", "lmstudio://add_mcp":
		query := strictQuery(t, u)
		text, err := base64.StdEncoding.DecodeString(query.Get("config"))
		if err != nil {
			t.Fatal(err)
		}
		return query.Get("name"), parseLinked(t, text)
	case "vscode:mcp/install//", "vscode-insiders:mcp/install//":
		text, err := url.PathUnescape(u.RawQuery) // decodeURIComponent
		if err != nil {
			t.Fatal(err)
		}
		entry = parseLinked(t, []byte(text))
		name, entry.Name = entry.Name, ""
		return name, entry
	case "goose://extension":
		query := strictQuery(t, u)
		return query.Get("name"), linked{Command: query.Get("cmd"), Args: query["arg"]}
	default:
		t.Fatalf("no client is known to read %s", where)
		return "", linked{}
	}
}

func strictQuery(t *testing.T, u *url.URL) url.Values {
	t.Helper()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		t.Fatal(err)
	}
	return query
}

func parseLinked(t *testing.T, text []byte) (entry linked) {
	t.Helper()
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return entry
}

func TestLinkNames(t *testing.T) {
	for _, name := range LinkNames() {
		if link, ok := FindLink(name); !ok || link.Client != name {
			t.Errorf("%s is found as %q, %v", name, link.Client, ok)
		}
	}
	if _, ok := FindLink("zed"); ok {
		t.Error("zed has a link")
	}
}
