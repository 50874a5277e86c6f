package install

import (
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// checkMeant refuses, before anything is fetched, a source that is a word of which nobody can say what it means: the
// name of a package that may be anybody's, while the index or the program has a plugin of that name. With npm: before
// it, or a name that is that of a plugin and of nothing else here, a package is what the person wrote.
func (s Source) checkMeant(home string) error {
	_, isRepository, _ := ParseRepository(s.From)
	if s.isTarball() || isRepository || strings.HasPrefix(s.From, fromRegistry) {
		return nil
	}
	spec, err := ParseSpec(s.From)
	if err != nil {
		return &SpelledError{err}
	}
	name, err := plugin.NameOf(spec.Name, false)
	if err != nil {
		name = spec.Name // nothing is listed under it
	}
	index, err := ReadIndex(home)
	if err != nil {
		return err
	}
	listed := slices.DeleteFunc(index.All(), func(l Listing) bool { return l.Name != name })
	isListed := func(l Listing) bool { return l.Package == spec.Name }
	ofNpm := fromRegistry + spec.String()
	switch {
	case slices.ContainsFunc(listed, isListed): // its whole name
		return nil
	case len(listed) > 0:
		return s.ambiguous(spec, listed)
	case slices.Contains(s.Shipped, spec.Name) && s.Replace == "":
		return fault.Hinted(fmt.Errorf("the plugin %s comes with tabrelay: there is nothing to add", spec.Name),
			"tabrelay tools lists its tools; for the package of npm with that name: "+s.again(ofNpm))
	case isPlugin(spec.Name):
		return nil
	}
	return fault.Hinted(fmt.Errorf("%s is neither a plugin of the index nor a package that is called like a plugin, "+
		"so nothing was fetched: on npm it may be anything, of anybody", spec), "tabrelay plugin search "+spec.Name+
		" finds plugins; for that package of npm: "+s.again(ofNpm))
}

// ambiguous says what a word may mean, and how each of that is written.
func (s Source) ambiguous(spec Spec, listed []Listing) error {
	var ways []string
	for _, l := range listed {
		ways = append(ways, "for "+l.DisplayName+" of "+l.Source()+": "+s.again(l.From()))
	}
	ways = append(ways, "for the package of npm, which may be of anybody else: "+s.again(fromRegistry+spec.String()))
	return fault.Hinted(fmt.Errorf("%s may be the plugin %s of the index or a package of npm, so nothing was fetched",
		spec, listed[0].Name), strings.Join(ways, "\n"))
}

func (s Source) again(from string) string {
	if s.Again == nil {
		return from
	}
	return s.Again(from)
}
