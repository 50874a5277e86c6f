package dispatch

import (
	"regexp"
	"slices"

	"tabrelay/relay/fault"
)

// classify gives an error of the link that nobody has named a class, by the patterns a person configured. What a
// page threw, and what has a code of its own, is never touched: a message is no identity.
func (r *run) classify(f *fault.Error) *fault.Error {
	if f.FromPage || f.Code != fault.InternalError || f.Err == nil {
		return f
	}
	text := f.Err.Error()
	matches := func(p *regexp.Regexp) bool { return p.MatchString(text) }
	switch {
	case slices.ContainsFunc(r.fatal, matches):
		f.Source, f.Class, f.Retryable = fault.SourceTransport, fault.Fatal, false
	case slices.ContainsFunc(r.transient, matches):
		f.Source, f.Class, f.Retryable = fault.SourceTransport, fault.Transient, r.tool.Idempotent || f.Outcome == fault.NotExecuted
	default:
		return f
	}
	f.RPCCode = f.RPC()
	return f
}

func compiled(patterns []string) []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		list[i] = regexp.MustCompile(p)
	}
	return list
}
