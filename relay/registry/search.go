package registry

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"tabrelay/relay/clip"
	"tabrelay/relay/rawjson"
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
	rareness      = 0.6  // power of how much a rare word counts: descriptions are short, and many words rare by chance
	coverage      = 0.6  // power of the share of the query's words that a tool answers
	openWeight    = 1.25 // of a tool whose site is open
	leastShare    = 0.3  // of the best score: what has less is no answer
)

// NewIndex indexes these tools.
func NewIndex(tools []*Tool) *Index {
	x := &Index{tools: tools, words: make([]map[string]float64, len(tools)), size: make([]float64, len(tools)),
		in: map[string]int{}}
	plugins := map[string]map[string]float64{}
	for i, t := range tools {
		words := map[string]float64{}
		add(words, nameOf(t), inName)
		add(words, t.Spec.DisplayName, inTitle)
		add(words, t.Spec.Description, inDescription)
		input, _ := rawjson.Members(t.Spec.InputSchema)
		properties, _ := rawjson.Members(rawjson.Get(input, "properties"))
		for _, p := range properties {
			add(words, p.Name, inArguments)
		}
		for stem, weight := range wordsOfPlugin(t, plugins) {
			words[stem] = max(words[stem], weight)
		}
		x.words[i] = words
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
func wordsOfPlugin(t *Tool, known map[string]map[string]float64) map[string]float64 {
	name := t.Group
	words, ok := known[name]
	if ok {
		return words
	}
	words = map[string]float64{}
	add(words, name, inPlugin)
	if t.Plugin != nil {
		add(words, t.Plugin.Manifest.DisplayName, inPlugin)
		add(words, t.Plugin.Manifest.Description, inPlugin/2)
	}
	for stem := range words {
		words[stem] = min(words[stem], inPlugin)
	}
	known[name] = words
	return words
}

func add(words map[string]float64, text string, weight float64) {
	for _, word := range split(text) {
		words[stem(word)] += weight
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
			most := 0.0
			for stem, weight := range alternatives {
				if often := x.words[i][stem]; often > 0 {
					length := 1 - lengthBias + lengthBias*x.size[i]/x.mean
					most = max(most, weight*x.rarity(stem)*often*(saturation+1)/(often+saturation*length))
				}
			}
			if score += most; most > 0 {
				answered++
			}
		}
		if answered == 0 {
			continue
		}
		score *= math.Pow(float64(answered)/float64(len(terms)), coverage)
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

// rarity is how much a stem tells: the fewer tools have it, the more.
func (x *Index) rarity(stem string) float64 {
	n := float64(x.in[stem])
	return math.Pow(math.Log(1+(float64(len(x.tools))-n+0.5)/(n+0.5)), rareness)
}

// terms are the words of a query, each with the stems that answer it and how well they do.
func (x *Index) terms(query string) []map[string]float64 {
	var terms []map[string]float64
	seen := map[string]bool{}
	for _, word := range split(query) {
		own := stem(word)
		if stopWords[word] || seen[own] {
			continue
		}
		seen[own] = true
		alternatives := map[string]float64{own: 1}
		for _, other := range synonyms[own] {
			alternatives[other] = max(alternatives[other], synonymWeight)
		}
		if x.in[own] == 0 && len(own) >= 4 {
			for known := range x.in {
				if strings.Contains(known, own) {
					alternatives[known] = max(alternatives[known], partWeight)
				}
			}
		}
		terms = append(terms, alternatives)
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

// stem takes the endings off an English word by which forms of it differ.
func stem(word string) string {
	for _, ending := range [...]struct{ from, to string }{
		{"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"}, {"ss", "ss"}, {"us", "us"},
		{"is", "is"}, {"s", ""},
	} {
		if cut, ok := strings.CutSuffix(word, ending.from); ok && len(cut) >= 2 {
			word = cut + ending.to
			break
		}
	}
	for _, ending := range []string{"ing", "ed"} {
		if cut, ok := strings.CutSuffix(word, ending); ok && len(cut) >= 3 && strings.ContainsAny(cut, "aeiouy") {
			if n := len(cut); cut[n-1] == cut[n-2] && !strings.ContainsRune("lsz", rune(cut[n-1])) {
				cut = cut[:n-1] // stopped
			}
			word = cut
			break
		}
	}
	if cut, ok := strings.CutSuffix(word, "e"); ok && len(cut) >= 3 {
		word = cut // change, chang(ing)
	}
	return word
}

// stopWords say nothing about what is looked for.
var stopWords = wordSet(`a about again am an and any are as at be been but by can could current currently do does don for from
	get give had has have he her here him his how i if in into is it its just last let like make me my need needs new no
	not now of off on one or our out over please she should so some someone something that the their them then there
	these they thing this those to tool tools up us use using want was we were what when where which who whom whose
	why will with would yet you your`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// synonyms are the stems that mean the same as a stem, where people ask for tools.
var synonyms = func() map[string][]string {
	all := map[string][]string{}
	for group := range strings.SplitSeq(meaningTheSame, "\n") {
		words := strings.Fields(group)
		for _, word := range words {
			for _, other := range words {
				if a, b := stem(word), stem(other); a != b && !slices.Contains(all[a], b) {
					all[a] = append(all[a], b)
				}
			}
		}
	}
	return all
}()

// meaningTheSame has one group on each line. A word may be in several.
const meaningTheSame = `change edit update modify rewrite fix correct replace alter set
create add new start begin write insert make compose
delete remove trash erase drop discard
list show all see view display which
find search look lookup query locate
read get fetch open show view see summarize extract
send mail email write compose
reply answer respond
mail email message inbox letter mailbox
folder mailbox inbox archive
article page wiki wikipedia
post blog entry article
picture image photo file media
upload attach put
attachment attached attach download file
history version revision edited
compare diff difference between
changed recent change latest today
discussion discuss talk comment
highlight highlighted select selection mark marked
link hyperlink url href
heading outline structure
form field input
table row column grid
record row entry item
collection table
database collection record
schema field structure
user account person people member who
contact address person people
flow automation workflow
disable enable stop turn off pause deactivate
trigger inject run press fire
node function block
module installed palette
log logs logging
metric measurement series value usage cpu memory disk load latency query
range over time graph chart course history
alert alarm firing warning
target scrape job
valid check correct validate parse
config configuration setting option
publish post create write
approve moderate moderation accept
tag category term label
watch follow notify notified subscribe
draft unsent
move archive put
status health version info
signed login user
tab window page
`
