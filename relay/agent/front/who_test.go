package front

import (
	"testing"

	"tabrelay/relay/road/call"
)

// Only a client without a name is called what it calls itself: the last word counts, nonsense does not.
func TestOnlyAnUnnamedClientIsShownByItsClientInfo(t *testing.T) {
	meta := func(info string) *requestMeta { return &requestMeta{Info: []byte(info)} }
	for name, tt := range map[string]struct {
		client, opened string
		meta           *requestMeta
		want           string
	}{
		"named":             {"ann", `{"name":"bob"}`, meta(`{"name":"bob"}`), ""},
		"opened":            {call.Unnamed, `{"name":"bob","version":"1"}`, &requestMeta{}, "bob"},
		"title":             {call.Unnamed, `{"name":"bob","title":"Bob's"}`, &requestMeta{}, "Bob's"},
		"in each request":   {call.Unnamed, ``, meta(`{"name":"eve"}`), "eve"},
		"nonsense":          {call.Unnamed, `[]`, meta(`{"name":7}`), ""},
		"nothing is said":   {call.Unnamed, ``, &requestMeta{}, ""},
		"later is nonsense": {call.Unnamed, `{"name":"bob"}`, meta(`7`), "bob"},
	} {
		p := &peer{session: call.Session{Client: tt.client}}
		called := nameIn([]byte(tt.opened))
		p.selfName.Store(&called)
		if got := p.sender(tt.meta); got.Called != tt.want || got.Client != tt.client {
			t.Errorf("%s: %+v, want %q", name, got, tt.want)
		}
	}
}
