package draft

import (
	"slices"
	"strings"
	"testing"
)

// An author is not ashamed of what tools are called.
func TestNamesSayWhatIsDone(t *testing.T) {
	thing, list := map[string]any{"id": 5}, map[string]any{"items": []any{}}
	for _, test := range []struct {
		method, path, body string
		answer             any
		want               string
	}{
		{"POST", "/api", `{"title":"x"}`, thing, "send_request"},
		{"GET", "/api", "", thing, "get_data"},
		{"POST", "/ajax", `{"title":"x"}`, thing, "send_request"},
		{"POST", "/wp-admin/admin-ajax.php?action=load_teas", `{"kind":"green"}`, list, "load_teas"},
		{"POST", "/options.php?action=update", `{"kind":"green"}`, list, "update_options"},
		{"POST", "/wp-json/wp/v2/posts/5", `{"title":"x"}`, thing, "update_post"},
		{"POST", "/wp-json/wp/v2/posts", `{"title":"x"}`, thing, "create_post"},
		{"POST", "/index.php?rest_route=/wp/v2/posts/5", `{"title":"x"}`, thing, "update_post"},
		{"GET", "/shelves", "", []any{thing}, "list_shelves"},
		{"GET", "/shelves/5", "", thing, "get_shelf"},
		{"GET", "/boxes/5", "", thing, "get_box"},
		{"GET", "/statuses/5", "", thing, "get_status"},
		{"GET", "/news/5", "", thing, "get_news"},
		{"GET", "/people/5", "", thing, "get_person"},
		{"GET", "/caches/5", "", thing, "get_cache"},
		{"GET", "/series/5", "", thing, "get_series"},
		{"GET", "/users/5/orders", "", []any{thing}, "list_user_orders"},
		{"POST", "/collections/5/records", `{"title":"x"}`, thing, "create_collection_record"},
		{"POST", "/search", `{"q":"tea"}`, list, "search"},
		{"POST", "/teas/search", `{"q":"tea"}`, list, "search_teas"},
		{"GET", "/teas/count", "", thing, "count_teas"},
		{"GET", "/teas/5/edit", "", thing, "get_tea_edit"},
		{"POST", "/api/teas/5/archive", `{}`, thing, "archive_tea"},
		{"DELETE", "/api/teas/5", "", thing, "delete_tea"},
	} {
		r := &tape{}
		r.asks(test.method, site+test.path, inJSON, test.body, 200, test.answer)
		d, err := Make(Read(r.events), "tea", site)
		if err != nil {
			t.Errorf("%s %s: %v", test.method, test.path, err)
		} else if got := d.Tools[0].Name; got != test.want {
			t.Errorf("%s %s: %s, want %s", test.method, test.path, got, test.want)
		}
	}
}

// What a page sends in one request are tools of their own, each with its own answer.
func TestBatchesAreTakenApart(t *testing.T) {
	r := &tape{}
	data := func(name string, value any) any { return map[string]any{"data": map[string]any{name: value}} }
	r.asks("POST", site+"/graphql", inJSON, `[{"operationName":"Cups","variables":{"n":3},`+
		`"query":"query Cups($n: Int) { cups(n: $n) { id } }"},{"operationName":"BuyCup","variables":{"id":"9"},`+
		`"query":"mutation BuyCup($id: ID!) { buyCup(id: $id) { id } }"}]`, 200, []any{
		data("cups", []any{map[string]any{"id": "1"}}),
		data("buyCup", map[string]any{"id": "9"})})
	r.asks("POST", site+"/rpc", inJSON, `[{"jsonrpc":"2.0","method":"getPot","id":1,"params":{"pot":4}},`+
		`{"jsonrpc":"2.0","method":"sellPot","id":2,"params":{"pot":4}}]`, 200,
		[]any{map[string]any{"id": 2, "result": map[string]any{"sold": true}},
			map[string]any{"id": 1, "result": map[string]any{"name": "big"}}})
	r.asks("PUT", site+"/teas", inJSON, `[{"query":"no operation"}]`, 200, map[string]any{"ok": true})
	d, _, tools := drafted(t, r)
	for name, part := range map[string]string{"list_cups": `"cups"`, "buy_cup": `"buyCup"`, "get_pot": `"name"`,
		"sell_pot": `"sold"`} {
		if schema := string(tools[name].OutputSchema); !strings.Contains(schema, part) {
			t.Errorf("%s has not its own answer: %s", name, schema)
		}
		i := slices.IndexFunc(d.Tools, func(one *tool) bool { return one.Name == name })
		if i >= 0 && !strings.Contains(strings.Join(d.Tools[i].Comments, " "), "with others in one request") {
			t.Errorf("the author is not told that %s came with others", name)
		}
	}
	if reads := tools["buy_cup"].Annotations.ReadOnlyHint; reads == nil || *reads || len(tools) != 5 {
		t.Errorf("%d tools, buy_cup reads: %v", len(tools), reads)
	}
}

// A text that holds more than a query is none.
func TestOnlyQueriesOfGraphQLRead(t *testing.T) {
	for query, reads := range map[string]bool{"query Teas { teas { id } }": true, "{ teas { id } }": true,
		"query A { teas { id } } mutation B { buy { id } }": false, "queryTeas": false, "subscription { teas }": false,
		"query deleteTeas { deleteTeas }": false} {
		r := &tape{}
		r.asks("POST", site+"/graphql", inJSON, string(toJSON(map[string]any{"query": query, "variables": struct{}{}})),
			200, map[string]any{"data": map[string]any{}})
		d, err := Make(Read(r.events), "tea", site)
		if err != nil || strings.Contains(d.Tools[0].Annotations, "readOnlyHint: true") != reads {
			t.Errorf("%s: %v, want %v", query, err, reads)
		}
	}
}

// A token that only a constant of a script has is read from there.
func TestTokenOfAScript(t *testing.T) {
	for _, before := range []string{"const csrf = '", `let t="`, "var token = `"} {
		r := &tape{}
		r.add(map[string]any{"kind": "found", "value": "t0k3nvalue99", "page": site + "/",
			"places": []any{map[string]any{"in": "script", "name": before}}})
		r.asks("POST", site+"/teas", map[string]string{"x-csrf-token": "t0k3nvalue99"}, `{"title":"x"}`, 200,
			map[string]any{"id": 1})
		d, _, _ := drafted(t, r)
		if index := string(d.files["src/tokens.ts"]); !strings.Contains(index, "fromScript(") {
			t.Errorf("after %s: %s", before, index)
		}
	}
}
