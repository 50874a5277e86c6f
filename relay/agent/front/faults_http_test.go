package front

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/road/call"
)

var httpFaults = []libraryFault{
	{"HTTP loses progress", func(t *testing.T, s *side) bool {
		session := s.begin()
		for id := range s.tries(200) {
			x := s.post(session, stepsCall(id, "{}"))
			<-x.done
			if !whole(x.messages(), id, 5) {
				return true
			}
		}
		return false
	}},
	{"HTTP loses progress in the modern era", func(t *testing.T, s *side) bool {
		for id := range s.tries(200) {
			x := s.post("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call",`+
				`"params":{"name":"demo__steps",%s,"progressToken":%d}}}`, id, strings.TrimSuffix(modernMeta, "}"), id),
				mcp.HeaderProtocolVersion, "2026-07-28", mcp.HeaderMethod, "tools/call", mcp.HeaderName, "demo__steps")
			<-x.done
			if !whole(x.messages(), id, 5) {
				return true
			}
		}
		return false
	}},
	{"HTTP sends progress on the stream of another call", func(t *testing.T, s *side) bool {
		session := s.begin()
		for range s.tries(1) {
			var calls []*httpExchange
			for id := range 4 {
				calls = append(calls, s.post(session, stepsCall(id, `{"count":10,"gapMs":2}`)))
			}
			strayed := false
			for id, x := range calls {
				<-x.done
				for _, m := range x.messages() {
					strayed = strayed || m.Method != "" && string(m.Params.Token) != fmt.Sprint(id)
				}
			}
			if strayed {
				return true
			}
		}
		return false
	}},
	{"HTTP drops the end of a long burst", func(t *testing.T, s *side) bool {
		session := s.begin()
		for id := range s.tries(20) {
			x := s.post(session, stepsCall(id, `{"count":2000}`))
			<-x.done
			if all := x.messages(); len(all) < 2 || all[len(all)-2].Params.Progress != 2000 {
				return true
			}
		}
		return false
	}},
	{"HTTP answers everything with a stream after one notification", func(t *testing.T, s *side) bool {
		session := s.begin()
		<-s.post(session, stepsCall(1, "{}")).done
		x := s.post(session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		<-x.done
		return x.header.Get("Content-Type") != "application/json"
	}},
	{"HTTP answers a cancelled call", func(t *testing.T, s *side) bool {
		session := s.begin()
		x := s.post(session, waitCall("5"))
		synctest.Wait()
		<-s.post(session, cancelOf("5")).done
		<-x.done
		return len(x.messages()) > 0
	}},
	{"HTTP takes \"7\" for 7", func(t *testing.T, s *side) bool {
		session := s.begin()
		s.post(session, waitCall("7"))
		synctest.Wait()
		<-s.post(session, cancelOf(`"7"`)).done
		return s.until(s.cancelled)
	}},
	{"HTTP lets a stranger cancel", func(t *testing.T, s *side) bool {
		s.modern(`"id":1,`, "tools/call", `"name":"demo__wait"`)
		synctest.Wait()
		<-s.modern("", "notifications/cancelled", `"requestId":1`).done
		return s.until(s.cancelled)
	}},
	{"HTTP listens for a session that does not exist", func(t *testing.T, s *side) bool {
		return s.request(http.MethodGet, "mcp-session-00000000-0000-4000-8000-000000000000",
			"").status() == http.StatusOK
	}},
	{"HTTP takes a missing session for an unknown one", func(t *testing.T, s *side) bool {
		return s.post("", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).status() != http.StatusBadRequest
	}},
	{"HTTP splits notifications between two streams of a session", func(t *testing.T, s *side) bool {
		session := s.begin()
		first := s.request(http.MethodGet, session, "")
		second := s.request(http.MethodGet, session, "")
		synctest.Wait()
		select {
		case <-first.done: // one of the two has given way
			return false
		case <-second.done:
			return false
		default:
			return true
		}
	}},
	{"HTTP keeps subscriptions open while it shuts down", func(t *testing.T, s *side) bool {
		x := s.modern(`"id":1,`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = s.shutdown(ctx)
		synctest.Wait()
		select {
		case <-x.done:
			return false
		default:
			return true
		}
	}},
	{"HTTP tells of changes on the stream of the next request", func(t *testing.T, s *side) bool {
		session := s.begin()
		s.change()
		x := s.post(session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		<-x.done
		return x.header.Get("Content-Type") != "application/json"
	}},
	{"HTTP tells of every tool that is added", func(t *testing.T, s *side) bool {
		session := s.begin()
		x := s.request(http.MethodGet, session, "")
		synctest.Wait()
		for range 3 {
			s.changeOnce()
		}
		s.settleChanges()
		return len(x.messages()) > 1
	}},
	{"HTTP streams to a client that cannot read a stream", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), stepsCall(1, "{}"), "Accept", "application/json")
		<-x.done
		return x.header.Get("Content-Type") != "application/json"
	}},
	{"HTTP takes a lost connection of the legacy era for a cancel", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), waitCall("5"))
		synctest.Wait()
		x.cancel()
		return s.until(s.cancelled)
	}},
	{"HTTP does not say who ended a call", func(t *testing.T, s *side) bool {
		session := s.begin()
		s.post(session, waitCall("5"))
		synctest.Wait()
		<-s.post(session, cancelOf("5")).done
		s.until(s.cancelled)
		return s.causes()[0] != call.ErrCancelled
	}},
	{"HTTP has no answer when a tool panics", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__panic"}}`)
		<-x.done
		return len(x.messages()) == 0
	}},
	{"HTTP forgets its session when something is said during initialize", func(t *testing.T, s *side) bool {
		s.greets = true
		if s.ours {
			defer s.fixture.front.Log("error", "test", "hello")
		}
		return s.begin() == ""
	}},
	{"HTTP answers HEAD", func(t *testing.T, s *side) bool {
		return s.request(http.MethodHead, s.begin(), "").status() != http.StatusMethodNotAllowed
	}},
	{"HTTP has no error data", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nosuch"}}`)
		<-x.done
		return x.messages()[0].Error.Data == nil
	}},
	{"HTTP calls a batch a parse error", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
		<-x.done
		return x.messages()[0].Error.Code != mcp.INVALID_REQUEST
	}},
	{"HTTP rounds large ids", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`)
		<-x.done
		return string(x.messages()[0].ID) != "9007199254740993"
	}},
	{"HTTP takes a request with the id null for a notification", func(t *testing.T, s *side) bool {
		return s.post(s.begin(), `{"jsonrpc":"2.0","id":null,"method":"ping"}`).status() == http.StatusAccepted
	}},
	{"HTTP lets a web page in", func(t *testing.T, s *side) bool {
		return s.post("", initialize, "Origin", "http://evil.example").status() != http.StatusForbidden
	}},
	{"HTTP reads a body of any size", func(t *testing.T, s *side) bool {
		return s.post("", strings.Replace(initialize, `"b"`, `"`+strings.Repeat("b", sideLimit)+`"`,
			1)).status() == http.StatusOK
	}},
	{"HTTP makes angle brackets longer", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo",`+
			`"arguments":{"a":"<b>"}}}`)
		<-x.done
		return !strings.Contains(string(x.messages()[0].Result), "<b>")
	}},
	{"HTTP calls an unknown verb not found", func(t *testing.T, s *side) bool {
		return s.request(http.MethodPut, "", "").status() != http.StatusMethodNotAllowed
	}},
}
