package front

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

var stdioFaults = []libraryFault{
	{"stdio works before initialize", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		return last(p.answer("1")).Error == nil
	}},
	{"stdio sends progress after the response", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize)
		seen := len(p.answer("0"))
		for id := 1; id <= 200; id++ {
			p.send(stepsCall(id, "{}"))
			all := p.answer(fmt.Sprint(id))
			if len(all) < seen || !whole(all[seen:], id, 5) {
				return true
			}
			seen = len(all)
		}
		return false
	}},
	{"stdio answers a cancelled call", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize, waitCall("5"))
		s.until(s.begun(1))
		p.send(cancelOf("5"))
		return p.answer("5") != nil
	}},
	{`stdio takes "7" for 7`, func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize, waitCall("7"))
		s.until(s.begun(1))
		p.send(cancelOf(`"7"`))
		defer s.release()
		return s.until(s.cancelled)
	}},
	{"stdio runs five calls at once", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize)
		for id := range 8 {
			p.send(waitCall(fmt.Sprint(id + 1)))
		}
		defer s.release()
		return !s.soon(s.begun(8))
	}},
	{"stdio loses the cancel of a call that waits for its turn", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize)
		for id := range 6 {
			p.send(waitCall(fmt.Sprint(id + 1)))
		}
		s.until(s.begun(5))
		p.send(cancelOf("6"))
		s.soon(s.cancelled)
		s.release()
		return p.answer("6") != nil
	}},
	{"stdio tells the client what a panic said", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__panic"}}`)
		return strings.Contains(last(p.answer("2")).Error.Message, "secret")
	}},
	{"stdio cancels what is in flight at the end of input", func(t *testing.T, s *side) bool {
		p := s.stdio()
		p.send(initialize, waitCall("2"))
		s.until(s.begun(1))
		_ = p.in.Close()
		cancelled := s.until(s.cancelled)
		s.release()
		<-p.done
		return cancelled
	}},
	{"stdio drops a last line without its end", func(t *testing.T, s *side) bool {
		p := s.stdio()
		p.send(initialize)
		_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		p.end()
		return len(p.messages()) < 2
	}},
	{"stdio tells a subscription of changes without its id", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen",` +
			`"params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
		s.until(func() bool { return len(p.messages()) == 1 }) // the acknowledgement
		s.change()
		s.until(func() bool { return len(p.messages()) == 2 })
		return string(last(p.messages()).Params.Meta["io.modelcontextprotocol/subscriptionId"]) != `"sub"`
	}},
	{"stdio tells one of two clients", func(t *testing.T, s *side) bool {
		a, b := s.stdio(), s.stdio()
		defer a.end()
		defer b.end()
		a.send(initialize)
		b.send(initialize)
		both := func(n int) func() bool {
			return func() bool { return len(a.messages()) == n && len(b.messages()) == n }
		}
		s.soon(both(1))
		s.change()
		return !s.soon(both(2))
	}},
	{"stdio rounds large ids", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(initialize, `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`)
		var ids string
		s.until(func() bool {
			ids = ""
			for _, m := range p.messages() {
				ids += string(m.ID) + " "
			}
			return strings.Count(ids, " ") == 2
		})
		return ids != "0 9007199254740993 "
	}},
	{"stdio reads a line of any length", func(t *testing.T, s *side) bool {
		p := s.stdio()
		defer p.end()
		p.send(strings.Replace(initialize, `"b"`, `"`+strings.Repeat("b", sideLimit)+`"`, 1))
		return p.answer("0") != nil
	}},
}

func last(messages []rpcMessage) rpcMessage { return messages[len(messages)-1] }

// begun reports whether so many calls to demo__wait have begun.
func (s *side) begun(n int) func() bool {
	return func() bool {
		started, _ := s.waiting()
		return started >= n
	}
}
