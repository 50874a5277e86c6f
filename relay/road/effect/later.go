package effect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
)

// later is what the steps of an act behind one of them changed. A thing that a later step took away again, or says
// anew, is of no use to who reads all of them; words, such as those of a message, are told.
type later struct {
	gone  map[string]bool // references
	again map[string]bool // the references of lines that are different
	shown map[string]bool // references that this or an earlier step brought, and a later one took away
}

// laterOf is that for each of the steps.
func laterOf(done []json.RawMessage) []later {
	all := make([]later, len(done))
	next := later{gone: map[string]bool{}, again: map[string]bool{}}
	news := make([]news, len(done))
	for i := len(done) - 1; i >= 0; i-- {
		members, _ := rawjson.Members(done[i])
		news[i] = newsOf(members)
		all[i] = next
		next = next.with(news[i].lines)
	}
	shown := map[string]bool{}
	for i := range all {
		for _, line := range news[i].lines {
			for _, ref := range all[i].useless(line) {
				shown[ref] = true
			}
		}
		all[i].shown = shown
	}
	return all
}

// with is the same, with the lines of the step before.
func (l later) with(lines []string) later {
	gone, again := map[string]bool{}, map[string]bool{}
	for ref := range l.gone {
		gone[ref] = true
	}
	for refs := range l.again {
		again[refs] = true
	}
	for _, line := range lines {
		switch refs := refsOf(line); {
		case strings.HasPrefix(line, "- "):
			for _, ref := range refs {
				gone[ref] = true
			}
		case strings.HasPrefix(line, "~ row"): // tells only the cells that changed
		case strings.HasPrefix(line, "~ ") && len(refs) > 0:
			again[strings.Join(refs, " ")] = true
		}
	}
	return later{gone: gone, again: again}
}

// useless are the references of a line that is new, where a later step took all of them away.
func (l *later) useless(line string) []string {
	refs := refsOf(line)
	stays := func(ref string) bool { return !l.gone[ref] }
	if !strings.HasPrefix(line, "+ ") || message.MatchString(line) || slices.ContainsFunc(refs, stays) {
		return nil
	}
	return refs
}

// left are the lines of a step that still say something. Where the first of a part goes, the next one says where it is.
func (l *later) left(lines []string) (left []string) {
	if l == nil {
		return lines
	}
	place := ""
	for _, line := range lines {
		switch {
		case l.isOver(line):
			if said := places.FindString(line); said != "" && strings.HasPrefix(line, "+ ") {
				place = said
			}
			continue
		case place != "" && strings.HasPrefix(line, "+ ") && !places.MatchString(line):
			line += place
		}
		place = ""
		left = append(left, line)
	}
	return left
}

// isOver reports whether a later step took away what a line tells of, or says more of it.
func (l *later) isOver(line string) bool {
	refs := refsOf(line)
	switch {
	case len(refs) == 0:
		return false
	case strings.HasPrefix(line, "+ "):
		return l.useless(line) != nil
	case strings.HasPrefix(line, "~ "):
		return l.again[strings.Join(refs, " ")]
	}
	return !slices.ContainsFunc(refs, func(ref string) bool { return !l.shown[ref] })
}

var (
	message  = lazyregexp.New(`^\+ (?:"|(?:alert|alertdialog|status|log)\b)`)
	places   = lazyregexp.New(` \((?:first|(?:after|under) .*)\)$`)
	ranges   = lazyregexp.New(`^- (?:all before|\d+ lines .*) \(((?:f\d+)?e\d[^()]*)\)$`)
	oneRange = lazyregexp.New(`^((?:f\d+)?e)(\d+)(?:-(?:f\d+)?e(\d+))?$`)
)

const maxOfRange = 1000 // references that a line says to be gone

// refsOf are the references of a line, also those of one that counts lines: e7-e9, e12.
func refsOf(line string) []string {
	found := ranges.FindStringSubmatch(line)
	if found == nil {
		return referencesIn(line)
	}
	var refs []string
	for one := range strings.SplitSeq(found[1], ", ") {
		parts := oneRange.FindStringSubmatch(one)
		if parts == nil {
			continue // more than are named
		}
		from, _ := strconv.Atoi(parts[2])
		to, err := strconv.Atoi(parts[3])
		if err != nil {
			to = from
		}
		for n := from; n <= to && n-from < maxOfRange; n++ {
			refs = append(refs, parts[1]+strconv.Itoa(n))
		}
	}
	return refs
}
