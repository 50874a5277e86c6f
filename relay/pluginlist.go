package relay

import (
	"net/http"

	"tabrelay/relay/catalog"
)

// PluginsView is the answer of GET /api/v1/plugins.
type PluginsView struct {
	Plugins []catalog.View `json:"plugins"`
}

// showPlugins answers a panel with how plugins are in its profile, and the terminal with how they are in any.
func (r *Relay) showPlugins(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	reply(w, http.StatusOK, PluginsView{r.catalog.List(atProfile(session))})
}
