package delegation

import (
	"encoding/json"
	"fmt"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schema"
)

// Form is a JSON Schema that the answer of an agent has to fit.
type Form struct {
	text   string
	schema *schema.Schema
}

// readForm reads outputSchema; nil where there is none.
func readForm(raw json.RawMessage) (*Form, *fault.Error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		return nil, unknownBound("outputSchema is not a JSON Schema that can be used: "+err.Error(),
			"Pass a JSON Schema, such as {\"type\":\"object\",\"properties\":{…},\"required\":[…]}.")
	}
	return &Form{string(raw), compiled}, nil
}

// wanted asks for the form, behind a prompt.
func (f *Form) wanted() string {
	return "\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing else:\n" + f.text
}

// again asks for the form once more.
func (f *Form) again(problem string) string {
	return fmt.Sprintf("Your answer does not fit: %s. Give the same answer again as one JSON value that fits this "+
		"JSON "+
		"Schema, with nothing before or after it, and call no tools:\n%s", problem, f.text)
}

// mostProblem is how much is said of what is wrong with an answer.
const mostProblem = 500

// read takes the value out of an answer; problem says why it has none.
func (f *Form) read(text string) (value json.RawMessage, problem string) {
	text = strings.TrimSpace(text)
	if fenced, ok := strings.CutPrefix(text, "```"); ok {
		_, fenced, _ = strings.Cut(fenced, "\n") // the name of the language
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(fenced), "```"))
	}
	if value = json.RawMessage(text); !rawjson.Valid(value) {
		return nil, "it is not one JSON value"
	}
	if problems := f.schema.Check(value); len(problems) > 0 {
		return nil, clip.Bytes(schema.ExplainAs("answer", problems), mostProblem)
	}
	return value, ""
}
