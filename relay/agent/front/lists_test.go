package front

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// TestCursorsReachEveryItemOnceInOrder: following the cursors of any page size gives every item once, in order, and
// then ends.
func TestCursorsReachEveryItemOnceInOrder(t *testing.T) {
	for total := range 7 {
		items := make([][]byte, total)
		for i := range items {
			items[i] = fmt.Appendf(nil, "%d", i)
		}
		digest := digestOf("x", items)
		for size := 0; size <= total+1; size++ {
			var seen []int
			m := &message{}
			for {
				from, to, next, fail := page(m, digest, total, size)
				if fail != nil {
					t.Fatal(total, size, fail)
				}
				for i := from; i < to; i++ {
					seen = append(seen, i)
				}
				if next == "" {
					break
				}
				m = &message{members: []rawjson.Member{rawjson.Make("cursor", rawjson.AppendText(nil, next))}}
			}
			want := make([]int, total)
			for i := range want {
				want[i] = i
			}
			if !slices.Equal(seen, want) {
				t.Errorf("%d items by %d: %v", total, size, seen)
			}
		}
	}
}

// TestDifferentListsHaveDifferentDigests: lists that differ in anything have different digests, also where their items
// say the same end to end.
func TestDifferentListsHaveDifferentDigests(t *testing.T) {
	b := func(items ...string) (all [][]byte) {
		for _, item := range items {
			all = append(all, []byte(item))
		}
		return all
	}
	seen := map[string]bool{}
	for i, d := range []string{digestOf("a", nil), digestOf("b", nil), digestOf("a", b("x")),
		digestOf("a", b("x", "y")), digestOf("a", b("xy")), digestOf("a", b("y", "x"))} {
		if seen[d] {
			t.Error("the same digest again at", i)
		}
		seen[d] = true
	}
}

// FuzzPage: whatever a client sends as cursor and limit, the page lies within the list or the request is refused.
func FuzzPage(f *testing.F) {
	f.Add(`{"limit":2}`, 5)
	f.Add(`{"cursor":"AQ","limit":200}`, 300)
	f.Add(`{"cursor":7,"limit":1e3}`, 0)
	f.Fuzz(func(t *testing.T, params string, total int) {
		m, fail := parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":` + params + `}`))
		if fail != nil || total < 0 || total > 1000 {
			return
		}
		from, to, next, fail := page(&m, "digest", total, pageSize)
		if fail != nil {
			if fail.Code != fault.InvalidCursor && fail.Code != fault.InvalidParams {
				t.Error(fail)
			}
			return
		}
		if from < 0 || to < from || to > total || (next == "") != (to == total) {
			t.Errorf("%s: from %d to %d of %d, next %q", params, from, to, total, next)
		}
	})
}

// TestNothingBehind: what the relay has nothing behind is neither announced nor answered.
func TestNothingBehind(t *testing.T) {
	x := newFixture(t, Options{})
	o := x.front.options
	o.Resources, o.Prompts, o.Completer = nil, nil, nil
	bare := New(o)
	s := &side{t: t, handler: bare.Handler(), shutdown: bare.Shutdown, release: func() {}}
	defer s.close()
	defer func() { _ = x.front.Shutdown(context.Background()) }()
	begun := s.post("", initialize)
	<-begun.done
	if text := begun.text.String(); !strings.Contains(text,
		`"capabilities":{"logging":{},"tools":{"listChanged":true}}`) {
		t.Error(text)
	}
	for _, method := range []string{"resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete"} {
		x := s.post(begun.header.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","id":1,"method":"`+method+
			`","params":{"uri":"demo://text","name":"greet"}}`)
		<-x.done
		if all := readMessages(x.text.String()); len(all) != 1 || all[0].Error == nil || all[0].Error.Code != -32601 {
			t.Error(method, x.text.String())
		}
	}
}

// TestLongCallKeepsSession: a session with a call in flight is in use, however long that takes; one that nobody uses
// ends after an hour, and what it listened to with it.
func TestLongCallKeepsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSide(t, true)
		s.bubble = true
		defer s.close()
		busy, idle := s.begin(), s.begin()
		s.post(busy, waitCall("1"))
		<-s.post(idle, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"demo://text"}}`).done
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		for session, want := range map[string]int{busy: 200, idle: 404} {
			if got := s.post(session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`).status(); got != want {
				t.Errorf("status %d, want %d", got, want)
			}
		}
		if n := s.fixture.touch("demo://text"); n != 0 {
			t.Error(n, "listen to a resource")
		}
	})
}

// TestParkedIsBounded: only so many requests can stand still at once; the next is told, and its call goes on.
func TestParkedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSide(t, true)
		s.bubble = true
		defer s.close()
		ask := func(id int) *httpExchange {
			x := s.modernAs(fmt.Sprintf(`"id":%d,`, id), "tools/call", `"name":"demo__ask"`, `{"elicitation":{}}`)
			<-x.done
			return x
		}
		for id := range maxSuspended {
			if text := ask(id).text.String(); !strings.Contains(text, `"input_required"`) {
				t.Fatal(id, text)
			}
		}
		if text := ask(maxSuspended).text.String(); !strings.Contains(text, "too many requests wait") {
			t.Error(text)
		}
		time.Sleep(answerTime)
		synctest.Wait()
		if text := ask(0).text.String(); !strings.Contains(text, `"input_required"`) {
			t.Error("answerTime is over, and still: " + text)
		}
	})
}

// TestAcknowledgedFirst: what changes while a client subscribes is told behind the acknowledgement.
func TestAcknowledgedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSide(t, true)
		s.bubble = true
		defer s.close()
		x := s.modern(`"id":1,`, "subscriptions/listen",
			`"notifications":{"resourceSubscriptions":["demo://item/restless"]}`)
		var heard []string
		for _, m := range x.messages() {
			heard = append(heard, m.Method)
		}
		if want := []string{"notifications/subscriptions/acknowledged",
			"notifications/resources/updated"}; !slices.Equal(heard, want) {
			t.Errorf("the client hears %q, want %q", heard, want)
		}
	})
}
