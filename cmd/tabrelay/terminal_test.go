package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
)

func TestFullDiskIsExplained(t *testing.T) {
	err := fmt.Errorf("cannot write the extension: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	if message, hint := explain(err); message != "cannot write the extension: write x: no space left on device" ||
		hint != "free some disk space, then do it again" {
		t.Errorf("%s; %s", message, hint)
	}
}

// In a narrow terminal, too, no words of others begin where a line of the relay does.
func TestLongLinesAreBroken(t *testing.T) {
	for in, want := range map[string]string{
		"  q: 12345\n  b: 5\n":     "  q: 12345\n  b: 5\n",
		"  q: 123456":              "  q: 12345\n  ↳ 6",
		"  q: 1234567890abc":       "  q: 12345\n  ↳ 67890a\n  ↳ bc",
		"    | Risk: none\n  b: 5": "    | Risk\n    ↳ : no\n    ↳ ne\n  b: 5",
		"  q: 日本語":                 "  q: 日本\n  ↳ 語",
		"  q: \tx":                 "  q: \n  ↳ \t\n  ↳ x",
		"Sentence?\n":              "Sentence?\n",
		"A sentence?\n":            "A sentence\n↳ ?\n",
		strings.Repeat(" ", 12):    strings.Repeat(" ", 10) + "\n     ↳   ",
		"":                         "",
	} {
		if got := wrapLines(in, 10); got != want {
			t.Errorf("%q is written as %q, want %q", in, got, want)
		}
	}
	if got := wrapLines("ab", 1); got != "a\n↳ b" {
		t.Errorf("in one column: %q", got)
	}
	if wrapToTerminal(&strings.Builder{}, strings.Repeat("x", 500)) != strings.Repeat("x", 500) {
		t.Error("what no terminal shows is broken, too")
	}
}

func TestShownIsTextWithoutControlCharacters(t *testing.T) {
	text := func(s string) call.Content {
		return call.Content(`{"type":"text","text":` + string(rawjson.MustEncode(s)) + `}`)
	}
	image := call.Content(`{"type":"image","data":"AAAA","mimeType":"image/png"}`)
	for _, tt := range []struct {
		content  []call.Content
		want     string
		pictures int
		ok       bool
	}{
		{[]call.Content{text("page \"Orders\"\n\tlink")}, "page \"Orders\"\n    link", 0, true},
		{[]call.Content{text("one"), text("two")}, "one\ntwo", 0, true},
		{[]call.Content{text("red\u001b[31m\u202e \u0007")}, "red[31m ", 0, true},
		{[]call.Content{text("seen"), image}, "seen", 1, true},
		{[]call.Content{text("seen"), call.Content(`{"type":"resource_link","uri":"x"}`)}, "", 0, false},
	} {
		got, pictures, ok := shown(tt.content)
		if got != tt.want || len(pictures) != tt.pictures || ok != tt.ok {
			t.Errorf("%s: %q, %v, %v", tt.content, got, pictures, ok)
		}
	}
}

func TestSavePicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shot.png")
	a := &app{terminal: terminal{err: io.Discard}}
	image := call.Content(`{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}`)
	words := call.Content(`{"type":"text","text":"320 x 200"}`)
	answer := httpapi.Answer{Content: []call.Content{words, image}}
	if err := a.savePicture(&answer, file); err != nil || len(answer.Content) != 1 {
		t.Fatal(err, answer.Content)
	}
	if data, err := os.ReadFile(file); string(data) != "hello" {
		t.Errorf("%q, %v", data, err)
	}
	for _, none := range [][]call.Content{nil, {image, image}} {
		if err := a.savePicture(&httpapi.Answer{Content: none}, file+".other"); err == nil {
			t.Errorf("%d pictures were saved", len(none))
		}
	}
}
