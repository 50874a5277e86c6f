package config

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters that are drawn like those of a to z: the pairs of Unicode's confusables.txt that fonts of
// browsers and terminals hardly tell apart. Compatibility forms (ａ, 𝐚, ⅰ) are not here: normalization finds them.
var lookalikes = func() map[rune]rune {
	latin := map[rune]rune{}
	for letter, others := range map[rune]string{
		'a': "аАɑαΑᴀᎪꓮ", 'b': "ВЬΒʙᏴꓐ", 'c': "сСϲϹᴄⅽᏟꓚ", 'd': "ԁᴅᎠꓓ", 'e': "еЕΕᴇᎬꓰєҽ", 'f': "ϜꓝꞘſ", 'g': "ɡցԍԌᏀꓖ",
		'h': "һНΗհнᎻꓧ", 'i': "іІıιΙɩᎥꓲ", 'j': "јЈϳյᎫꓙ", 'k': "кКκΚᴋᏦꓗ", 'l': "ӏӀʟᏞꓡ|ǀ", 'm': "мМΜᴍᎷꓟ",
		'n': "ոΝηɴꓠп", 'o': "оОοΟօՕᴏσꓳ", 'p': "рРρΡᴘᏢꓑ", 'q': "ԛզԚ", 'r': "гᴦᎡꓣ", 's': "ѕЅꜱՏᏚꓢ", 't': "тТτΤᴛᎢꓔ",
		'u': "սՍυᴜꓴ", 'v': "νѵѴᴠᏙꓦ", 'w': "ԝԜωᴡᎳꓪ", 'x': "хХχΧꓫ", 'y': "уУүΥγʏꓬ", 'z': "ᴢΖᏃꓜ",
	} {
		for _, r := range others {
			latin[r] = letter
		}
	}
	return latin
}()

// skeleton is a name in the letters of a to z that it is drawn like, and without accents.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Cf):
		case lookalikes[r] != 0:
			b.WriteRune(lookalikes[r])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// eastAsian are the scripts that are written in one word with Latin letters, and look like none of them.
var eastAsian = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo}

// scripts are those of the letters in a word, by name.
func scripts(word string) []string {
	found := map[string]bool{}
	for _, r := range word {
		if !unicode.IsLetter(r) || unicode.In(r, unicode.Common, unicode.Inherited) || unicode.In(r, eastAsian...) {
			continue
		}
		for name, table := range unicode.Scripts {
			if unicode.Is(table, r) {
				found[name] = true
				break
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Doubt is why a person is not to take a client that has no name for what it calls itself; empty: nothing speaks
// against that.
func Doubt(called string, clients []Client) string {
	shape := func(name string) string { return strings.ReplaceAll(outline(Spelled(skeleton(name))), "-", "") }
	of := shape(called)
	for _, one := range clients {
		if of != "" && shape(one.Name) == of {
			return "it is not the client " + one.Name + ", which has a token"
		}
	}
	for word := range strings.FieldsSeq(called) {
		if written := scripts(word); len(written) > 1 {
			return "with letters of " + strings.Join(written, " and ") + " in one word"
		}
	}
	return ""
}
