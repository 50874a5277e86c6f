package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/fault"
)

func TestGeminiParameters(t *testing.T) {
	for params, want := range map[string]map[string]any{
		`{}`: {},
		`{` + all + `}`: {"temperature": 0.5, "maxOutputTokens": 9.0, "topP": 0.25, "topK": 3.0,
			"stopSequences": []any{"END"}},
		`{"maxTokens": 9, "topK": 1, "providerSpecific": {"cachedContent": "c",
			"generationConfig": {"topK": 2, "thinkingConfig": {"thinkingBudget": 0}}}}`: {"cachedContent": "c",
			"maxOutputTokens": 9.0, "topK": 2.0, "thinkingConfig": map[string]any{"thinkingBudget": 0.0}},
	} {
		if diff := cmp.Diff(want, mapped(t, provider.Gemini, params)); diff != "" {
			t.Errorf("%s: %s", params, diff)
		}
	}
	for _, specific := range []string{`{"generationConfig": 7}`, `{"model": 7}`} {
		s := providertest.New(t, provider.Gemini)
		r := ask("x")
		r.Params = read(t, `{"providerSpecific": `+specific+`}`)
		_, failed := s.Provider().Complete(t.Context(), r)
		if failed == nil || failed.Code != codes.ProviderBadRequest || s.HTTPCalls() != 0 {
			t.Errorf("%s: %v", specific, failed)
		}
	}
}

func TestGeminiStopReasons(t *testing.T) {
	stops(t, provider.Gemini, map[string]string{"STOP": provider.EndTurn, "MAX_TOKENS": provider.MaxTokens,
		"SAFETY": provider.ContentFilter, "RECITATION": "RECITATION"})
	done := whole(t, provider.Gemini, `{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}`)
	if done.StopReason != provider.ContentFilter || done.Message.Text != "" {
		t.Errorf("a blocked prompt: %+v", done)
	}
}

func TestGeminiGetsItsSignaturesBack(t *testing.T) {
	sent, _ := signed(t, provider.Gemini)
	const want = `{"parts":[{"text":"I look."},{"functionCall":{"args":{"x":1},"id":"1","name":"a"},` +
		`"thoughtSignature":"signed=="}],"role":"model"}`
	if !strings.Contains(sent, want) {
		t.Error(sent)
	}
}

// TestGeminiGivesCallsNoIDs: they get some here, and it does not get them back.
func TestGeminiGivesCallsNoIDs(t *testing.T) {
	s := providertest.New(t, provider.Gemini, providertest.Step{Calls: []provider.ToolCall{{Name: "a",
		Arguments: []byte(`{}`)}, {Name: "a", Arguments: []byte(`null`)}}}, providertest.Step{Text: "ok"})
	p, r := s.Provider(), ask("look")
	done := complete(t, p, r)
	calls := done.Message.Calls
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID || string(calls[1].Arguments) != "{}" {
		t.Fatalf("%+v", calls)
	}
	r.Messages = append(r.Messages, done.Message, provider.Message{Role: provider.User, Results: []provider.ToolResult{
		{ID: calls[0].ID, Name: "a", Text: "1"}, {ID: calls[1].ID, Name: "a", Text: "2", Failed: true}}})
	complete(t, p, r)
	body := string(s.Requests()[1].Body)
	const want = `{"parts":[{"functionResponse":{"name":"a","response":{"result":"1"}}},` +
		`{"functionResponse":{"name":"a","response":{"error":"2"}}}],"role":"user"}`
	if !strings.Contains(body, want) || strings.Contains(body, calls[0].ID) {
		t.Error(body)
	}
}

func TestGeminiSeesPictures(t *testing.T) {
	const want = `{"functionResponse":{"id":"a","name":"shot","response":{"result":"taken"}}},` +
		`{"inlineData":{"data":"cG5n","mimeType":"image/png"}}`
	if body := pictured(t, provider.Gemini, "gemini-3"); !strings.Contains(body, want) {
		t.Error(body)
	}
}

// TestGeminiRefusesInItsWay: a wrong key is a 400, a list is sent in place of an object, and when to come back stands
// among the details.
func TestGeminiRefusesInItsWay(t *testing.T) {
	refuse := func(status int, body string) *fault.Error {
		s := providertest.New(t, provider.Gemini, providertest.Step{Status: status, Body: body})
		_, failed := s.Provider().Complete(t.Context(), ask("x"))
		if failed == nil || s.HTTPCalls() != 1 {
			t.Fatalf("%v after %d calls", failed, s.HTTPCalls())
		}
		return failed
	}
	failed := refuse(http.StatusBadRequest, `[{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
		"API key not valid.", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
		"reason": "API_KEY_INVALID"}]}}]`)
	if failed.Code != codes.ProviderAuth || !strings.Contains(failed.Message, "API key not valid.") {
		t.Errorf("%v", failed)
	}
	failed = refuse(http.StatusTooManyRequests, `{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
		"message": "quota", "details": [{"@type": "type.googleapis.com/google.rpc.Help", "links": []},
		{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]}}`)
	if failed.Code != fault.RateLimited || failed.RetryAfterMs == nil || *failed.RetryAfterMs != 12500 {
		t.Errorf("%v", failed)
	}
}
