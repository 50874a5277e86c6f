package front

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/call"
)

// TestCallsAreLinedUp: each call on stdio waits for the place of the one read before it, and not for its end. One that
// needs no place, here the second, does not let the third pass the first.
func TestCallsAreLinedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, Options{})
		in, lines := io.Pipe()
		served := make(chan error)
		go func() { served <- x.front.ServeStdio(t.Context(), Attachment{Key: "k"}, in, io.Discard) }()
		messages := []string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
		for id := 2; id <= 4; id++ {
			messages = append(messages, `{"jsonrpc":"2.0","id":`+strconv.Itoa(id)+`,"method":"tools/call","params":{"name":"demo__wait","arguments":{"n":`+strconv.Itoa(id)+`}}}`)
		}
		for _, m := range messages {
			if _, err := io.WriteString(lines, m+"\n"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		calls := x.calls
		open := func() string {
			synctest.Wait()
			var text strings.Builder
			for _, c := range calls {
				select {
				case <-c.After:
					text.WriteByte('1')
				default:
					text.WriteByte('0')
				}
			}
			return text.String()
		}
		for _, step := range []struct {
			place *call.Call
			want  string
		}{{nil, "100"}, {&calls[1], "100"}, {&calls[0], "111"}} {
			if step.place != nil {
				step.place.Placed()
				step.place.Placed()
			}
			if got := open(); got != step.want {
				t.Errorf("may come: %s, want %s", got, step.want)
			}
		}
		close(x.released)
		if err := lines.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-served; err != nil && err != context.Canceled {
			t.Error(err)
		}
	})
}
