package virtual

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"homeagent/agent/plugin"
)

// shown is a device as the endpoint tells it.
type shown struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	On      bool   `json:"on"`
	Present bool   `json:"present"`
}

// serve answers GET /api/v1/virtual with the devices, and POST
// /api/v1/virtual/NAME/unplug or /plug, which pulls one out or puts it back.
func (p *Plugin) serve(_ context.Context, req *plugin.Request, out plugin.Reply) error {
	zh := req.Lang == "zh"
	name, verb, _ := strings.Cut(req.Path, "/")
	var err error
	switch {
	case req.Method == http.MethodGet && req.Path == "":
	case req.Method == http.MethodPost && verb == "unplug":
		err = p.Unplug(name)
	case req.Method == http.MethodPost && verb == "plug":
		err = p.Plug(name)
	default:
		title := "This address takes GET, and POST NAME/unplug or NAME/plug."
		if zh {
			title = "这个地址支持 GET，以及 POST 名字/unplug 或 名字/plug。"
		}
		return &plugin.Fault{Status: http.StatusMethodNotAllowed, Title: title}
	}
	if err != nil {
		return &plugin.Fault{Status: http.StatusNotFound, Title: err.Error()}
	}
	return json.NewEncoder(out).Encode(map[string]any{"devices": p.show()})
}

func (p *Plugin) show() []shown {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []shown{}
	for _, name := range slices.Sorted(maps.Keys(p.devices)) {
		d := p.devices[name]
		list = append(list, shown{Name: name, Kind: d.Kind, On: d.on, Present: !d.absent})
	}
	return list
}
