package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/bus"
	"homeagent/agent/home"
	"homeagent/agent/host"
	"homeagent/agent/intent"
	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/provider/chain"
	"homeagent/agent/provider/offline"
	"homeagent/agent/queue"
	"homeagent/drivers/audio"
	"homeagent/drivers/embed"
	"homeagent/drivers/llm"
	"homeagent/drivers/timer"
	"homeagent/drivers/virtual"
	"homeagent/drivers/voice"
	"homeagent/drivers/voice/engine"
	"homeagent/drivers/voice/espeak"
	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/sphinx"
	"homeagent/drivers/web"
	"homeagent/firmware/config"
	"homeagent/memory"
	"homeagent/memory/disk"
)

// smallIdle is how long the speech engines stay unneeded on a board that is
// short of memory; elsewhere it is the client's default, two minutes.
const smallIdle = 30 * time.Second

// ownNames may stand before what is said to the box.
var ownNames = []string{"HomeAgent", "管家", "小管家"}

// agentHouse is everything that was joined, in the order of its making.
type agentHouse struct {
	log     *slog.Logger
	bus     *bus.Bus
	memory  *memory.Memory
	queue   *queue.Queue
	host    *host.Host
	mind    *mind.Mind
	chain   *chain.Chain
	engines *engine.Client
	audio   *audio.Plugin
	voice   *voice.Plugin
	persona *persona
	// lang is the language of the box's own words, "zh" or "en".
	lang string
	// spoken is the grammar of spoken English, made at the first call.
	spoken func() string

	mu    sync.Mutex
	notes []string
}

// note keeps a sentence for the status and says it in the log.
func (a *agentHouse) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.mu.Lock()
	a.notes = append(a.notes, text)
	a.mu.Unlock()
	a.log.Warn(text)
}

// assemble joins the agent of one data folder. Only what the mind cannot be
// without (memory's database, the queue) is an error; the rest is noted.
func assemble(h config.Handover, cfg *config.Config, log *slog.Logger) (_ *agentHouse, err error) {
	debug.SetGCPercent(50) // a small box: memory is scarcer than cycles
	a := &agentHouse{log: log, bus: bus.New(log, nil)}
	defer func() {
		if err != nil {
			a.close(context.Background())
		}
	}()

	household := a.household(cfg)
	// Compiling the intents takes as long as opening the stores: side by side.
	// Whoever comes second waits, so the goroutine never outlives a good start.
	compiled := sync.OnceValue(func() *intent.Set { return a.intents(h.DataDir, household).WithNames(ownNames...) })
	go compiled()

	mem, notices, err := memory.Open(h.DataDir, memory.Options{
		Keep: cfg.Memory.Keep, Retention: time.Duration(cfg.Memory.RetentionDays) * 24 * time.Hour,
		DistillInterval: time.Duration(cfg.Memory.DistillInterval), Batch: cfg.Memory.Batch,
		TidyInterval: time.Duration(cfg.Memory.TidyInterval), ColdAfter: time.Duration(cfg.Memory.ColdAfter), ColdAccess: cfg.Memory.ColdAccess,
		Log: log,
	})
	if err != nil {
		return nil, err
	}
	a.memory = mem
	for _, n := range notices {
		a.note("%v", n)
	}
	if a.queue, err = queue.Open(disk.OS{}, filepath.Join(h.DataDir, "queue.log"), log); err != nil {
		return nil, err
	}

	a.host = host.New(host.Options{
		Log: log, Bus: a.bus, Home: household, Memory: mem.Plugin(), Stores: stores{mem},
		Secret: func(name string) string { return h.Secrets[name] },
	})
	mem.UseTools(a.host)
	core := a.host.Core("memory")
	for _, t := range mem.Tools() {
		if err := core.RegisterTool(t.Def.Name, t.Def, t.Handler); err != nil {
			return nil, err
		}
	}
	if err := core.Endpoint("memory", mem.Serve); err != nil {
		return nil, err
	}

	commands := compiled()
	clients := a.models(h, cfg)
	var thinkers []provider.Provider
	for _, c := range clients {
		thinkers = append(thinkers, c)
	}
	thinkers = append(thinkers, offline.New(offline.Options{
		Intents: commands, Home: household, Now: time.Now, Status: a.health, Facts: factsOf,
		Unreachable: func(lang string) string {
			if len(clients) == 0 {
				return ""
			}
			if e := a.chain.Trouble(); e != nil {
				return chain.Why(e, lang)
			}
			return ""
		},
	}))
	a.chain = chain.New(chain.Options{Log: log}, thinkers...)
	a.persona = newPersona(filepath.Join(h.DataDir, "personal.md"))
	if n := a.persona.Notice("en"); n != "" {
		log.Warn(n)
	}
	a.mind, err = mind.New(mind.Options{
		Log: log, Bus: a.bus, Host: a.host, Queue: a.queue, Memory: mem, Provider: a.chain,
		Persona: a.persona.Text, MaxToolRounds: cfg.Agent.MaxToolRounds, Names: ownNames,
	})
	if err != nil {
		return nil, err
	}
	if err := a.remember(clients); err != nil {
		return nil, err
	}
	mem.AlsoForget(func(holds func(string) bool) error {
		return a.queue.Forget(func(in plugin.Input) bool { return !holds(in.Payload) })
	})
	return a, a.plugins(h, cfg, commands, clients)
}

// remember begins the housework of memory. It asks the configured models alone:
// the offline provider knows no facts.
func (a *agentHouse) remember(clients []*llm.Client) error {
	if len(clients) == 0 {
		return a.memory.Start(around{a.mind, func() bool { return false }}, nil)
	}
	var models []provider.Provider
	for _, c := range clients {
		models = append(models, c)
	}
	asked := chain.New(chain.Options{Log: a.log}, models...)
	return a.memory.Start(around{a.mind, func() bool { return asked.Trouble() == nil && a.chain.Trouble() == nil }}, asked)
}

// around is the agent as memory's housework sees it.
type around struct {
	*mind.Mind
	model func() bool
}

// Model reports whether a language model answered when it was last asked.
func (a around) Model() bool { return a.model() }

// plugins adds every sense and hand in the order of starting.
func (a *agentHouse) plugins(h config.Handover, cfg *config.Config, commands *intent.Set, clients []*llm.Client) error {
	models := modelsDir(cfg.ModelsDir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	engines := engine.Options{Command: []string{self, "engines", "-models", models}, Log: a.log}
	if h.SmallBoard {
		engines.Command = append(engines.Command, "-small")
		engines.Idle = smallIdle
	}
	a.engines = engine.NewClient(engines)
	a.memory.UseTagger(newCutter(a.engines, dictionary(models, h.SmallBoard)))

	audioCfg := section(a, cfg, "audio", audio.ParseConfig)
	virtualCfg := section(a, cfg, "virtual", virtual.ParseConfig)
	embedCfg := section(a, cfg, "embed", embed.ParseConfig)
	timerCfg := section(a, cfg, "timer", timer.ParseConfig)
	voiceCfg := section(a, cfg, "voice", voice.ParseConfig)

	a.lang = boxLang(voiceCfg.Language, os.Getenv)
	a.spoken = sync.OnceValue(func() string { return a.grammar(commands) })
	a.audio = audio.New(audioCfg)
	a.voice = voice.New(voice.Options{
		Config: voiceCfg, Lang: a.lang, Wake: voice.LocalWake(models), Endpointing: a.engines, English: a.engines.English(), Warm: a.engines.Warm,
		Synthesizers: []speech.Synthesizer{espeak.New(espeak.Config{})},
		Grammar: func(lang string) string {
			if lang != "en" {
				return ""
			}
			return a.spoken()
		},
		LLM: func() bool { return len(clients) > 0 },
	})
	page := web.New(web.Options{Registry: registry{a}, Socket: filepath.Join(h.RunDir, "door.sock"), LinkSecret: h.LinkSecret, Version: h.Version})
	a.memory.AlsoForget(page.Forget)
	for _, p := range []plugin.Plugin{
		llm.NewPlugin(clients...), embed.New(embedCfg), a.audio, virtual.New(virtualCfg), timer.New(timerCfg, nil), a.voice,
		page,
	} {
		if err := a.host.Add(p); err != nil {
			return err
		}
	}
	return nil
}

// grammar makes the sentences that can be spoken in English. A name of the
// household that has no pronunciation would make the recogniser refuse the
// whole grammar, so what needs it is left out and said.
func (a *agentHouse) grammar(commands *intent.Set) string {
	all := commands.Grammar("en")
	dict, err := sphinx.OpenDict("", nil)
	if err != nil { // the engines say the same when they are asked
		return all
	}
	words, err := sphinx.GrammarWords(all)
	if err != nil {
		return all
	}
	unknown, err := dict.Missing(words)
	if err != nil || len(unknown) == 0 {
		return all
	}
	text, missing := commands.JSGF("en", intent.GrammarOptions{Known: func(w string) bool { return !slices.Contains(unknown, w) }})
	for _, m := range missing {
		a.note("by voice %s cannot be said: %s", m.Where, m)
	}
	return text
}

// section reads a plugin's section. One that it does not understand is noted,
// and the zero value, which is the default, is used.
func section[T any](a *agentHouse, cfg *config.Config, name string, parse func(*yaml.Node) (T, error)) T {
	c, err := parse(cfg.Plugins[name])
	if err != nil {
		a.note("config section %s: %v; its defaults are used", name, err)
		var zero T
		return zero
	}
	return c
}

// health tells in a sentence or two how the agent does.
func (a *agentHouse) health(lang string) string {
	var failed []string
	for _, p := range a.host.Plugins() {
		if p.State == host.Failed {
			failed = append(failed, p.Name)
		}
	}
	zh, en := "我一切正常。", "I am fine."
	if len(failed) > 0 {
		list := strings.Join(failed, ", ")
		zh, en = "有些部分没有启动："+list+"。详情见 homectl status。", "Some parts did not start: "+list+". See homectl status."
	}
	if lang == "zh" {
		return zh
	}
	return en
}

// household reads the section home; what is wrong is noted, and the household
// of a fresh box stands in.
func (a *agentHouse) household(cfg *config.Config) *home.Home {
	if cfg.Home == nil {
		return home.Default()
	}
	got, errs := home.ParseNode(cfg.Home)
	for _, err := range errs {
		a.note("config section home: %v", err)
	}
	if got == nil {
		a.note("config section home cannot be used; the household of a fresh box stands in until it is mended")
		return home.Default()
	}
	return got
}

// intents reads the user's own intents.yaml, else the built-in one.
func (a *agentHouse) intents(dir string, household *home.Home) *intent.Set {
	path := filepath.Join(dir, "intents.yaml")
	text, err := os.ReadFile(path)
	if err == nil {
		set, lerr := intent.Load(text, household)
		if lerr == nil && len(set.Intents()) == 0 {
			lerr = errors.New("it holds no intents")
		}
		if lerr == nil {
			return set
		}
		a.note("%s: %v; the built-in commands are used", path, lerr)
	} else if !errors.Is(err, os.ErrNotExist) {
		a.note("%s: %v; the built-in commands are used", path, err)
	}
	set, err := intent.Default(household)
	if err != nil { // a name of the household that no grammar can hold
		a.note("%v", err)
		set, _ = intent.Default(home.Default())
	}
	return set
}

// models makes a client for each configured language model.
func (a *agentHouse) models(h config.Handover, cfg *config.Config) []*llm.Client {
	var clients []*llm.Client
	for _, p := range cfg.Providers {
		key := ""
		if p.Key != "" {
			if key = h.Secrets[p.Key]; key == "" {
				a.note("provider %s: no secret is called %q; set it with `homectl secret set %s`", p.Kind, p.Key, p.Key)
			}
		}
		c, err := llm.New(llm.Config{Kind: p.Kind, BaseURL: p.BaseURL, Model: p.Model, Thinking: p.Thinking, Key: key})
		if err != nil {
			a.note("%v", err)
			continue
		}
		clients = append(clients, c)
	}
	return clients
}

// close ends everything in the reverse order of its making.
func (a *agentHouse) close(ctx context.Context) {
	if a.host != nil {
		a.host.Stop(ctx)
	}
	if a.engines != nil {
		a.engines.Close()
	}
	if a.queue != nil {
		if err := a.queue.Close(); err != nil {
			a.log.Error("close queue", "err", err)
		}
	}
	if a.memory != nil {
		if err := a.memory.Close(); err != nil {
			a.log.Error("close memory", "err", err)
		}
	}
	a.bus.Close(ctx)
}

// stores gives each plugin its bucket of memory's database.
type stores struct{ *memory.Memory }

func (s stores) Store(name string) plugin.Store { return s.Memory.Store(name) }

// registry is what the web plugin may ask.
type registry struct{ a *agentHouse }

func (r registry) Endpoint(name string) (plugin.EndpointHandler, bool) {
	return r.a.host.Endpoint(name)
}
func (r registry) Stream(name string) (plugin.StreamHandler, bool) { return r.a.host.Stream(name) }

// status is the agent's part of GET /status.
type status struct {
	mind.Status
	Audio   audio.Status `json:"audio"`
	Engines bool         `json:"engines_running"`
	Notes   []string     `json:"notes"`
}

func (r registry) Status(ctx context.Context) any {
	r.a.mu.Lock()
	notes := slices.Clone(r.a.notes)
	r.a.mu.Unlock()
	if n := r.a.persona.Notice(web.Lang(ctx)); n != "" {
		notes = append(notes, n)
	}
	return status{Status: r.a.mind.Status(), Audio: r.a.audio.Status(ctx, web.Lang(ctx)), Engines: r.a.engines.Running(), Notes: notes}
}
