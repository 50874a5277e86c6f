package hub_test

import (
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// An extension that would not keep to the rules about sites is given nothing that needs them.
func TestOldExtensionIsGivenNoCallWithSites(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(func(o *hubtest.Options) { o.Protocol = wire.Range{Min: 1, Max: wire.WithSites - 1} })
		bound := request(func(r *call.Invocation) { r.Sites = &call.Sites{Rest: call.SiteOpen} })
		l.invoke(bound).want(t, fault.VersionMismatch, fault.NotExecuted)
		if _, failure := l.hub.Command(t.Context(), "", "tabs.read", map[string]any{"tabId": 1}); failure == nil ||
			failure.Code != fault.VersionMismatch {
			t.Errorf("a page that is read by URI: %v", failure)
		}
		opening := map[string]any{"sites": call.Sites{}}
		if _, failure := l.hub.Command(t.Context(), "", "tabs.create", opening); failure == nil ||
			failure.Code != fault.VersionMismatch {
			t.Errorf("a tab that is opened for an agent: %v", failure)
		}
		if got := l.invoke(request()); got.failure != nil {
			t.Errorf("a call in the page alone: %v", got.failure)
		}
	})
}
