package draft

import (
	"strings"
	"testing"
)

var (
	inJSON = map[string]string{"content-type": "application/json"}
	inForm = map[string]string{"content-type": "application/x-www-form-urlencoded"}
)

// Where one address serves many operations, each of them is a tool: what reads and what changes are never one.
func TestEachOperationIsATool(t *testing.T) {
	r := &tape{}
	data := map[string]any{"data": map[string]any{"teas": []any{map[string]any{"id": 1}}}}
	result := map[string]any{"result": []any{}}
	persisted := func(name, digit string) string {
		return `{"operationName":"` + name + `","variables":{"id":1},"extensions":{"persistedQuery":{"version":1,` +
			`"sha256Hash":"` + strings.Repeat(digit, 64) + `"}}}`
	}
	for _, body := range []string{`{"query":"{ teas { id } }"}`, `{"query":"mutation { first: addTea { id } }"}`,
		persisted("CupList", "a"), persisted("CupDelete", "b")} {
		r.asks("POST", site+"/graphql", inJSON, body, 200, data)
	}
	for _, query := range []string{"query+Pots+%7B+pots+%7D", "query+Lids+%7B+lids+%7D"} {
		r.asks("GET", site+"/gq?query="+query+"&variables=%7B%7D", nil, "", 200, data)
	}
	r.asks("POST", site+"/jsonrpc.php", inJSON, `{"jsonrpc":"2.0","method":"getSpoons","id":1}`, 200, result)
	r.asks("POST", site+"/jsonrpc.php", inJSON, `{"jsonrpc":"2.0","method":"sellSpoon","id":2,"params":{"n":1}}`, 200,
		result)
	r.asks("POST", site+"/rpc/", inJSON, `{"op":"listShelves","room":1,"note":""}`, 200, result)
	r.asks("POST", site+"/rpc/", inJSON, `{"op":"moveShelf","room":1,"shelf":3}`, 200, result)
	_, _, tools := drafted(t, r)
	for name, reads := range map[string]bool{"list_teas": true, "add_tea": false, "list_cup": false,
		"delete_cup": false, "list_pots": true, "list_lids": true, "get_spoons": false, "sell_spoon": false,
		"list_shelves": false, "move_shelf": false} {
		tool, ok := tools[name]
		hint := tool.Annotations.ReadOnlyHint
		if !ok || (hint != nil && *hint) != reads {
			t.Errorf("%s is there: %v, reads: %v; want %v", name, ok, hint, reads)
		}
	}
	if schema := string(tools["list_shelves"].InputSchema); !strings.Contains(schema, `"note"`) {
		t.Errorf("an empty field is no argument: %s", schema)
	}
	if len(tools) != 10 {
		t.Errorf("%d tools of 10 operations: %v", len(tools), tools)
	}
	for name, tool := range tools {
		for _, field := range []string{"op", "query", "method", "jsonrpc"} {
			if strings.Contains(string(tool.InputSchema), `"`+field+`"`) {
				t.Errorf("%s asks for the operation: %s", name, tool.InputSchema)
			}
		}
	}
}

// A form whose field for a new password stays empty is about something else; one with a password is no tool.
func TestFormsWithAnEmptyPassword(t *testing.T) {
	for _, test := range []struct {
		body        string
		given, tool bool
	}{
		{"nick=bo&new_password=", false, true},
		{"nick=bo&new_password=hunter2", true, false},
		// A script of the page sends it under another name, or what it made of it.
		{"nick=bo&answer=hunter2", false, false},
		{"nick=bo&new_password=&proof=2ab96390c7dbe3439de74d0c9b0b1767", true, false},
	} {
		r := &tape{}
		r.add(map[string]any{"kind": "submit", "label": "Save profile", "method": "POST", "action": site + "/profile",
			"page": site + "/profile", "fields": []any{map[string]any{"name": "nick", "type": "text"},
				map[string]any{"name": "new_password", "type": "password", "given": test.given}}})
		r.asks("POST", site+"/profile", inForm, test.body, 200, map[string]any{"ok": true})
		if !test.tool {
			if d, err := Make(Read(r.events), "tea", site); err == nil {
				t.Errorf("%s is a tool: %s", test.body, d.Tools[0].Name)
			}
			continue
		}
		d, _, tools := drafted(t, r)
		if len(tools) != 1 || strings.Contains(string(d.files["src/index.ts"]), "password") {
			t.Errorf("%s: %v\n%s", test.body, tools, d.files["src/index.ts"])
		}
	}
}

// The name of a script says how a site is made, and not what it is about.
func TestNamesOfScripts(t *testing.T) {
	r := &tape{}
	answer := map[string]any{"id": 17}
	r.asks("GET", site+"/cgi-bin/stock.cgi?id=1", nil, "", 200, answer)
	r.asks("GET", site+"/index.php/orders/17", nil, "", 200, answer)
	_, _, tools := drafted(t, r)
	for _, name := range []string{"get_stock", "get_order"} {
		if _, ok := tools[name]; !ok {
			t.Errorf("there is no %s among %v", name, tools)
		}
	}
}
