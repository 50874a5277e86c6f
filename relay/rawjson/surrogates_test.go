package rawjson_test

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/rawjson"
)

func TestMend(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`:                   `"plain"`,
		`"\n\u00e9\\ud800"`:         `"\n\u00e9\\ud800"`,
		`"\ud83d\ude00"`:            `"\ud83d\ude00"`,
		`"a\ud800b"`:                `"a\ufffdb"`,
		`"\uDC00"`:                  `"\ufffd"`,
		`"\ud800\ud83d\ude00"`:      `"\ufffd\ud83d\ude00"`,
		`"\ud800\u0041"`:            `"\ufffd\u0041"`,
		`{"\udfff":["\ud800\\u"]}`:  `{"\ufffd":["\ufffd\\u"]}`,
		`"cut off \ud8`:             `"cut off \ud8`,
		`"\`:                        `"\`,
		`"\ud83d\ude00\ude00 \\\\"`: `"\ud83d\ude00\ufffd \\\\"`,
	} {
		got, changed := rawjson.Mend([]byte(raw))
		if string(got) != want || changed != (raw != want) {
			t.Errorf("%s: got %s (changed %v), want %s", raw, got, changed, want)
		}
	}
}

func FuzzMend(f *testing.F) {
	f.Add([]byte(`"a\ud800\\ud800\"\udc00"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, _ := rawjson.Mend(raw)
		if json.Valid(raw) != json.Valid(got) {
			t.Errorf("%q became %q", raw, got)
		}
		if again, changed := rawjson.Mend(got); changed {
			t.Errorf("%q was not whole: %q", got, again)
		}
	})
}
