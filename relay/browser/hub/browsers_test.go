package hub_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/fault"
)

func TestPluginsAreToldOnConnectAndOnChange(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
		l.hub.SetPlugins([]wire.Plugin{{Name: "demo", Hash: one, World: "main", File: "adapters/demo-1.js"}})
		b := l.connect()
		if err := b.AwaitPlugin(t.Context(), "demo", one); err != nil {
			t.Fatal(err)
		}
		l.hub.SetPlugins([]wire.Plugin{{Name: "demo", Hash: two, World: "main", File: "adapters/demo-2.js"}})
		if err := b.AwaitPlugin(t.Context(), "demo", two); err != nil {
			t.Fatal(err)
		}
		if p := b.Plugins()[0]; p.Matches == nil || p.Excludes == nil {
			t.Errorf("a list is null: %+v", p)
		}
	})
}

func TestCommandsAreAnsweredByTheirProfile(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		_, failure := l.hub.Command(t.Context(), "", "reload", nil)
		result{failure: failure}.want(t, fault.ExtensionNotInstalled, fault.NotExecuted)
		b := l.connect(func(o *hubtest.Options) {
			o.Command = func(c *wire.Command) *wire.Reply {
				switch c.Name {
				case "tabs.create":
					return &wire.Reply{OK: true, Result: c.Params}
				case "reload":
					return &wire.Reply{OK: true}
				}
				return &wire.Reply{Error: &wire.ReplyError{Code: "TAB_NOT_FOUND", Message: "There is no such tab"}}
			}
		})
		raw, failure := l.hub.Command(t.Context(), "Test", "tabs.create", map[string]string{"url": "http://demo.test/"})
		if failure != nil || string(raw) != `{"url":"http://demo.test/"}` {
			t.Errorf("got %s, %v", raw, failure)
		}
		if _, failure = l.hub.Command(t.Context(), b.ProfileID(), "reload", nil); failure != nil {
			t.Error(failure)
		}
		_, failure = l.hub.Command(t.Context(), "", "tabs.activate", map[string]int{"tabId": 7})
		result{failure: failure}.want(t, fault.TabNotFound, fault.NotExecuted)
		_, failure = l.hub.Command(t.Context(), "Other", "reload", nil)
		result{failure: failure}.want(t, fault.ProfileNotConnected, fault.NotExecuted)
	})
}

func TestCommandWaitsForABrowserOnItsWay(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(func(o *hubtest.Options) {
			o.Command = func(*wire.Command) *wire.Reply { return &wire.Reply{OK: true} }
		})
		b.Drop()
		synctest.Wait()
		done := make(chan *fault.Error, 1)
		go func() {
			_, failure := l.hub.Command(t.Context(), "", "reload", nil)
			done <- failure
		}()
		synctest.Wait()
		if err := b.Dial(t.Context()); err != nil {
			t.Fatal(err)
		}
		if failure := <-done; failure != nil {
			t.Error(failure)
		}

		b.Drop()
		synctest.Wait()
		began := time.Now()
		_, failure := l.hub.Command(t.Context(), "", "reload", nil)
		result{failure: failure}.want(t, fault.WorkerAsleep, fault.NotExecuted)
		if waited := time.Since(began); waited != wire.ReconnectWait {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestCloseWaitsForCalls(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request()
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			l.hub.Close(t.Context())
		}()
		synctest.Wait()
		l.invoke(request()).want(t, fault.ShuttingDown, fault.NotExecuted)
		select {
		case <-closed:
			t.Fatal("Close did not wait")
		default:
		}
		c.Return(json.RawMessage("1"))
		(<-done).wantOutput(t, "1")
		<-closed
		<-b.Gone()
		if b.CloseCode() != 1001 {
			t.Errorf("closed with %d", b.CloseCode())
		}
	})
}

func TestStatusFollowsConnections(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		if f := l.hub.Trouble(); f == nil || f.Code != fault.ExtensionNotInstalled {
			t.Errorf("trouble is %v", f)
		}
		var events []hub.EventKind
		l.hub.Events(func(e hub.Event) { events = append(events, e.Kind) })
		b := l.connect(func(o *hubtest.Options) { o.Bundle = "b0" })
		b.Send(&wire.Notice{Level: "warning", Message: "access\nis missing"})
		b.Send(&wire.Notice{Level: "warning", Message: "access\nis missing"})
		synctest.Wait()
		list := l.hub.Browsers()
		if len(list) != 1 || !list[0].Connected || !list[0].UpToDate || list[0].Tabs != 1 || list[0].Label != "Test" ||
			len(list[0].Notices) != 1 || list[0].Notices[0].Message != "access is missing" {
			t.Errorf("got %+v", list)
		}
		if tabs := l.hub.Tabs(); len(tabs) != 1 || tabs[0].ID != 1 || tabs[0].Profile != "Test" {
			t.Errorf("got %+v", tabs)
		}
		if l.hub.Trouble() != nil || l.meter.browsers.Load() != 1 {
			t.Error("it does not count as connected")
		}
		b.Close()
		synctest.Wait()
		if list := l.hub.Browsers(); list[0].Connected || len(l.hub.Tabs()) != 0 || l.meter.browsers.Load() != 0 {
			t.Errorf("got %+v", list)
		}
		want := []hub.EventKind{hub.Connected, hub.Noticed, hub.Noticed, hub.Disconnected}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
