package join

import (
	"encoding/json"
	"errors"

	"tabrelay/relay/fault"
)

// apologize answers requests that no relay will answer. An error is that of the client's end.
func (s *Shim) apologize(lost []line, cause error, outcome fault.Outcome) error {
	for _, m := range lost {
		if err := s.print(apology(m, cause, outcome)); err != nil {
			return err
		}
	}
	return nil
}

// apology is the answer to a request that no relay will answer: a failed result for a tool call, because models
// read results, and a JSON-RPC error for anything else.
func apology(m line, cause error, outcome fault.Outcome) []byte {
	failure := lost(cause, outcome)
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

// lost is why a request has no answer. A relay that no longer knows the client has said so itself.
func lost(cause error, outcome fault.Outcome) *fault.Error {
	hint := fault.WithHint(advice(cause, outcome))
	var refused *Refused
	if errors.As(cause, &refused) && refused.Code == string(fault.Unauthorized) {
		return fault.New(fault.Unauthorized, fault.Sanitize(refused.Message), fault.WithOutcome(outcome), hint)
	}
	return fault.New(fault.ExtensionLost, "The relay ended, and no other could be joined: "+fault.Sanitize(cause.Error()),
		fault.WithOutcome(outcome), fault.WithRetryable(outcome == fault.NotExecuted), hint)
}

func advice(cause error, outcome fault.Outcome) string {
	hint := nextStep(cause)
	if outcome == fault.Unknown {
		hint += "\nread the page before repeating the action."
	}
	return hint
}

// nextStep is what the person does about a relay that cannot be had.
func nextStep(cause error) string {
	var hinted interface {
		error
		Hint() string
	}
	var refused *Refused
	switch {
	case errors.Is(cause, errStopped):
		return "Ask the person to run: tabrelay up"
	case errors.As(cause, &refused) && refused.Hint != "":
		return refused.Hint
	case errors.As(cause, &hinted) && hinted.Hint() != "":
		return hinted.Hint()
	}
	return "Ask the person to run: tabrelay doctor"
}
