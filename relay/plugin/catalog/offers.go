package catalog

import (
	"net/url"
	"slices"

	"tabrelay/relay/plugin/install"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/fault"
)

// Offer is a plugin that nobody added here, for a page that is open. Adding it goes the same way as any other.
type Offer struct {
	Plugin      string `json:"plugin"` // its name
	DisplayName string `json:"displayName"`
	Site        string `json:"site"` // the host of the page
	From        string `json:"from"` // what to add, pinned to a commit
	Source      string `json:"source"`
	Licence     string `json:"licence,omitempty"`
	Tools       int    `json:"tools"` // 0: it was not built when the index was made
}

// mostOffers is how many plugins are offered at once.
const mostOffers = 5

// Offers are the plugins of the index that work on pages, one page after the other, without those that are here.
func (c *Catalog) Offers(pages []string) ([]Offer, *fault.Error) {
	offers := []Offer{}
	index, err := install.ReadIndex(c.options.Home.Plugins())
	if err != nil {
		return nil, fault.New(fault.RegistryError, err.Error(), fault.WithHint(fault.HintOf(err)))
	}
	here := map[string]bool{}
	for _, p := range c.List("") {
		here[p.Name] = true
	}
	for _, page := range pages {
		address, err := url.Parse(page)
		if err != nil { // a tab whose address is none has no plugin either
			continue
		}
		for _, l := range index.For(address) {
			known := slices.ContainsFunc(offers, func(o Offer) bool { return o.Plugin == l.Name })
			if known || here[l.Name] || len(offers) == mostOffers {
				continue
			}
			offers = append(offers, Offer{
				Plugin: l.Name, DisplayName: review.Legible(l.DisplayName), Site: address.Host, From: l.From(),
				Source: review.Legible(l.Source()), Licence: review.Legible(l.Licence()), Tools: len(l.Tools),
			})
		}
	}
	return offers, nil
}
