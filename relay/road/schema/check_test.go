package schema

import (
	"encoding/json"
	"testing"
)

func TestMismatchIsExplained(t *testing.T) {
	const steps = `{"type":"object","properties":{"selector":{"type":"string","minLength":1},"tab_id":{"type":"integer","minimum":1},
		"options":{"type":"object","properties":{"mode":{"enum":["fast","safe"]},"50%":{"type":"number"}},"additionalProperties":false},
		"steps":{"type":"array","maxItems":3,"items":{"anyOf":[
			{"type":"object","properties":{"kind":{"const":"click"},"click":{"type":"integer"}},"required":["kind","click"],"additionalProperties":false},
			{"type":"object","properties":{"kind":{"const":"type"},"text":{"type":"string"}},"required":["kind","text"]}]}},
		"id":{"anyOf":[{"type":"string"},{"type":"integer"}]},
		"colour":{"oneOf":[{"const":"red"},{"const":"green"}]},
		"when":{"type":"string","format":"date-time"},
		"a b":{"type":"string"}},
		"required":["selector"],"additionalProperties":false}`
	tests := []struct{ name, schema, doc, want string }{
		{"valid", steps, `{"selector":"a"}`, ""},
		{"missing", steps, `{}`, `missing property "selector" (string)`},
		{"not an object", steps, `[]`, `expected object, but got array`},
		{"type", steps, `{"selector":"a","tab_id":"7"}`, `tab_id: expected integer, but got string`},
		{"fraction", steps, `{"selector":"a","tab_id":7.5}`, `tab_id: expected integer, but got number`},
		{"whole float", steps, `{"selector":"a","tab_id":7.0}`, ``},
		{"minimum", steps, `{"selector":"a","tab_id":0}`, `tab_id: must be >= 1 but found 0`},
		{"misspelt property", steps, `{"selecter":"a"}`,
			`missing property "selector" (string); unknown property "selecter" (did you mean ` +
				`"selector"?), allowed: a b, colour, id, options, selector, steps, tab_id, when`},
		{"nested misspelling", steps, `{"selector":"a","options":{"mod":"fast"}}`,
			`options: unknown property "mod" (did you mean "mode"?), allowed: 50%, mode`},
		{"enum", steps, `{"selector":"a","options":{"mode":"fats"}}`,
			`options.mode: must be one of "fast", "safe", but got "fats" (did you mean "fast"?)`},
		{"union of objects", steps, `{"selector":"a","steps":[{"kind":"click","click":1},{"kind":"click"}]}`,
			`steps[1]: fits none of the 2 alternatives; the closest one says: missing property "click" ` +
				`(integer)`},
		{"union deeper", steps, `{"selector":"a","steps":[{"kind":"type","text":5}]}`,
			`steps[0]: fits none of the 2 alternatives; the closest one says: text: expected string, but ` +
				`got number`},
		{"union of types", steps, `{"selector":"a","id":true}`,
			`id: expected string or integer, but got boolean`},
		{"union of constants", steps, `{"selector":"a","colour":"gren"}`,
			`colour: must be one of "red", "green", but got "gren" (did you mean "green"?)`},
		{"format", steps, `{"selector":"a","when":"tomorrow"}`, `when: "tomorrow" is not a valid date-time`},
		{"odd name", steps, `{"selector":"a","a b":1}`, `["a b"]: expected string, but got number`},
		{"percent in a name", steps, `{"selector":"a","options":{"50%":"x"}}`,
			`options["50%"]: expected number, but got string`},
		{"not JSON", steps, `{"selector":`, `not valid JSON`},
		{"number out of range", steps, `{"selector":"a","tab_id":1e400}`, `a number is too large`},
		{"number that broke the library", steps, `{"selector":"a","tab_id":1e1000001}`,
			`a number is too large`},
		{"percent in an enum", `{"enum":["100%s","50%d"]}`, `"x"`,
			`must be one of "100%s", "50%d", but got "x"`},
		{"closed and empty", `{"type":"object","additionalProperties":false}`, `{"x":1}`,
			`unknown property "x", no properties are allowed`},
		{"lookahead is left out", `{"type":"string","pattern":"^(?=a)b"}`, `"zzz"`, ``},
		{"lookahead as a name opens the object", `{"patternProperties":{"^(?!x)":{}},"additionalProperties":false}`,
			`{"y":1}`, ``},
		{"false", `{"properties":{"x":false}}`, `{"x":1}`, `x: not allowed here`},
		{"recursive reference",
			`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"integer"}},` +
				`"additionalProperties":false}},"$ref":"#/$defs/n"}`,
			`{"next":{"next":{"w":1}}}`, `next.next: unknown property "w", allowed: next, v`},
		{"draft 7",
			`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"type":"integer"}},` +
				`"properties":{"a":{"$ref":"#/definitions/p"}}}`, `{"a":"x"}`,
			`a: expected integer, but got string`},
		{"more than one alternative", `{"oneOf":[{"type":"integer"},{"minimum":1}]}`, `3`,
			`fits more than one of the alternatives, and must fit exactly one`},
		{"not", `{"not":{"type":"string"}}`, `"x"`, `this value is excluded by the schema`},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`,
			`property 'b' is required, if 'a' property exists`},
		{"many", `{"items":{"type":"string"}}`, `[1,2,3,4,5,6,7,8,9,10]`,
			`[0]: expected string, but got number; [1]: expected string, but got number; ` +
				`[2]: ` +
				`expected string, but got number; [3]: expected string, but got number; [4]: ` +
				`expected string, ` +
				`but got number; [5]: expected string, but got number; [6]: expected string, but ` +
				`got number; ` +
				`[7]: expected string, but got number; and 2 more`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := Compile(json.RawMessage(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			if got := Explain(s.Check(json.RawMessage(test.doc))); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}
