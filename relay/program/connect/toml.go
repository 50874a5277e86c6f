package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlDocument is a file in TOML 1.0. Its text stays as it is but for the lines of our table: nothing that writes TOML
// keeps comments and order, so the lines are found with a parser and the result is read back before anybody sees it.
type tomlDocument struct{ text []byte }

func parseTOML(text []byte) (document, error) {
	if err := toml.Unmarshal(text, new(map[string]any)); err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	return &tomlDocument{text}, nil
}

func (d *tomlDocument) pack() []byte { return d.text }

func (d *tomlDocument) has(path []string) bool {
	_, found := at(decoded(d.text), path)
	return found
}

// prune has nothing to do: no table is written but that of the entry.
func (d *tomlDocument) prune([]string) {}

func (d *tomlDocument) empty() bool { return len(bytes.TrimSpace(d.text)) == 0 }

func (d *tomlDocument) entry(path []string) (asJSON []byte, found bool) {
	value, found := at(decoded(d.text), path)
	if !found {
		return nil, false
	}
	asJSON, err := json.Marshal(value)
	return asJSON, err == nil
}

func (d *tomlDocument) put(path []string, value any) error {
	table, err := tomlTable(path, value)
	if err != nil {
		return err
	}
	if have, found := at(decoded(d.text), path); found {
		want, _ := at(decoded(table), path) // it was made with this path
		if reflect.DeepEqual(have, want) {
			return nil
		}
	}
	rest, place, err := d.without(path)
	if err != nil {
		return err
	}
	if place == len(rest) {
		rest = withBlankLine(rest)
		place = len(rest)
	} else {
		table = append(table, '\n') // the next one follows after a blank line
	}
	return d.replace(slices.Concat(rest[:place], table, rest[place:]), path)
}

func (d *tomlDocument) remove(path []string) error {
	if _, found := at(decoded(d.text), path); !found {
		return nil
	}
	rest, _, err := d.without(path)
	if err != nil {
		return err
	}
	return d.replace(rest, path)
}

// replace takes a new text, if nothing but the entry at path is different in it.
func (d *tomlDocument) replace(text []byte, path []string) error {
	if toml.Unmarshal(text, new(map[string]any)) != nil || !reflect.DeepEqual(others(d.text, path),
		others(text, path)) {
		return errors.New("its entry is written in a way that cannot be changed safely")
	}
	d.text = text
	return nil
}

// tomlTable is the table of an entry.
func tomlTable(path []string, value any) ([]byte, error) {
	body, err := toml.Marshal(value)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, name := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name) // ours: letters, digits and _
	}
	b.WriteString("]\n")
	b.Write(body)
	return b.Bytes(), nil
}

// without is the text without the table at path and the tables below it, and where it was; at its end when it was
// nowhere. Comments above the next table are that table's.
func (d *tomlDocument) without(path []string) (rest []byte, place int, err error) {
	sections, err := d.sections()
	if err != nil {
		return nil, 0, err
	}
	rest, place = bytes.Clone(d.text), -1
	for i, s := range slices.Backward(sections) {
		if !begins(s.path, path) {
			continue
		}
		end := len(d.text)
		if i+1 < len(sections) {
			end = sections[i+1].start
		}
		end = s.start + contentEnd(d.text[s.start:end])
		rest, place = cutLines(rest, s.start, end), s.start
	}
	if _, inline := at(decoded(rest), path); inline || place < 0 && d.closed(path) {
		return nil, 0, fmt.Errorf("%s is not written as tables of its own ([%s.…])", path[0], path[0])
	}
	if place < 0 || place > len(rest) {
		place = len(rest)
	}
	return rest, place, nil
}

// cutLines takes lines out, and leaves one blank line where they were between others, none at the beginning or end.
func cutLines(text []byte, start, end int) []byte {
	before, after := text[:start], bytes.TrimLeft(text[end:], "\r\n")
	if len(after) == 0 {
		before = bytes.TrimRight(before, " \t\r\n")
		if len(before) > 0 {
			before = append(slices.Clip(before), '\n')
		}
	}
	return slices.Concat(before, after)
}

// closed reports whether the object that the entry belongs into is an inline table, which takes no more members.
func (d *tomlDocument) closed(path []string) bool {
	parent, found := at(decoded(d.text), path[:len(path)-1])
	if !found {
		return false
	}
	_, isTable := parent.(map[string]any)
	trial := slices.Concat(withBlankLine(d.text), []byte("["+path[0]+".tabrelay-trial]\n"))
	return !isTable || toml.Unmarshal(trial, new(map[string]any)) != nil
}

// section is a table of the text, from its heading's line on.
type section struct {
	path  []string
	start int
}

func (d *tomlDocument) sections() (list []section, err error) {
	p := unstable.Parser{}
	p.Reset(d.text)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		s := section{start: -1}
		for key := e.Key(); key.Next(); {
			n := key.Node()
			if s.start < 0 {
				s.start = bytes.LastIndexByte(d.text[:n.Raw.Offset], '\n') + 1
			}
			s.path = append(s.path, string(n.Data))
		}
		list = append(list, s)
	}
	return list, p.Error()
}

func begins(path, with []string) bool {
	return len(path) >= len(with) && slices.Equal(path[:len(with)], with)
}

// contentEnd is where the lines of a section end, and the blank lines and comments before the next one begin.
func contentEnd(section []byte) int {
	end := 0
	for at := 0; at < len(section); {
		line := section[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		at += len(line)
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			end = at
		}
	}
	return end
}

// withBlankLine is the text with a blank line after it.
func withBlankLine(text []byte) []byte {
	text = bytes.TrimRight(text, " \t\r\n")
	if len(text) == 0 {
		return nil
	}
	return append(slices.Clip(text), "\n\n"...)
}

func decoded(text []byte) map[string]any {
	var m map[string]any
	_ = toml.Unmarshal(text, &m) // it was read before
	return m
}

// others is what a text says besides the entry at path.
func others(text []byte, path []string) map[string]any {
	m := decoded(text)
	if parent, ok := at(m, path[:len(path)-1]); ok {
		if table, ok := parent.(map[string]any); ok {
			delete(table, path[len(path)-1])
			if len(table) == 0 && len(path) == 2 {
				delete(m, path[0]) // a table that only had our entry need not stay
			}
		}
	}
	return m
}

func at(m map[string]any, path []string) (value any, found bool) {
	value = m
	for _, name := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = table[name]; !ok {
			return nil, false
		}
	}
	return value, true
}
