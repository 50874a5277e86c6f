package front

import (
	"context"
	"io"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
)

// TestCallsKeepTheirOrder: each call on stdio gets the next position when it is read, and gives it up at its end. What
// never becomes a call, here the second, does so as well.
func TestCallsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, Options{})
		in, lines := io.Pipe()
		served := make(chan error)
		go func() { served <- x.front.ServeStdio(t.Context(), Attachment{Key: "k"}, in, io.Discard) }()
		messages := []string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
		for id, tool := range []string{"wait", "unknown", "wait"} {
			messages = append(messages, `{"jsonrpc":"2.0","id":`+strconv.Itoa(id+2)+
				`,"method":"tools/call","params":{"name":"demo__`+tool+`"}}`)
		}
		for _, m := range messages {
			if _, err := io.WriteString(lines, m+"\n"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if x.calls[0].Position != 1 || x.calls[1].Position != 3 {
			t.Errorf("the calls have the positions %d and %d", x.calls[0].Position, x.calls[1].Position)
		}
		if want := []bool{true, false, true}; !slices.Equal(x.held, want) {
			t.Errorf("positions held: %v, want %v", x.held, want)
		}
		close(x.released)
		synctest.Wait()
		if slices.Contains(x.held, true) {
			t.Errorf("positions held in the end: %v", x.held)
		}
		if err := lines.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-served; err != nil && err != context.Canceled {
			t.Error(err)
		}
	})
}
