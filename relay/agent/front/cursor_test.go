package front

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
)

func TestACursorReadsInItsOwnList(t *testing.T) {
	for _, offset := range []int{0, 1, 49, 50, 127, 128, 2078, 1 << 20, math.MaxInt32} {
		text := makeCursor("list 1", offset)
		if got, ok := readCursor(text, "list 1"); !ok || got != offset {
			t.Errorf("offset %d came back as %d, %t", offset, got, ok)
		}
		if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" ||
			len(text) > 31 {
			t.Errorf("the cursor %q is not short and URL-safe", text)
		}
		if _, ok := readCursor(text, "list 2"); ok {
			t.Errorf("a cursor of another list was read, offset %d", offset)
		}
	}
	if got, ok := readCursor(makeCursor("h", -3), "h"); !ok || got != 0 {
		t.Errorf("a negative offset came back as %d, %t", got, ok)
	}
}

func TestWhatMakeDidNotMakeIsNotACursor(t *testing.T) {
	good := makeCursor("h", 50)
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	spelled := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	otherVersion := append([]byte{9}, raw[1:]...)
	longOffset := append(append([]byte{}, raw[:13]...), 0x80|50, 0x00)
	huge := append(append([]byte{}, raw[:13]...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)
	overflow := append(append([]byte{}, raw[:13]...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	for name, text := range map[string]string{
		"empty": "", "words": "next page", "padding": good + "==", "a line break": good[:4] + "\n" + good[4:],
		"cut": good[:len(good)-2], "more": good + "AAAA", "very long": strings.Repeat("A", 1<<20),
		"another version": spelled(otherVersion), "no offset": spelled(raw[:13]),
		"an offset spelled longer": spelled(longOffset),
		"an offset beyond int32":   spelled(huge), "an offset beyond uint64": spelled(overflow),
		"standard alphabet": strings.NewReplacer("-", "+", "_", "/").Replace(good) + "+",
	} {
		if offset, ok := readCursor(text, "h"); ok {
			t.Errorf("%s: %.60q was read as %d", name, text, offset)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(makeCursor("h", 50), "h")
	f.Add(makeCursor("", 0), "")
	f.Add("", "h")
	f.Add("AQ", "h")
	f.Fuzz(func(t *testing.T, text, hash string) {
		offset, ok := readCursor(text, hash)
		if !ok {
			return
		}
		if offset < 0 || makeCursor(hash, offset) != text {
			t.Errorf("%q was read as %d, whose cursor is %q", text, offset, makeCursor(hash, offset))
		}
		if _, ok := readCursor(text, hash+"x"); ok {
			t.Errorf("%q reads in another list", text)
		}
	})
}

func FuzzMake(f *testing.F) {
	f.Add("h", 0)
	f.Add("", math.MaxInt)
	f.Fuzz(func(t *testing.T, hash string, offset int) {
		got, ok := readCursor(makeCursor(hash, offset), hash)
		if want := min(max(offset, 0), math.MaxInt32); !ok || got != want {
			t.Errorf("offset %d came back as %d, %t", offset, got, ok)
		}
	})
}
