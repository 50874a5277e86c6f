package effect

import (
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/lib/rawjson"
)

// facts says everything that was not said yet, a line for each: `name: what`.
func (w *writer) facts(members []rawjson.Member, said ...string) {
	for _, one := range members {
		if slices.Contains(said, one.Name) || string(one.Value) == "null" {
			continue
		}
		items, isList := rawjson.Items(one.Value)
		if !isList || len(items) == 0 {
			items = []json.RawMessage{one.Value}
		}
		for _, item := range items {
			w.say(word(one.Name) + ": " + factOf(one.Name, item))
		}
	}
}

// factOf is a value in the words for it.
func factOf(name string, value json.RawMessage) string {
	text, isText := rawjson.Text(value)
	members, _ := rawjson.Members(value)
	switch name {
	case "url", "leaving", "downloads", "blockedWindows":
		if isText && strings.Contains(text, ":") {
			return address(text)
		}
	case "note":
		if isText {
			return tidy(text)
		}
	case "status":
		if text == "loading" {
			return text
		}
	case "opened":
		url, _ := rawjson.Text(rawjson.Get(members, "url"))
		if tab := rawjson.Get(members, "tabId"); tab != nil {
			return "tab " + plain(tab) + " " + address(url)
		}
	case "dialogs":
		kind, _ := rawjson.Text(rawjson.Get(members, "kind"))
		if plainWord.MatchString(kind) {
			return kind + " " + quoted(rawjson.Get(members, "text")) + " answered " +
				quoted(rawjson.Get(members, "answered"))
		}
	}
	return quoted(value)
}
