package delegation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tabrelay/relay/capability/delegation/provider"
)

// checkPairs fails the test unless every call has its answer in the next message, and every answer its call.
func checkPairs(t testing.TB, messages []provider.Message) {
	t.Helper()
	for i, m := range messages {
		if len(m.Results) > 0 && (i == 0 || len(messages[i-1].Calls) != len(m.Results)) {
			t.Errorf("message %d answers calls that are not there", i)
		}
		if len(m.Calls) == 0 {
			continue
		}
		if i+1 == len(messages) || len(messages[i+1].Results) != len(m.Calls) {
			t.Fatalf("message %d has calls without answers", i)
		}
		for j, c := range m.Calls {
			if messages[i+1].Results[j].ID != c.ID {
				t.Errorf("message %d: call %s is answered by %s", i, c.ID, messages[i+1].Results[j].ID)
			}
		}
	}
}

// TestHistoryFits makes conversations of every shape and sees that they fit, that no call is parted from its answer and
// that what is asked now stays.
func TestHistoryFits(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 5))
		h, id, prompt := history{most: 2000}, 0, ""
		for turn := range 1 + random.IntN(6) {
			prompt = fmt.Sprint("prompt ", turn)
			h.add(provider.Message{Role: provider.User, Text: prompt})
			for range random.IntN(8) {
				m, r := provider.Message{Role: provider.Assistant}, provider.Message{Role: provider.User}
				for range 1 + random.IntN(3) {
					id++
					m.Calls = append(m.Calls, provider.ToolCall{ID: fmt.Sprint(id), Name: "wiki__read"})
					r.Results = append(r.Results, provider.ToolResult{
						ID: fmt.Sprint(id), Name: "wiki__read", Text: strings.Repeat("x", random.IntN(3000)),
					})
				}
				h.add(m)
				h.add(r)
				h.fit(100)
				checkPairs(t, h.messages)
				if n := h.corrected(h.raw() + 100); n > h.most {
					t.Errorf("seed %d: %d tokens", seed, n)
				}
				h.measured(h.raw()+random.IntN(200), 100)
			}
			if last := h.messages[len(h.messages)-1]; len(last.Results) > 0 {
				h.add(provider.Message{Role: provider.Assistant, Text: "answer"})
			}
		}
		found := false
		for _, m := range h.messages {
			found = found || strings.HasSuffix(m.Text, prompt)
		}
		if !found {
			t.Errorf("seed %d: %q is gone", seed, prompt)
		}
		if t.Failed() {
			return
		}
	}
}

// TestOldPagesGoFirst: of a conversation that is too long, the oldest answers go, and nothing else where that is
// enough.
func TestOldPagesGoFirst(t *testing.T) {
	h := history{most: 1000}
	for i := range 3 {
		id := fmt.Sprint(i)
		h.add(provider.Message{Role: provider.User, Text: "prompt " + id})
		h.add(provider.Message{Role: provider.Assistant, Calls: []provider.ToolCall{{ID: id, Name: "wiki__read"}}})
		h.add(provider.Message{Role: provider.User, Results: []provider.ToolResult{
			{ID: id, Name: "wiki__read", Text: strings.Repeat("x", 1400)}}})
	}
	before := h.copy()
	h.fit(0)
	if len(h.messages) != 9 || !strings.HasPrefix(h.messages[2].Results[0].Text, "(The answer of wiki__read, 1400 ") ||
		len(h.messages[8].Results[0].Text) != 1400 {
		t.Errorf("left are %+v", h.messages)
	}
	if len(before.messages[2].Results[0].Text) != 1400 {
		t.Error("the conversation before was changed")
	}
}
