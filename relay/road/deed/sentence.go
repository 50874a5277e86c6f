package deed

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/untrusted"
)

const (
	maxName    = 100 // characters of what a page calls something
	maxValue   = 160 // of what is typed
	maxAddress = 160
	maxHost    = 100
	maxFiles   = 3 // that are named
)

func quoted(text string, most int) string { return `"` + untrusted.Name(text, most) + `"` }

// plainWord is what reads the same without quotation marks: numbers, keys, names of files.
var plainWord = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,40}$`)

func word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return quoted(text, maxValue)
}

// sentences is what a step does, one sentence for each of its targets.
func (s step) sentences(targets []*target) []string {
	var said []string
	switch s.tool {
	case "fill":
		said = s.fill(targets)
	case "click":
		said = []string{s.click(at(targets, 0))}
	case "press":
		said = []string{s.press(at(targets, 0))}
	case "pointer":
		said = []string{s.pointer(targets)}
	case "upload":
		said = []string{s.upload(at(targets, 0))}
	default:
		return []string{"Do " + quoted(s.tool, maxName)}
	}
	said[len(said)-1] += s.dialogs()
	for _, t := range targets {
		if t != nil && t.Sends {
			said[len(said)-1] += t.holds()
		}
	}
	return said
}

func at(targets []*target, i int) *target {
	if i < len(targets) {
		return targets[i]
	}
	return nil
}

// dialogs says how questions of the page are answered meanwhile, where that is not as a careful person would.
func (s step) dialogs() string {
	raw := rawjson.Get(s.args, "dialogs")
	if text, _ := rawjson.Text(raw); text == "accept" {
		return ", and say yes to what the page asks then"
	}
	if members, ok := rawjson.Members(raw); ok {
		text, _ := rawjson.Text(rawjson.Get(members, "text"))
		return ", and answer " + quoted(text, maxValue) + " to what the page asks then"
	}
	return ""
}

// named is a target in words: `button "Pay now"`. Where what is seen of it is not what it is called, what is seen comes
// first.
func (t *target) named() string {
	switch {
	case t == nil:
		return "the page"
	case t.Words != "":
		return "what the agent calls " + quoted(t.Words, maxName) + ", which is not in the page yet"
	}
	kind := t.kind()
	switch {
	case t.Shows != "":
		return t.seen()
	case t.Name == "":
		return kind + " without a name"
	case t.Unnamed:
		return kind + " without a name, perhaps " + quoted(t.Name, maxName)
	case kind == something:
		return quoted(t.Name, maxName)
	}
	return kind + " " + quoted(t.Name, maxName)
}

// seen is a target by the words that are seen of it, where its name says something else.
func (t *target) seen() string {
	label := "it has no label"
	if t.Name != "" && !t.Unnamed {
		label = "its label says " + quoted(t.Name, maxName)
	}
	return "the " + t.kind() + " that shows " + quoted(t.Shows, maxName) + " (" + label + ")"
}

// sent says where a form goes.
func (t *target) sent() string {
	switch address, elsewhere := t.sentTo(); {
	case address == "":
		return ""
	case elsewhere:
		return ", which sends its form to another site, " + place(address)
	default:
		return ", which sends its form to " + place(address)
	}
}

// holds says what a form holds that is sent, besides what the same call puts there.
func (t *target) holds() string {
	all := make([]string, 0, len(t.Holds)+1)
	for _, one := range t.Holds {
		said := quoted(one.Name, maxName)
		switch {
		case one.Checked:
			said += " (checked)"
		case one.Secret != "":
			said += ": ••••"
		case isNumber(one.Value):
			said += ": " + one.Value
		default:
			said += ": " + quoted(one.Value, maxValue)
		}
		if one.Unseen {
			said += " (not visible on the page)"
		}
		all = append(all, said)
	}
	if t.More > 0 {
		all = append(all, fmt.Sprintf("and %d more", t.More))
	}
	switch {
	case len(all) == 0:
		return ""
	case len(t.Filled) > 0:
		return ". The form also holds " + strings.Join(all, ", ")
	}
	return ". The form holds " + strings.Join(all, ", ")
}

// leads says where a link goes that leads to another site.
func (t *target) leads() string {
	if !t.leadsElsewhere() {
		return ""
	}
	return ", which leads to another site, " + place(t.Link)
}

// plainAddress is what reads as the address of a website and as nothing else.
var plainAddress = lazyregexp.New(`^https?://[^\s/?#"']+[!-~]*$`)

// siteOf is the address without its path.
func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// place is an address of a page's choice. Whose it is stands at the end of the host, which is never what is cut off.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil || !plainAddress.MatchString(address) {
		return quoted(address, maxAddress)
	}
	host, rest := u.Host, u.EscapedPath()
	if over := len(host) - maxHost; over > 0 {
		host = "…" + host[over:]
	}
	if u.Scheme == "http" {
		host = "http://" + host
	}
	return untrusted.Name(host, maxAddress) + untrusted.Name(rest, maxAddress-min(len(host), maxHost))
}

func (s step) click(t *target) string {
	verb := map[string]string{"right": "Right-click", "middle": "Middle-click"}[s.text("button")]
	if verb == "" {
		verb = map[string]string{"2": "Double-click", "3": "Triple-click"}[asText(rawjson.Get(s.args, "count"))]
	}
	if verb == "" {
		verb = "Click"
	}
	return verb + " " + t.named() + s.place() + t.sent() + t.leads() + s.held() + s.trusted()
}

// place says where in a target, for one that is named by its place in a picture.
func (s step) place() string {
	if !isPlace(s.args) {
		return ""
	}
	var x, y float64
	_ = json.Unmarshal(rawjson.Get(s.args, "x"), &x)
	_ = json.Unmarshal(rawjson.Get(s.args, "y"), &y)
	return fmt.Sprintf(", at %g, %g of its picture", x, y)
}

func (s step) held() string {
	var keys []string
	if json.Unmarshal(rawjson.Get(s.args, "modifiers"), &keys) != nil || len(keys) == 0 {
		return ""
	}
	return " with " + word(strings.Join(keys, "+")) + " held"
}

func (s step) trusted() string {
	if string(rawjson.Get(s.args, "trusted")) == "true" {
		return ", as a click of your own"
	}
	return ""
}

func (s step) fill(targets []*target) (said []string) {
	fields, _ := rawjson.Items(rawjson.Get(s.args, "fields"))
	for i, field := range fields {
		members, _ := rawjson.Members(field)
		said = append(said, put(at(targets, i), rawjson.Get(members, "value")))
	}
	if len(said) == 0 {
		return []string{"Fill in nothing"}
	}
	if string(rawjson.Get(s.args, "submit")) == "true" {
		said[len(said)-1] += ", then press Enter" + at(targets, len(fields)-1).sent()
	}
	return said
}

// put is what is done to one field.
func put(t *target, raw json.RawMessage) string {
	switch {
	case t == nil || t.Words != "":
		return "Fill in " + t.named()
	case t.Secret != "":
		return "Fill in " + t.field() + ": ••••"
	}
	value := valueOf(raw)
	switch t.Kind {
	case "select", "combobox", "listbox":
		return "Choose " + value + " in " + t.named()
	case "check":
		if isOff(raw) {
			return "Uncheck " + t.named()
		}
		return "Check " + t.named()
	case "radio":
		return "Choose " + t.named()
	}
	return "Fill in " + t.field() + ": " + value
}

// field is what a field is called: what kind of field it is only where it has no name.
func (t *target) field() string {
	if t.Name == "" || t.Unnamed || t.Shows != "" {
		return t.named()
	}
	return quoted(t.Name, maxName)
}

// offs are the values by which the page takes a box for one to uncheck (extension/src/browser/act/fields.ts).
var offs = []string{"false", "off", "no", "unchecked", "0"}

func isOff(raw json.RawMessage) bool { return slices.Contains(offs, strings.ToLower(asText(raw))) }

// asText is a value as a page has it that makes a text of it: numbers in one spelling, however they were written, and
// the items of a list with commas between them.
func asText(raw json.RawMessage) string {
	if text, ok := rawjson.Text(raw); ok {
		return text
	}
	if items, ok := rawjson.Items(raw); ok {
		all := make([]string, len(items))
		for i, one := range items {
			all[i] = asText(one)
		}
		return strings.Join(all, ",")
	}
	var number float64
	if json.Unmarshal(raw, &number) != nil {
		return string(raw) // true, false
	}
	return string(rawjson.MustEncode(number + 0)) // without the sign of -0
}

// valueOf is a value as the page gets it; plain numbers and words without quotation marks.
func valueOf(raw json.RawMessage) string {
	if text, ok := rawjson.Text(raw); ok {
		if isNumber(text) {
			return text
		}
		return quoted(text, maxValue)
	}
	items, ok := rawjson.Items(raw)
	if !ok {
		return untrusted.Name(asText(raw), maxValue)
	}
	all := make([]string, len(items))
	for i, one := range items {
		all[i] = valueOf(one)
	}
	return strings.Join(all, ", ")
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && plainWord.MatchString(text)
}

func (s step) press(t *target) string {
	keys, text := s.text("keys"), s.text("text")
	switch {
	case t == nil && text == "":
		return "Press " + word(keys) + " in the page"
	case text == "":
		return "Press " + word(keys) + t.where() + t.sent() + t.leads()
	case t != nil && t.Secret != "":
		return "Type •••• in " + t.named() + typedKeys(text) + t.sent()
	case t != nil && t.Words != "":
		return "Type in " + t.named() + typedKeys(text)
	}
	return "Type " + quoted(text, maxValue) + " in " + t.named() + typedKeys(text) + t.sent()
}

// typedKeys names the keys in a text that do something else than write, and that nobody would see in it.
func typedKeys(text string) string {
	var keys []string
	lines := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for _, key := range []struct{ name, character string }{{"Tab", "\t"}, {"Enter", "\n"}} {
		switch n := strings.Count(lines, key.character); n {
		case 0:
		case 1:
			keys = append(keys, key.name)
		default:
			keys = append(keys, fmt.Sprintf("%s (%d times)", key.name, n))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return ", with " + strings.Join(keys, " and ")
}

func (s step) pointer(targets []*target) string {
	first, second := at(targets, 0), at(targets, 1)
	place, _ := rawjson.Text(rawjson.Get(s.args, "at"))
	switch s.text("action") {
	case "hover":
		return "Move the pointer over " + first.named() + s.place()
	case "drag":
		return "Drag " + first.named() + s.place() + s.dragged(second, place)
	case "select":
		what := "Select the text of " + first.named()
		if place != "" {
			what = "Select " + quoted(place, maxValue) + " in " + first.named()
		}
		if second != nil {
			what += " up to " + second.named()
		}
		return what
	}
	return s.scroll(targets)
}

func (s step) dragged(to *target, place string) string {
	var offset struct{ X, Y float64 }
	isOffset := json.Unmarshal(rawjson.Get(s.args, "at"), &offset) == nil && place == ""
	switch {
	case to == nil:
		return fmt.Sprintf(" by %g, %g pixels", offset.X, offset.Y)
	case place == "before", place == "after":
		return " " + place + " " + to.named()
	case isOffset && rawjson.Get(s.args, "at") != nil:
		return " to a place in " + to.named()
	}
	return " onto " + to.named()
}

func (s step) scroll(targets []*target) string {
	end := s.text("to")
	if end != "" && end != "start" && end != "end" {
		return "Scroll until " + at(targets, len(targets)-1).named() + " is in view"
	}
	what := "Scroll " + at(targets, 0).named()
	if end != "" {
		what += " to its " + end
	}
	return what
}

func (s step) upload(t *target) string {
	files, _ := rawjson.Items(rawjson.Get(s.args, "files"))
	var names []string
	for i, file := range files {
		members, _ := rawjson.Members(file)
		name, _ := rawjson.Text(rawjson.Get(members, "name"))
		if i < maxFiles {
			names = append(names, word(name))
		}
	}
	if more := len(files) - maxFiles; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	to := t.named()
	if t != nil && t.Role == "file" {
		to = t.field()
	}
	return "Upload " + strings.Join(names, ", ") + " to " + to
}
