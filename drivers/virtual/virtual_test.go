package virtual_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/home"
	"homeagent/agent/tool"
	"homeagent/drivers/virtual"
)

func start(t *testing.T, cfg virtual.Config, api *fakeAPI) *virtual.Plugin {
	t.Helper()
	p := virtual.New(cfg)
	if err := p.Start(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.Stop(t.Context()) != nil || p.Stop(t.Context()) != nil {
			t.Error("stopping failed")
		}
	})
	return p
}

// household is a lamp of the default kind, called by its alias, and a device of
// another driver, which is none of ours.
func household() *home.Home {
	return &home.Home{Devices: []home.Device{
		{Name: "living_room_lamp", Kind: "lamp", Tool: "virtual_set", Args: map[string]string{"name": "living_room_lamp"},
			Aliases: home.Names{"zh": {"客厅灯"}, "en": {"living room lamp", "living room light"}}},
		{Name: "bell", Kind: "switch", Tool: "virtual_set"},
		{Name: "boiler", Kind: "heater", Tool: "gpio_set", Args: map[string]string{"name": "boiler"}},
	}}
}

func TestCalls(t *testing.T) {
	for _, tc := range []struct {
		name, lang, tool, args string
		want                   string   // in the text or the error
		fails                  bool     //
		states                 []string // published
	}{
		{"on", "en", "virtual_set", `{"name":"living_room_lamp","state":"on"}`, "The living room lamp (virtual) is now on.", false, []string{"device:living_room_lamp:on"}},
		{"on in Chinese", "zh", "virtual_set", `{"name":"living_room_lamp","state":"on"}`, "客厅灯（虚拟）现在是开的。", false, []string{"device:living_room_lamp:on"}},
		{"off when off changes nothing", "en", "virtual_set", `{"name":"fan","state":"off"}`, "now off", false, nil},
		{"by its Chinese word", "zh", "virtual_set", `{"name":"客厅灯","state":"on"}`, "开", false, []string{"device:living_room_lamp:on"}},
		{"by its English word", "en", "virtual_set", `{"name":"Living Room Light","state":"on"}`, "on", false, []string{"device:living_room_lamp:on"}},
		{"loosely spelt", "en", "virtual_set", `{"name":"Bell","state":"on"}`, "The bell", false, []string{"device:bell:on"}},
		{"unknown", "en", "virtual_set", `{"name":"moon","state":"on"}`, `no virtual device "moon"; there are: bell (switch), fan (switch), living_room_lamp (lamp)`, true, nil},
		{"unknown in Chinese", "zh", "virtual_set", `{"name":"月亮","state":"on"}`, "现有：bell (switch)", true, nil},
		{"another driver's device", "en", "virtual_set", `{"name":"boiler","state":"on"}`, "no virtual device", true, nil},
		{"half on", "en", "virtual_set", `{"name":"fan","state":"dim"}`, "neither on nor off", true, nil},
		{"half on in Chinese", "zh", "virtual_set", `{"name":"fan","state":"dim"}`, "请用 on 或 off", true, nil},
		{"no name", "en", "virtual_set", `{"state":"on"}`, "no virtual device", true, nil},
		{"unknown argument", "en", "virtual_set", `{"name":"fan","state":"on","color":"red"}`, "color", true, nil},
		{"no object", "en", "virtual_set", `[1]`, "arguments", true, nil},
		{"list", "en", "virtual_list", `{}`, "bell (switch): off\nfan (switch): off\nliving_room_lamp (lamp): off", false, nil},
		{"list in Chinese", "zh", "virtual_list", ``, "fan (switch): 关", false, nil},
		{"list with an argument", "en", "virtual_list", `{"x":1}`, "x", true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := newAPI(household(), newStore())
			start(t, virtual.Config{Devices: []virtual.Device{{Name: "fan"}}}, api)
			text, err := api.call(t, tc.lang, tc.tool, tc.args)
			if (err != nil) != tc.fails {
				t.Fatalf("got %q, %v", text, err)
			}
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, tc.want) {
				t.Errorf("got %q, want %q in it", text, tc.want)
			}
			if !slices.Equal(api.states(), tc.states) {
				t.Errorf("published %v, want %v", api.states(), tc.states)
			}
		})
	}
}

func TestDefinitions(t *testing.T) {
	api := newAPI(household(), newStore())
	start(t, virtual.Config{}, api)
	if api.tools["virtual_set"].Risk != tool.Act || api.tools["virtual_list"].Risk != tool.Read || len(api.tools) != 2 {
		t.Errorf("tools %+v", api.tools)
	}
	for name, def := range api.tools {
		if !json.Valid(def.Parameters) || !strings.Contains(def.Description, "irtual") || def.Name != name {
			t.Errorf("%s: %+v", name, def)
		}
	}
	if d := api.tools["virtual_set"].Description; !strings.HasSuffix(d, "Devices: bell (switch), living_room_lamp (lamp).") {
		t.Errorf("description %q", d)
	}
}

// A household of five hundred lamps does not fill every request.
func TestManyDevices(t *testing.T) {
	cfg := virtual.Config{}
	for i := range 500 {
		cfg.Devices = append(cfg.Devices, virtual.Device{Name: fmt.Sprintf("lamp_%03d", i), Kind: "lamp"})
	}
	api := newAPI(nil, newStore())
	start(t, cfg, api)
	d := api.tools["virtual_set"].Description
	if len(d) > 600 || !strings.Contains(d, "lamp_000 (lamp), lamp_001") || !strings.HasSuffix(d, " more (see virtual_list).") {
		t.Errorf("%d characters: %s", len(d), d)
	}
	if n := strings.Count(d, "lamp_"); !strings.Contains(d, fmt.Sprintf(" and %d more", 500-n)) {
		t.Errorf("%d are named: %s", n, d)
	}
	if _, err := api.call(t, "en", "virtual_set", `{"name":"lamp_499","state":"on"}`); err != nil {
		t.Error(err)
	}
}

// A state outlives a restart; one that cannot be read is off.
func TestRestart(t *testing.T) {
	s := newStore()
	api := newAPI(household(), s)
	p := start(t, virtual.Config{}, api)
	api.call(t, "en", "virtual_set", `{"name":"bell","state":"on"}`)
	p.Stop(t.Context())
	if _, err := api.call(t, "en", "virtual_set", `{"name":"bell","state":"off"}`); err == nil {
		t.Error("a stopped plugin switched")
	}
	s.Put("state/living_room_lamp", []byte("\xff garbage"))
	p = start(t, virtual.Config{}, newAPI(household(), s))
	if on, ok := p.State("bell"); !on || !ok {
		t.Error("the bell forgot that it is on")
	}
	if on, ok := p.State("living_room_lamp"); on || !ok {
		t.Error("garbage counted as on")
	}
}

// What could not be stored has not happened.
func TestStoreFails(t *testing.T) {
	s := newStore()
	api := newAPI(household(), s)
	p := start(t, virtual.Config{}, api)
	s.fail = errors.New("no space left on device")
	if _, err := api.call(t, "en", "virtual_set", `{"name":"bell","state":"on"}`); !errors.Is(err, s.fail) {
		t.Errorf("got %v", err)
	}
	if on, _ := p.State("bell"); on || len(api.states()) != 0 {
		t.Error("a state that was not stored counts")
	}
	if err := virtual.New(virtual.Config{}).Start(t.Context(), newAPI(household(), s)); !errors.Is(err, s.fail) {
		t.Errorf("start gave %v", err)
	}
}

// An unplugged device keeps its tools and its state; calls say what to do.
func TestUnplug(t *testing.T) {
	api := newAPI(household(), newStore())
	p := start(t, virtual.Config{}, api)
	api.call(t, "en", "virtual_set", `{"name":"bell","state":"on"}`)
	before, _ := json.Marshal(api.tools)
	if err := errors.Join(p.Unplug("bell"), p.Unplug("bell")); err != nil {
		t.Fatal(err)
	}
	if _, err := api.call(t, "en", "virtual_set", `{"name":"bell","state":"off"}`); err == nil || !strings.Contains(err.Error(), "plug it in") {
		t.Errorf("got %v", err)
	}
	if _, err := api.call(t, "zh", "virtual_set", `{"name":"bell","state":"off"}`); err == nil || !strings.Contains(err.Error(), "插回") {
		t.Errorf("got %v", err)
	}
	if text, _ := api.call(t, "en", "virtual_list", `{}`); !strings.Contains(text, "bell (switch): unplugged") {
		t.Errorf("list %q", text)
	}
	if text, _ := api.call(t, "zh", "virtual_list", `{}`); !strings.Contains(text, "已拔出") {
		t.Errorf("list %q", text)
	}
	if after, _ := json.Marshal(api.tools); string(after) != string(before) {
		t.Error("unplugging changed the tools")
	}
	if err := p.Plug("bell"); err != nil {
		t.Fatal(err)
	}
	if on, _ := p.State("bell"); !on {
		t.Error("the bell forgot its state")
	}
	want := []string{"device:bell:on", "device:bell:unplugged", "device:bell:plugged"}
	if !slices.Equal(api.states(), want) {
		t.Errorf("published %v, want %v", api.states(), want)
	}
	if p.Unplug("moon") == nil {
		t.Error("an unknown device was unplugged")
	}
}

// With nothing configured the tools stay and say how to add a device.
func TestNoDevices(t *testing.T) {
	for _, lang := range []string{"zh", "en"} {
		api := newAPI(nil, newStore())
		start(t, virtual.Config{}, api)
		if text, err := api.call(t, lang, "virtual_list", `{}`); err != nil || !strings.Contains(text, "virtual.devices") {
			t.Errorf("%s: list %q, %v", lang, text, err)
		}
		if _, err := api.call(t, lang, "virtual_set", `{"name":"x","state":"on"}`); err == nil || !strings.Contains(err.Error(), "virtual.devices") {
			t.Errorf("%s: set gave %v", lang, err)
		}
	}
}

func TestStartFails(t *testing.T) {
	api := newAPI(nil, newStore())
	api.taken = "virtual_list"
	p := virtual.New(virtual.Config{Devices: []virtual.Device{{Name: "fan"}}})
	if p.Start(t.Context(), api) == nil {
		t.Fatal("a taken name was ignored")
	}
	if _, ok := p.State("fan"); ok {
		t.Error("a failed start left devices behind")
	}
	if virtual.New(virtual.Config{Devices: []virtual.Device{{Name: "No"}}}).Start(t.Context(), newAPI(nil, newStore())) == nil {
		t.Error("a bad name was accepted")
	}
}

// Many hands at once leave memory and Store agreeing.
func TestConcurrent(t *testing.T) {
	s := newStore()
	api := newAPI(household(), s)
	p := start(t, virtual.Config{}, api)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				api.call(t, "en", "virtual_set", `{"name":"bell","state":"`+[]string{"on", "off"}[i%2]+`"}`)
				api.call(t, "en", "virtual_list", `{}`)
				p.Unplug("living_room_lamp")
				p.Plug("living_room_lamp")
			}
		})
	}
	wg.Wait()
	on, _ := p.State("bell")
	stored, _ := s.Get("state/bell")
	if want := map[bool]string{true: "on", false: "off"}[on]; string(stored) != want {
		t.Errorf("memory says %s, the Store %s", want, stored)
	}
}

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		devices    int
		want       string // in the error
	}{
		{"nothing", ``, 0, ""},
		{"null", `null`, 0, ""},
		{"two", "devices:\n- {name: a, kind: lamp}\n- {name: b}", 2, ""},
		{"unknown key", "device: []", 0, "device"},
		{"unknown key of a device", "devices: [{name: a, colour: red}]", 0, "colour"},
		{"bad name", "devices: [{name: 1st}]", 0, `virtual.devices[0].name: "1st"`},
		{"twice", "devices: [{name: a}, {name: a}]", 0, "twice"},
		{"no list", "devices: 7", 0, "virtual"},
		{"too many", "devices: [" + strings.Repeat("{name: a},", 501) + "]", 0, "at most 500"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(tc.text), &doc); err != nil {
				t.Fatal(err)
			}
			var node *yaml.Node
			if len(doc.Content) > 0 {
				node = doc.Content[0]
			}
			c, err := virtual.ParseConfig(node)
			if tc.want == "" {
				if err != nil || len(c.Devices) != tc.devices {
					t.Errorf("got %+v, %v", c, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}
