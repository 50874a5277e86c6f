package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// reader turns the library's tree of errors into problems.
type reader struct{ schema, doc any }

// problems are the leaves of the tree, where a choice between alternatives counts as one leaf.
func (r reader) problems(e *jsonschema.ValidationError) []Problem {
	if len(e.Causes) == 0 {
		return r.leaf(e)
	}
	if keyword := keyword(e); (keyword == "anyOf" || keyword == "oneOf") && len(e.Causes) > 1 {
		return []Problem{{r.path(e), r.choice(e)}}
	}
	var all []Problem
	for _, cause := range e.Causes {
		all = append(all, r.problems(cause)...)
	}
	return all
}

// choice says what is missing to the alternative that fits best.
func (r reader) choice(e *jsonschema.ValidationError) string {
	alternatives := make([][]*jsonschema.ValidationError, len(e.Causes))
	for i, cause := range e.Causes {
		alternatives[i] = leaves(cause)
	}
	if types := r.onlyTypes(e, alternatives); types != "" {
		return types
	}
	if values := r.onlyConstants(e, alternatives); values != "" {
		return values
	}
	best := slices.MinFunc(alternatives, func(a, b []*jsonschema.ValidationError) int {
		return cmp.Or(cmp.Compare(mistaken(e, a), mistaken(e, b)), cmp.Compare(len(a), len(b)),
			cmp.Compare(deepest(b), deepest(a)))
	})
	var parts []string
	for _, leaf := range best {
		for _, p := range r.leaf(leaf) {
			if within := strings.TrimPrefix(p.Path, r.path(e)); within != "" {
				p.Message = strings.TrimPrefix(within, ".") + ": " + p.Message
			}
			parts = append(parts, p.Message)
		}
	}
	return fmt.Sprintf("fits none of the %d alternatives; the closest one says: %s", len(alternatives),
		strings.Join(head(parts, 3), ", "))
}

// onlyTypes is the message when every alternative is ruled out by the type of the value itself.
func (r reader) onlyTypes(e *jsonschema.ValidationError, alternatives [][]*jsonschema.ValidationError) string {
	var types []string
	got := ""
	for _, leaves := range alternatives {
		if len(leaves) != 1 || keyword(leaves[0]) != "type" || leaves[0].InstanceLocation != e.InstanceLocation {
			return ""
		}
		wanted, is, _ := strings.Cut(strings.TrimPrefix(leaves[0].Message, "expected "), ", but got ")
		types, got = append(types, wanted), is
	}
	return "expected " + strings.Join(types, " or ") + ", but got " + got
}

// onlyConstants is the message when every alternative is one value.
func (r reader) onlyConstants(e *jsonschema.ValidationError, alternatives [][]*jsonschema.ValidationError) string {
	var values []any
	for _, leaves := range alternatives {
		if len(leaves) != 1 || keyword(leaves[0]) != "const" || leaves[0].InstanceLocation != e.InstanceLocation {
			return ""
		}
		value, ok := r.around(leaves[0])["const"]
		if !ok {
			return ""
		}
		values = append(values, value)
	}
	return oneOf(values, find(r.doc, pointer(e.InstanceLocation).tokens()))
}

// mistaken weighs how surely an alternative was not meant: the value is of another type, or a constant that tells
// the alternatives apart is another one.
func mistaken(e *jsonschema.ValidationError, leaves []*jsonschema.ValidationError) int {
	weight := 0
	for _, leaf := range leaves {
		switch keyword := keyword(leaf); {
		case keyword == "type" && leaf.InstanceLocation == e.InstanceLocation:
			weight += 2
		case keyword == "const" || keyword == "enum":
			weight++
		}
	}
	return weight
}

func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	slices.SortStableFunc(all, func(a, b *jsonschema.ValidationError) int {
		return strings.Compare(a.InstanceLocation+" "+a.KeywordLocation, b.InstanceLocation+" "+b.KeywordLocation)
	})
	return all
}

func deepest(leaves []*jsonschema.ValidationError) int {
	most := 0
	for _, leaf := range leaves {
		most = max(most, strings.Count(leaf.InstanceLocation, "/"))
	}
	return most
}

func (r reader) path(e *jsonschema.ValidationError) string {
	return pointer(e.InstanceLocation).path("", r.doc)
}

// around is the subschema whose keyword failed; nil when it lies in another resource.
func (r reader) around(e *jsonschema.ValidationError) map[string]any {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	tokens := pointer(fragment).tokens()
	if len(tokens) == 0 {
		return nil
	}
	m, _ := find(r.schema, tokens[:len(tokens)-1]).(map[string]any)
	return m
}

// keyword is the last step of where a check failed.
func keyword(e *jsonschema.ValidationError) string {
	return e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
}

func head(parts []string, most int) []string {
	if len(parts) <= most {
		return parts
	}
	return append(parts[:most:most], fmt.Sprintf("and %d more", len(parts)-most))
}
