// Package suggest finds the name that was probably meant by one that does not exist.
package suggest

import (
	"strings"

	"github.com/agext/levenshtein"
)

// longest is the longest name that is looked at: a distance costs the product of the lengths.
const longest = 80

// Distance is how many letters are added, left out or changed between two words.
func Distance(one, other string) int { return levenshtein.Distance(one, other, nil) }

// Nearest returns the known name that is most like a name, without regard to case; or the shortest tool that it begins;
// or a tool of that name in some plugin. It is empty where none is.
func Nearest(name string, known []string) (nearest string) {
	least := max(2, len(name)/4) + 1
	whole := strings.ToLower(name)
	for _, one := range known {
		if max(len(name), len(one)) > longest {
			continue
		}
		d := levenshtein.Distance(whole, strings.ToLower(one), nil)
		if d < len(one) && (d < least || d == least && nearest != "" && one < nearest) {
			nearest, least = one, d
		}
	}
	if nearest != "" {
		return nearest
	}
	for _, one := range known {
		if strings.Contains(whole, "__") && strings.HasPrefix(strings.ToLower(one), whole+"_") &&
			(nearest == "" || len(one) < len(nearest) || len(one) == len(nearest) && one < nearest) {
			nearest = one
		}
	}
	if nearest != "" {
		return nearest
	}
	for _, one := range known {
		if strings.HasSuffix(one, "__"+name) && (nearest == "" || one < nearest) {
			nearest = one
		}
	}
	return nearest
}

// DidYouMean is the end of a sentence that asks for the nearest name, empty where there is none.
func DidYouMean(name string, known []string) string {
	if nearest := Nearest(name, known); nearest != "" {
		return "; did you mean " + nearest + "?"
	}
	return ""
}
