package relay

import (
	"context"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
	"tabrelay/relay/resource"
)

// scoped is the resources as far as a client's scope covers them: the pages and consoles of open tabs are for those
// that may use the browser's own tools.
type scoped struct {
	*resource.Set
	policy *policy.Policy
}

// ofTabs reports whether a resource shows what is in an open tab.
func ofTabs(uri string) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	return strings.EqualFold(scheme, "tab") || strings.EqualFold(scheme, "console")
}

// List implements front.Resources.
func (r scoped) List(ctx context.Context, s call.Session) ([]call.Resource, *fault.Error) {
	list, failure := r.Set.List(ctx, s)
	if !r.policy.ScopeOf(s).CoversPages() {
		list = slices.DeleteFunc(list, func(one call.Resource) bool { return ofTabs(one.URI) })
	}
	return list, failure
}

// Read implements front.Resources.
func (r scoped) Read(ctx context.Context, s call.Session, uri string) ([]call.ResourceContents, *fault.Error) {
	if ofTabs(uri) && !r.policy.ScopeOf(s).CoversPages() {
		return nil, fault.New(fault.PermissionDenied, "Open tabs are outside the scope of the client "+excerpt(s.Client)+": it may only use some plugins",
			fault.WithHint("Do not look for a way around it; the person can add browser to its plugins with `tabrelay clients scope "+excerpt(s.Client)+"`."))
	}
	return r.Set.Read(ctx, s, uri)
}
