package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
	"homeagent/memory/tidy"
)

// HTTP's numbers, which packages without a network have to spell out.
const (
	badRequest = 400
	notFound   = 404
	notAllowed = 405
	conflict   = 409
	failed     = 500
	notReady   = 503
)

// listed is how many rows a list of the endpoint has at most.
const listed = 200

// Serve answers /api/v1/memory for whoever is logged in:
//
//	GET    stats                      how much is remembered, and how the housework does
//	GET    search?q=…&limit=…         what is found, with dates and origins
//	GET    facts?q=…|subject=…&past=1 facts alone, with their numbers; the newest without q and subject
//	POST   forget                     {query|subject|relation|object, hard, dry}: dry only tells what would go
//	POST   restore                    {facts: [number…]}: takes a soft forget back
//	GET    pairs?state=…              look-alikes and what was found out
//	POST   pairs                      {pair, outcome, reason}
//	GET    merges, POST merges/undo   {merge}
//	POST   tidy                       a round of housework now
//	GET    export, POST import        everything, as JSON lines
//	GET    context                    the live conversation
//	GET    tools                      the tools of memory
func (m *Memory) Serve(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	routes := m.routes()
	serve, ok := routes[req.Method+" "+req.Path]
	if !ok {
		for _, other := range []string{"GET", "POST"} {
			if routes[other+" "+req.Path] != nil {
				title := fmt.Sprintf(both(req.Lang, "这个地址要用 %s。", "This address takes %s."), other)
				return &plugin.Fault{Status: notAllowed, Title: title}
			}
		}
		return &plugin.Fault{Status: notFound, Title: both(req.Lang, "记忆没有这个地址。", "Memory has no such address.")}
	}
	err := serve(ctx, req, out)
	var f *plugin.Fault
	if err == nil || errors.As(err, &f) {
		return err
	}
	return m.fault(req, err)
}

// route answers one method of one path.
type route func(context.Context, *plugin.Request, plugin.Reply) error

// routes are Serve's, by method and path.
func (m *Memory) routes() map[string]route {
	return map[string]route{
		"GET stats": m.serveStats, "GET search": m.serveSearch, "GET facts": m.serveFacts,
		"POST forget": m.serveForget, "POST restore": m.serveRestore,
		"GET pairs": m.servePairs, "POST pairs": m.serveAnswer,
		"GET merges": m.serveMerges, "POST merges/undo": m.serveUndo,
		"POST tidy": m.serveTidy, "GET export": m.serveExport, "POST import": m.serveImport,
		"GET context": m.serveContext, "GET tools": m.serveTools,
		"GET ": m.serveStats,
	}
}

// fault words an error for the one who asked.
func (m *Memory) fault(req *plugin.Request, err error) *plugin.Fault {
	f := &plugin.Fault{Status: failed, Title: Explain(err, req.Lang), Err: err}
	switch {
	case errors.Is(err, errNotStarted):
		f.Status = notReady
		f.Title = both(req.Lang, "记忆的整理还没有开始。请过一会儿再试。", "The housework of memory has not begun. Try again in a moment.")
	case is(err, graph.ErrUnknown, tidy.ErrPair):
		f.Status = notFound
	case is(err, graph.ErrNoCriteria, ErrShort, ErrExport, ErrExportNewer, tidy.ErrOutcome):
		f.Status = badRequest
	case is(err, graph.ErrUndone, graph.ErrLaterMerge, graph.ErrSame, graph.ErrDevices, graph.ErrContradiction):
		f.Status = conflict
	}
	return f
}

// is reports whether err is one of several.
func is(err error, any ...error) bool {
	return slices.ContainsFunc(any, func(e error) bool { return errors.Is(err, e) })
}

// read decodes a request's body, one JSON object, and refuses what it does not
// know: a word that is misspelt must not make a request mean something else.
func read(req *plugin.Request, into any) error {
	d := json.NewDecoder(req.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one JSON value")
		}
	}
	if err != nil {
		return refuse(req, err, "请求的内容不合格式（"+err.Error()+"）。请改成这个地址要的 JSON。",
			"The request does not fit ("+err.Error()+"). Send the JSON that this address takes.")
	}
	return nil
}

// refuse is the fault of a request that does not fit.
func refuse(req *plugin.Request, err error, zh, en string) error {
	return &plugin.Fault{Status: badRequest, Title: both(req.Lang, zh, en), Err: err}
}

func write(out plugin.Reply, v any) error { return json.NewEncoder(out).Encode(v) }

// limit is the number of rows asked for.
func limit(req *plugin.Request, usual int) (int, error) {
	text := req.Query.Get("limit")
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > listed {
		return 0, refuse(req, err, fmt.Sprintf("limit 要在 1 到 %d 之间。", listed), fmt.Sprintf("limit is 1 to %d.", listed))
	}
	return n, nil
}

// flag is a yes or no of the query, no where it is not there.
func flag(req *plugin.Request, name string) (bool, error) {
	text := req.Query.Get(name)
	if text == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, refuse(req, err, name+" 只能是 1 或 0。", name+" is 1 or 0.")
	}
	return yes, nil
}
