package relay

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
)

// What had to be repaired of a page's error is said to the agent with the error, not only in the log.
func TestRepairsAreWarnings(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) {
		c.Started()
		c.Throw(json.RawMessage(`{"code":"NO_TEA","category":"tea","retryable":"yes","message":"There is no tea"}`))
	})
	client := w.modern(r)
	answer := client.ask("tools/call", `"name":"shop__read","arguments":{}`)
	var got struct {
		Result struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
	}
	var warnings []string
	if err := json.Unmarshal(answer, &got); err != nil || json.Unmarshal(got.Result.Meta["tabrelay/warnings"],
		&warnings) != nil || len(warnings) != 2 {
		t.Errorf("%v: %s", err, answer)
	}
}
