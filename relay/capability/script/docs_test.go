package script

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// The examples of docs/scripts.md do what it says.
func TestDocumentedScripts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, nil)
	s.does["wiki__list_pages"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return returns(`{"result":["Tea","Milk"]}`), nil
	}
	s.does["wiki__get_page"] = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		if strings.Contains(string(c.Arguments), "Tea") {
			return returns(`{"title":"Tea","lines":["Leaves."]}`), nil
		}
		return returns(`{"title":"Milk","lines":["White."]}`), nil
	}
	s.does["wiki__edit_page"] = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		if strings.Contains(string(c.Arguments), "Milk") {
			return nil, fault.New(fault.ValidationError, "No milk")
		}
		return returns(`{}`), nil
	}
	scripts := regexp.MustCompile("(?s)```js\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	wants := []string{"", `{"saved":1,"failed":[{"title":"Milk","code":"VALIDATION_ERROR"}]}`}
	var documented struct{ Value json.RawMessage }
	answer := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(string(page))
	if len(scripts) != len(wants) || answer == nil || json.Unmarshal([]byte(answer[1]), &documented) != nil {
		t.Fatalf("the page has %d scripts and the answer %v", len(scripts), answer)
	}
	wants[0] = string(documented.Value)
	for i, script := range scripts {
		if a := s.value(script[1]); string(a.Value) != wants[i] {
			t.Errorf("%s\nreturned %s, not %s", script[1], a.Value, wants[i])
		}
	}
	types := regexp.MustCompile("(?s)```ts\n(.*?)\n```").FindStringSubmatch(string(page))
	if tool, ok := s.Find("wiki__get_page"); !ok || types == nil || tool.Types() != types[1] {
		t.Errorf("the types are\n%s", tool.Types())
	}
}
