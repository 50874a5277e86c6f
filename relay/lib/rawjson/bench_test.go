package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

// documents are what travels: a call's arguments, and results of 1 MiB that are one text or many rows.
var documents = []struct{ name, doc string }{
	{"small", `{"n":1,"tags":["a","b"],"deep":{"ok":true,"none":null}}`},
	{"text", `{"text":"` + strings.Repeat("x", 1<<20) + `","tabId":1}`},
	{"lines", `{"text":"` + strings.Repeat(`A line of a page with some \"quoted\" words in it.\n`, 1<<20/52) + `"}`},
	{"cyrillic", `{"text":"` + strings.Repeat("зерно ", 1<<20/11) + `"}`},
	{"rows", `{"rows":[` + strings.Repeat(`{"id":123,"name":"some name","tags":["a","b\n"],"ok":true},`, 17_000) +
		`null]}`},
}

func benchmark(b *testing.B, run func(doc json.RawMessage)) {
	for _, d := range documents {
		b.Run(d.name, func(b *testing.B) {
			doc := json.RawMessage(d.doc)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				run(doc)
			}
		})
	}
}

func BenchmarkValid(b *testing.B)   { benchmark(b, func(doc json.RawMessage) { Valid(doc) }) }
func BenchmarkDecode(b *testing.B)  { benchmark(b, func(doc json.RawMessage) { _, _, _ = Decode(doc) }) }
func BenchmarkDepth(b *testing.B)   { benchmark(b, func(doc json.RawMessage) { Depth(doc) }) }
func BenchmarkMembers(b *testing.B) { benchmark(b, func(doc json.RawMessage) { Members(doc) }) }

// BenchmarkText reads the value of the first member and writes it again.
func BenchmarkText(b *testing.B) {
	benchmark(b, func(doc json.RawMessage) {
		members, _ := Members(doc)
		text, _ := Text(members[0].Value)
		AppendText(nil, text)
	})
}

// BenchmarkAppendDocument compares with what writes any text.
func BenchmarkAppendDocument(b *testing.B) {
	room := make([]byte, 0, 4<<20)
	b.Run("document", func(b *testing.B) {
		benchmark(b, func(doc json.RawMessage) { AppendDocument(room, doc) })
	})
	b.Run("text", func(b *testing.B) {
		benchmark(b, func(doc json.RawMessage) { AppendText(room, []byte(doc)) })
	})
}
