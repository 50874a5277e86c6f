package resources

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// web serves https:// of allowed hosts. It is not the browser: it carries nobody's cookies.
type web struct {
	guard *guard
	outside
}

const webHosts = "resources.https.hosts"

func (w *web) templates() []call.ResourceTemplate {
	var list []call.ResourceTemplate
	for _, h := range w.Hosts {
		list = append(list, call.ResourceTemplate{URITemplate: "https://" + h + "/{+path}", Name: "https " + h,
			Title:       "Documents of " + h,
			Description: "Fetched by the relay, without anybody's session. Redirects are reported, not followed."})
	}
	return list
}

func (*web) list(context.Context, call.Session) ([]call.Resource, *fault.Error) { return nil, nil }

func (w *web) read(ctx context.Context, _ reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	host, port, failure := w.admit(u, webHosts)
	if failure != nil {
		return nil, failure
	}
	target := *u
	target.Host, target.Fragment = net.JoinHostPort(host, port), ""
	if port == "443" {
		target.Host = host
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, invalid("The URI cannot be requested", "Write https://host/path.")
	}
	request.Header.Set("User-Agent", "tabrelay")
	request.Header.Set("Accept", "*/*")
	answer, err := w.client().Do(request)
	if err != nil {
		return nil, w.failed(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if failure := w.judge(answer); failure != nil {
		return nil, failure
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, int64(w.MaxBytes)+1))
	switch {
	case len(data) > w.MaxBytes:
		return nil, tooLarge(w.MaxBytes, "resources.https.maxBytes")
	case err != nil, ctx.Err() != nil: // a server may end a document properly when it sees that we hang up
		return nil, w.failed(ctx, err)
	}
	meta := map[string]any{"tabrelay/origin": "https://" + target.Host, "tabrelay/untrusted": true}
	return []call.ResourceContents{contentOf(mediaType(answer.Header.Get("Content-Type"), path.Base(u.Path), data),
		data, meta)}, nil
}

// client follows no redirect, knows no proxy and keeps no connection.
func (w *web) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: w.guard.dial, TLSClientConfig: &tls.Config{RootCAs: w.guard.authorities,
				MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

// judge refuses an answer that is not the resource.
func (w *web) judge(answer *http.Response) *fault.Error {
	status := answer.StatusCode
	switch {
	case status >= 300 && status < 400:
		location, err := answer.Location()
		if err != nil {
			return w.status(status)
		}
		location.User = nil
		return moved(location.String())
	case status < 200 || status > 299:
		return w.status(status)
	case answer.Header.Get("Content-Encoding") != "" && answer.Header.Get("Content-Encoding") != "identity":
		return unreadable(fault.TypeNetwork, "The server sent the document in an encoding that was not asked for",
			"Open it in the browser and read its tab.")
	case answer.ContentLength > int64(w.MaxBytes):
		return tooLarge(w.MaxBytes, "resources.https.maxBytes")
	}
	return nil
}

func (*web) status(status int) *fault.Error {
	retry := status == http.StatusTooManyRequests || status >= 500
	hint := "Check the path; a page that needs a session can be opened in the browser and read as a tab."
	if retry {
		hint = "Repeat the request later."
	}
	return unreadable(fault.TypeNetwork, fmt.Sprintf("The server answered %d %s", status, http.StatusText(status)),
		hint,
		fault.WithRetryable(retry), fault.WithData(rawjson.MustEncode(map[string]any{"status": status})))
}

func (w *web) failed(ctx context.Context, err error) *fault.Error {
	var dns *net.DNSError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errForbidden):
		return forbidden(err)
	case ctx.Err() != nil:
		return gaveUp(ctx, "Fetching", w.Timeout)
	case errors.As(err, &dns):
		return unreadable(fault.TypeNetwork, "The host's name could not be resolved",
			"Check the name; repeat the request when the network is back.",
			fault.WithCause(err), fault.WithRetryable(true))
	case errors.As(err, &untrusted):
		return unreadable(fault.TypeNetwork, "The server's certificate is not valid for that host",
			"Do not repeat the request; tell the person.", fault.WithCause(err))
	}
	return unreadable(fault.TypeNetwork, "The document could not be fetched whole", "Repeat the request later.",
		fault.WithCause(err), fault.WithRetryable(true))
}

func (*web) watch(call.Session, *url.URL, func()) (func(), *fault.Error) {
	return nil, unwatchable("https")
}
