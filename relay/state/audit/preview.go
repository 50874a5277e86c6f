package audit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

const (
	mostPreview = 512 // bytes, without the ellipsis
	mostValue   = 200 // bytes of one text of it
	ellipsis    = "…"
	redacted    = `"[redacted]"`
)

// preview is the beginning of arguments as compact JSON on one line, without what looks like a credential. Whatever is
// left out stands as an ellipsis.
func preview(arguments json.RawMessage, cut bool) string {
	if len(arguments) == 0 {
		return ""
	}
	p := previewer{in: jsontext.NewDecoder(bytes.NewBuffer(arguments), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))}
	whole := p.next()
	for whole && p.in.StackDepth() > 0 {
		whole = p.next()
	}
	if !whole || cut {
		p.out.WriteString(ellipsis)
	}
	return p.out.String()
}

type previewer struct {
	in  *jsontext.Decoder
	out strings.Builder
}

// next writes the next part: a bracket, a name or a scalar, and reports whether there was room for it. What is not JSON
// ends there.
func (p *previewer) next() bool {
	within, n := p.in.StackIndex(p.in.StackDepth())
	token, err := p.in.ReadToken()
	if err != nil {
		return false
	}
	kind, named := token.Kind(), within == '{' && n%2 == 1
	if within != 0 && n > 0 && !named && kind != '}' && kind != ']' && !p.write(",") {
		return false
	}
	text := token.String()
	switch {
	case kind != '"':
		return p.write(text)
	case within != '{' || named:
		return p.text(text)
	case !p.text(text) || !p.write(":"):
		return false
	}
	return !fault.SecretName(text) || p.write(redacted) && p.in.SkipValue() == nil
}

// text writes a string, cut where it is long.
func (p *previewer) text(s string) bool {
	s = clip.Bytes(fault.Redact(s), mostValue+len(ellipsis))
	return p.write(string(rawjson.AppendText(nil, fault.Sanitize(s))))
}

// write adds a piece if there is room for it.
func (p *previewer) write(piece string) bool {
	if p.out.Len()+len(piece) > mostPreview {
		return false
	}
	p.out.WriteString(piece)
	return true
}
