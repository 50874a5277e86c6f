package audit

import (
	"bytes"
	"encoding/json"
	"strings"

	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
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
	p := previewer{in: json.NewDecoder(bytes.NewReader(arguments))}
	p.in.UseNumber()
	if !p.value() || cut {
		p.out.WriteString(ellipsis)
	}
	return p.out.String()
}

type previewer struct {
	in  *json.Decoder
	out strings.Builder
}

// value writes the next value, and reports whether there was room for all of it. What is not JSON ends there.
func (p *previewer) value() bool {
	token, err := p.in.Token()
	if err != nil {
		return false
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return p.members()
		}
		return p.items()
	case string:
		return p.text(token)
	case json.Number:
		return p.write(token.String())
	case bool:
		if token {
			return p.write("true")
		}
		return p.write("false")
	}
	return p.write("null")
}

func (p *previewer) members() bool {
	if !p.write("{") {
		return false
	}
	for n := 0; p.in.More(); n++ {
		token, err := p.in.Token()
		name, ok := token.(string)
		if err != nil || !ok || n > 0 && !p.write(",") || !p.text(name) || !p.write(":") {
			return false
		}
		if !fault.SecretName(name) {
			if !p.value() {
				return false
			}
			continue
		}
		var hidden json.RawMessage
		if !p.write(redacted) || p.in.Decode(&hidden) != nil {
			return false
		}
	}
	return p.end("}")
}

func (p *previewer) items() bool {
	if !p.write("[") {
		return false
	}
	for n := 0; p.in.More(); n++ {
		if n > 0 && !p.write(",") || !p.value() {
			return false
		}
	}
	return p.end("]")
}

// end closes an object or a list.
func (p *previewer) end(mark string) bool {
	_, err := p.in.Token()
	return err == nil && p.write(mark)
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
