package httpapi

import (
	"net/http"

	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/fault"
)

// AdditionView is the answer of GET /api/v1/addition.
type AdditionView struct {
	Addition *catalog.Addition `json:"addition"` // null: none
}

func (a *API) showAddition(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	return AdditionView{a.Catalog.Adding()}, nil
}

// addPlugin answers POST /api/v1/addition: it starts, and how it goes is asked for, as a build takes longer than a
// request.
func (a *API) addPlugin(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body struct {
		From string `json:"from"`
	}
	failure := ReadBody(w, req, &body, `{"from": "/home/ann/tea-shop"}`)
	if failure == nil {
		failure = a.Catalog.Add(body.From)
	}
	if failure != nil {
		status := http.StatusBadRequest
		switch failure.Code {
		case fault.Overloaded:
			status = http.StatusConflict
		case fault.ShuttingDown:
			status = http.StatusServiceUnavailable
		}
		return nil, NewRefusal(status, failure)
	}
	return a.showAddition(w, req)
}

// stopAddition answers DELETE /api/v1/addition: what is being added is stopped, how the last one ended is forgotten.
func (a *API) stopAddition(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	a.Catalog.StopAdding()
	return a.showAddition(w, req)
}

// OffersView is the answer of GET /api/v1/offers.
type OffersView struct {
	Offers []catalog.Offer `json:"offers"`
}

// showOffers answers with plugins that could be added for the tabs of the panel's browser, the one in front first.
func (a *API) showOffers(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var front, others []string
	for _, t := range a.Hub.Tabs() {
		switch {
		case t.ProfileID != AtProfile(Sender(req.Context())):
		case t.Active:
			front = append(front, t.URL)
		default:
			others = append(others, t.URL)
		}
	}
	offers, failure := a.Catalog.Offers(append(front, others...))
	if failure != nil {
		return nil, NewRefusal(http.StatusInternalServerError, failure)
	}
	return OffersView{offers}, nil
}
