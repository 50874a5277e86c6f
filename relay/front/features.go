package front

import (
	"context"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// Resources knows what agents can read. Front pages the list, keeps the subscriptions and renders failures; its methods
// are called concurrently.
type Resources interface {
	// List returns every resource there is now for this session, in an order that stays the same while the list does.
	List(ctx context.Context, s call.Session) ([]call.Resource, *fault.Error)
	// Templates returns the families of resources that List does not enumerate.
	Templates() []call.ResourceTemplate
	// Read returns what a resource holds. There is no such resource: fault.ResourceNotFound; the URI is not one:
	// fault.InvalidParams; anything else is a resource that could not be read.
	Read(ctx context.Context, s call.Session, uri string) ([]call.ResourceContents, *fault.Error)
	// Watch calls changed when what the resource holds for s has changed, until stop. changed does not block.
	Watch(s call.Session, uri string, changed func()) (stop func(), failure *fault.Error)
}

// Prompts knows the recipes that a person can pick in their client.
type Prompts interface {
	// List returns them in an order that stays the same while the list does.
	List() []call.Prompt
	// Render fills in a recipe. There is none of that name: fault.UnknownPrompt; its arguments are wrong:
	// fault.InvalidParams; anything else is a recipe that could not be rendered.
	Render(ctx context.Context, s call.Session, name string, args map[string]string) (*call.RenderedPrompt, *fault.Error)
	// OnChange calls changed when List would answer something else, until stop. changed does not block.
	OnChange(changed func()) (stop func())
}

// Completer offers values for arguments of prompts and of resource templates.
type Completer interface {
	// Complete returns values that go on from what was typed. known holds the arguments that are filled in already.
	Complete(ctx context.Context, s call.Session, ref Ref, argument, typed string, known map[string]string) (call.Completion, *fault.Error)
}

// Ref is what an argument belongs to: one of the two is set.
type Ref struct {
	Prompt   string // name of a prompt
	Template string // URI template of resources, or the URI of one resource
}

// ResourcesChanging is implemented by Resources whose list changes while the relay runs.
type ResourcesChanging interface {
	// OnListChange calls changed when List or Templates would answer s something else, until stop. changed does not block.
	OnListChange(s call.Session, changed func()) (stop func())
}
