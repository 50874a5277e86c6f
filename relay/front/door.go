package front

import (
	"net/http"
	"slices"

	"tabrelay/relay/access"
	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
)

// refused says why a request may not come in, nil when it may. A web page anywhere can make a browser send requests to
// this machine: its Origin gives it away, and after DNS rebinding its Host does.
func (f *Front) refused(r *http.Request) *fault.Error {
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if len(origins) > 1 || !access.LocalOrigin(origin) && !slices.Contains(f.options.AllowedOrigins, origin) {
			return fault.New(fault.InvalidRequest, "Requests from the origin "+clip.Runes(origin, 80)+" are not allowed",
				fault.WithHint("Ask the person to allow this origin in the configuration, if they trust it."))
		}
	}
	if !access.LocalHost(r.Host) {
		return fault.New(fault.InvalidRequest, "Requests for the host "+clip.Runes(r.Host, 80)+" are not answered here",
			fault.WithHint("Use 127.0.0.1 or localhost."))
	}
	return nil
}
