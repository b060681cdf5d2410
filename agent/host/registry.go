package host

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"homeagent/agent/pcm"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/embed"
)

// entry is one thing that was registered, with whose it is.
type entry[T any] struct {
	inst  *instance
	value T
}

// named holds the things of one kind by name.
type named[T any] map[string]entry[T]

// add refuses a name that is taken, naming both plugins.
func (n named[T]) add(kind, name string, inst *instance, v T) error {
	if old, ok := n[name]; ok {
		return fmt.Errorf("%s %q of plugin %s is already offered by plugin %s", kind, name, inst.name, old.inst.name)
	}
	n[name] = entry[T]{inst, v}
	return nil
}

func (n named[T]) remove(inst *instance) {
	maps.DeleteFunc(n, func(_ string, e entry[T]) bool { return e.inst == inst })
}

func (n named[T]) names() []string { return slices.Sorted(maps.Keys(n)) }

// stageEntry is a handler of a stage.
type stageEntry struct {
	inst *instance
	call plugin.StageHandler
	who  string
	seq  int
}

// opener is a registered audio device.
type opener struct {
	inst  *instance
	name  string
	value pcm.Opener
}

// registry is everything registered. The host's mu guards it.
type registry struct {
	tools     named[*toolEntry]
	defs      []tool.Def // those of tools, sorted; replaced, never changed
	stages    map[plugin.Stage][]stageEntry
	channels  named[plugin.Sender]
	providers named[provider.Provider]
	embedders named[embed.Embedder]
	openers   []opener
	streams   named[plugin.StreamHandler]
	endpoints named[plugin.EndpointHandler]
	seq       int
}

func newRegistry() registry {
	return registry{
		tools: named[*toolEntry]{}, stages: map[plugin.Stage][]stageEntry{}, channels: named[plugin.Sender]{},
		providers: named[provider.Provider]{}, embedders: named[embed.Embedder]{}, streams: named[plugin.StreamHandler]{}, endpoints: named[plugin.EndpointHandler]{},
	}
}

func (r *registry) remove(inst *instance) {
	r.tools.remove(inst)
	r.sortDefs()
	for s, list := range r.stages {
		r.stages[s] = without(list, func(e stageEntry) bool { return e.inst == inst })
	}
	r.channels.remove(inst)
	r.providers.remove(inst)
	r.embedders.remove(inst)
	r.openers = without(r.openers, func(o opener) bool { return o.inst == inst })
	r.streams.remove(inst)
	r.endpoints.remove(inst)
}

// without copies: others may be walking the old list.
func without[T any](list []T, drop func(T) bool) []T {
	var out []T
	for _, v := range list {
		if !drop(v) {
			out = append(out, v)
		}
	}
	return out
}

func (r *registry) sortDefs() {
	defs := make([]tool.Def, 0, len(r.tools))
	for _, name := range r.tools.names() {
		defs = append(defs, r.tools[name].value.def)
	}
	r.defs = defs
}

// addStage keeps handlers in the order of the plugins, so that the restart of
// one changes nothing, and a plugin's own in the order of registration.
func (r *registry) addStage(s plugin.Stage, inst *instance, h plugin.StageHandler) {
	r.seq++
	list := slices.Clone(r.stages[s])
	list = append(list, stageEntry{inst: inst, call: h, seq: r.seq,
		who: fmt.Sprintf("%s handler %d of plugin %s", s, 1+count(list, inst), inst.name)})
	slices.SortStableFunc(list, func(a, b stageEntry) int {
		return cmp.Or(cmp.Compare(a.inst.index, b.inst.index), cmp.Compare(a.seq, b.seq))
	})
	r.stages[s] = list
}

func count(list []stageEntry, inst *instance) int {
	n := 0
	for _, e := range list {
		if e.inst == inst {
			n++
		}
	}
	return n
}

var (
	toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	partName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	// A provider is called by its kind and its model, whose name is the
	// maker's: "deepseek/deepseek-flash", "ollama/Qwen3:8b".
	providerName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}(/[!-~]{1,128})?$`)
)

func checkName(kind, name string) error {
	if kind == "provider" && providerName.MatchString(name) {
		return nil
	}
	if !partName.MatchString(name) {
		return fmt.Errorf("%s name %q is malformed: a small letter, then small letters, digits, _ and -, at most 64", kind, name)
	}
	return nil
}

// channelOf is the registered name that a full channel name belongs to:
// itself, or what stands before the first colon.
func (r *registry) channelOf(full string) (entry[plugin.Sender], bool) {
	if e, ok := r.channels[full]; ok {
		return e, true
	}
	base, _, ok := strings.Cut(full, ":")
	if !ok {
		return entry[plugin.Sender]{}, false
	}
	e, ok := r.channels[base]
	return e, ok
}
