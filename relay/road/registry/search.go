package registry

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
)

// What a search answers: so many tools where the caller does not say, and so much of each, that the answer is at most
// 250 tokens.
const (
	SearchLimit    = 5
	hitRunes       = 150 // of a hit
	signatureRunes = 90  // of its signature
)

// Search answers a caller that looks for tools: the first of those that it is shown, how many these are, and one line
// about those that the person could enable, empty for none.
func Search(shown []*Tool, limit int, off string) json.RawMessage {
	hits := []string{}
	for _, t := range shown[:min(limit, len(shown))] {
		hits = append(hits, t.hit())
	}
	return rawjson.MustEncode(struct {
		Tools []string `json:"tools"`
		Total int      `json:"total"`
		Off   string   `json:"off,omitempty"` // what the person could enable
	}{hits, len(shown), off})
}

// hit is a tool in one line: its signature and the beginning of its description.
func (t *Tool) hit() string {
	signature := t.Signature()
	first, _, _ := strings.Cut(t.Spec.Description, ". ")
	return strings.TrimSpace(signature + " " + clip.Runes(first, max(0, hitRunes-len([]rune(signature)))))
}

// Signature is the tool's name with its own arguments, those that may be left out with a question mark. Arguments that
// do not fit are an ellipsis.
func (t *Tool) Signature() string {
	input, _ := rawjson.Members(t.Spec.InputSchema)
	properties, _ := rawjson.Members(rawjson.Get(input, "properties"))
	var required []string
	_ = json.Unmarshal(rawjson.Get(input, "required"), &required) // without it nothing is
	slices.SortStableFunc(properties, func(a, b rawjson.Member) int {
		return order(slices.Contains(required, a.Name)) - order(slices.Contains(required, b.Name))
	})
	text := t.Name + "("
	for i, p := range properties {
		name := p.Name
		if !slices.Contains(required, name) {
			name += "?"
		}
		if i > 0 {
			name = ", " + name
		}
		if len([]rune(text+name)) > signatureRunes-len(", …)") {
			return strings.TrimSuffix(text, ", ") + strings.Repeat(", ", min(i, 1)) + "…)"
		}
		text += name
	}
	return text + ")"
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// Index ranks tools by how well they answer a query: BM25 over the stems of their words, with synonyms. It never
// changes once it is made.
type Index struct {
	tools []*Tool
	words []map[string]float64 // of each tool: how often a stem occurs, weighted by where
	size  []float64            // of each tool: the sum of that
	sites [][]string           // of each tool: the stems of its plugin's name
	stems map[string]string    // of the words that tools have
	in    map[string]int       // how many tools a stem occurs in
	mean  float64              // of size
}

// Where a word of a tool stands decides how much it counts.
const (
	inName        = 4.0
	inTitle       = 2.0
	inDescription = 1.0
	inArguments   = 0.5
	inPlugin      = 2.0 // its name and what it says of itself
)

// The constants of BM25: how soon a word that occurs again adds nothing, and how much it counts against a tool that it
// has many words. With the weights above they are those with which most of the tuned queries in testdata are answered.
const (
	saturation = 3.0
	lengthBias = 0.1
)

const (
	synonymWeight = 0.8  // of a word that means the same
	partWeight    = 0.5  // of a word that the query's word is a part of, such as wiki of mediawiki
	othersWeight  = 0.25 // of the words that answer for one of the query beside the best of them
	rareness      = 0.6  // power of how much a rare word counts: descriptions are short, and many words rare by chance
	coverage      = 0.6  // power of the share of the query's words that a tool answers
	openWeight    = 1.25 // of a tool whose site is open
	namedWeight   = 1.5  // of a tool whose site is named
	leastShare    = 0.3  // of the best score: what has less is no answer
)

// NewIndex indexes these tools.
func NewIndex(tools []*Tool) *Index {
	x := &Index{tools: tools, words: make([]map[string]float64, len(tools)), size: make([]float64, len(tools)),
		sites: make([][]string, len(tools)), stems: map[string]string{}, in: map[string]int{}}
	plugins := map[string]map[string]float64{}
	for i, t := range tools {
		words := map[string]float64{}
		x.add(words, nameOf(t), inName)
		x.add(words, t.Spec.DisplayName, inTitle)
		x.add(words, t.Spec.Description, inDescription)
		input, _ := rawjson.Members(t.Spec.InputSchema)
		properties, _ := rawjson.Members(rawjson.Get(input, "properties"))
		for _, p := range properties {
			x.add(words, p.Name, inArguments)
		}
		for stem, weight := range x.wordsOfPlugin(t, plugins) {
			words[stem] = max(words[stem], weight)
		}
		x.words[i], x.sites[i] = words, x.stemsOf(t.Group)
		for stem, weight := range words {
			x.in[stem]++
			x.size[i] += weight
		}
		x.mean += x.size[i] / float64(len(tools))
	}
	return x
}

// nameOf is the part of a tool's name that is its own.
func nameOf(t *Tool) string {
	if _, own, grouped := strings.Cut(t.Name, "__"); grouped {
		return own
	}
	return t.Name
}

// wordsOfPlugin are what the plugin of a tool is called and says of itself, kept in known.
func (x *Index) wordsOfPlugin(t *Tool, known map[string]map[string]float64) map[string]float64 {
	name := t.Group
	words, ok := known[name]
	if ok {
		return words
	}
	words = map[string]float64{}
	x.add(words, name, inPlugin)
	if t.Plugin != nil {
		x.add(words, t.Plugin.Manifest.DisplayName, inPlugin)
		x.add(words, t.Plugin.Manifest.Description, inPlugin/2)
	}
	for stem := range words {
		words[stem] = min(words[stem], inPlugin)
	}
	known[name] = words
	return words
}

// stemsOf are those of the words of a text; each word is taken apart once for an index.
func (x *Index) stemsOf(text string) (list []string) {
	for _, word := range split(text) {
		known, ok := x.stems[word]
		if !ok {
			known = stem(word)
			x.stems[word] = known
		}
		list = append(list, known)
	}
	return list
}

func (x *Index) add(words map[string]float64, text string, weight float64) {
	for _, word := range x.stemsOf(text) {
		words[word] += weight
	}
}

// Rank returns the tools that answer a query, best first; those for which open is true count more, and it may be nil.
// Without words it returns them all, in their order.
func (x *Index) Rank(query string, open func(*Tool) bool) []*Tool {
	terms := x.terms(query)
	if len(terms) == 0 {
		return x.tools
	}
	type scored struct {
		tool  *Tool
		score float64
	}
	var found []scored
	best := 0.0
	for i, t := range x.tools {
		score, answered := 0.0, 0
		for _, alternatives := range terms {
			most, sum := 0.0, 0.0
			for _, a := range alternatives {
				if often := x.words[i][a.stem]; often > 0 {
					length := 1 - lengthBias + lengthBias*x.size[i]/x.mean
					one := a.weight * x.rarity(a.stem) * often * (saturation + 1) / (often + saturation*length)
					most, sum = max(most, one), sum+one
				}
			}
			if score += most + othersWeight*(sum-most); most > 0 {
				answered++
			}
		}
		if answered == 0 {
			continue
		}
		score *= math.Pow(float64(answered)/float64(len(terms)), coverage)
		if named(x.sites[i], terms) {
			score *= namedWeight
		}
		if open != nil && open(t) {
			score *= openWeight
		}
		found = append(found, scored{t, score})
		best = max(best, score)
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var tools []*Tool
	for _, f := range found {
		if f.score >= leastShare*best {
			tools = append(tools, f.tool)
		}
	}
	return tools
}

// answer is a stem that answers a word of a query, and how well it does.
type answer struct {
	stem   string
	weight float64
}

// named reports whether a query has every word of a site's name.
func named(site []string, terms [][]answer) bool {
	for _, word := range site {
		if !slices.ContainsFunc(terms, func(a []answer) bool { return a[0].stem == word }) {
			return false
		}
	}
	return len(site) > 0
}

// rarity is how much a stem tells: the fewer tools have it, the more.
func (x *Index) rarity(stem string) float64 {
	n := float64(x.in[stem])
	return math.Pow(math.Log(1+(float64(len(x.tools))-n+0.5)/(n+0.5)), rareness)
}

// terms are the words of a query, each with the stems that answer it: its own, synonyms, and those it is a part of.
func (x *Index) terms(query string) (terms [][]answer) {
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(idioms.Replace(" " + strings.Join(split(query), " ") + " ")) {
		own := stem(word)
		if stopWords[word] || seen[own] {
			continue
		}
		seen[own] = true
		answers := []answer{{own, 1}}
		for _, other := range synonyms()[own] {
			answers = append(answers, answer{other, synonymWeight})
		}
		if x.in[own] == 0 && len(own) >= 4 {
			for _, known := range slices.Sorted(maps.Keys(x.in)) {
				if known != own && strings.Contains(known, own) {
					answers = append(answers, answer{known, partWeight})
				}
			}
		}
		terms = append(terms, answers)
	}
	return terms
}

// split takes a text apart into words in lower case; names such as readPage and read_page too.
func split(text string) []string {
	var b strings.Builder
	var before rune
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// stem is what forms of an English word have in common, as Porter's second algorithm has it.
func stem(word string) string { return english.Stem(word, true) }
