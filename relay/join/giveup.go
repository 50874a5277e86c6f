package join

import (
	"encoding/json"
	"errors"
	"fmt"

	"tabrelay/relay/fault"
)

// giveUp answers every request that waits, when no relay can be had. An error is that of the client's end.
func (s *Shim) giveUp(cause error) error {
	s.Log.Error().Err(cause).Msg("cannot join a relay")
	if err := s.apologize(s.ledger.abandon(), cause, fault.Unknown); err != nil {
		return err
	}
	s.sending.Lock()
	for _, text := range s.held {
		s.ledger.sent(text)
	}
	s.held = nil
	s.sending.Unlock()
	return s.apologize(s.ledger.abandon(), cause, fault.NotExecuted)
}

func (s *Shim) apologize(lost []line, cause error, outcome fault.Outcome) error {
	for _, m := range lost {
		if _, err := s.Out.Write(append(apology(m, cause, outcome), '\n')); err != nil {
			return fmt.Errorf("the client does not read any more: %w", err)
		}
	}
	return nil
}

// apology is the answer to a request that no relay will answer: a failed result for a tool call, because models
// read results, and a JSON-RPC error for anything else.
func apology(m line, cause error, outcome fault.Outcome) []byte {
	failure := fault.New(fault.ExtensionLost, "The relay ended, and no other could be joined: "+fault.Sanitize(cause.Error()),
		fault.WithOutcome(outcome), fault.WithRetryable(outcome == fault.NotExecuted), fault.WithHint(advice(cause, outcome)))
	reply := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(m.id)}
	if m.method == "tools/call" {
		var content []map[string]string
		for _, text := range failure.Text() {
			content = append(content, map[string]string{"type": "text", "text": text})
		}
		reply["result"] = map[string]any{"content": content, "isError": true, "_meta": map[string]any{"tabrelay/error": failure}}
	} else {
		reply["error"] = map[string]any{"code": failure.RPC(), "message": failure.Message, "data": failure}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		panic("join: a failure does not encode: " + err.Error()) // it is made of strings and numbers
	}
	return text
}

func advice(cause error, outcome fault.Outcome) string {
	hint := "ask the person to run: tabrelay doctor"
	var unable *StartError
	switch {
	case errors.Is(cause, errStopped):
		hint = "ask the person to run: tabrelay up"
	case errors.As(cause, &unable) && unable.Hint() != "":
		hint = unable.Hint()
	}
	if outcome == fault.Unknown {
		hint += "\nread the page before repeating the action."
	}
	return hint
}
