package provider

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// profile says how a model takes the parameters of a request.
type profile struct {
	rename   map[string]string // a parameter's name in the body, where that is another
	leave    []string          // parameters that it does not take
	defaults object            // members of the body where nothing is given
	images   bool              // the answers of tools may have pictures
}

// profiles are those of one wire: always is that of every model; of the others, the longest prefix is laid over it, and
// the exact name over that. A prefix ends where a word does: gpt-4 is one of gpt-4-turbo, not of gpt-4o. Case does not
// count.
type profiles struct {
	always   profile
	prefixes map[string]profile
	exact    map[string]profile
}

// of is the profile of a model.
func (p profiles) of(model string) profile {
	model = strings.ToLower(model)
	longest := ""
	for prefix := range p.prefixes {
		if len(prefix) > len(longest) && beginsWith(model, prefix) {
			longest = prefix
		}
	}
	result := p.always
	if longest != "" {
		result = result.under(p.prefixes[longest])
	}
	if exact, known := p.exact[model]; known {
		result = result.under(exact)
	}
	return result
}

func beginsWith(model, prefix string) bool {
	rest, found := strings.CutPrefix(model, prefix)
	next, _ := utf8.DecodeRuneInString(rest)
	return found && (rest == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next))
}

// under lays another profile over p.
func (p profile) under(over profile) profile {
	return profile{
		rename: laid(p.rename, over.rename), leave: append(p.leave[:len(p.leave):len(p.leave)], over.leave...),
		defaults: laid(p.defaults, over.defaults), images: p.images || over.images,
	}
}

func laid[V any](below, over map[string]V) map[string]V {
	if len(over) == 0 {
		return below
	}
	result := map[string]V{}
	maps.Copy(result, below)
	maps.Copy(result, over)
	return result
}

// put writes the parameters into a body.
func (p profile) put(body object, params Params) {
	maps.Copy(body, p.defaults)
	named := object{}
	add(named, "temperature", params.Temperature)
	add(named, "maxTokens", params.MaxTokens)
	add(named, "topP", params.TopP)
	add(named, "topK", params.TopK)
	if len(params.StopSequences) > 0 {
		named["stopSequences"] = params.StopSequences
	}
	for _, name := range p.leave {
		delete(named, name)
	}
	for name, value := range named {
		if other := p.rename[name]; other != "" {
			name = other
		}
		body[name] = value
	}
}

func add[T any](to object, name string, value *T) {
	if value != nil {
		to[name] = *value
	}
}
