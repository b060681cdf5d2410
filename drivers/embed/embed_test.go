package embed_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/plugin/plugintest"
	driver "homeagent/drivers/embed"
	"homeagent/drivers/embed/ollama"
	"homeagent/drivers/embed/openai"
	"homeagent/drivers/embed/rest"
	"homeagent/memory/embed"
	"homeagent/memory/embed/embedtest"
	"homeagent/tools/fakellm"
)

const secret = "sk-very-secret"

var dialects = map[string]func(rest.Config) (*rest.Client, error){"ollama": ollama.New, "openai": openai.New}

// serve is an embedder of a kind at a fake server.
func serve(t *testing.T, kind string, fake *fakellm.Embedder) *rest.Client {
	t.Helper()
	if fake.Model == "" {
		fake.Model, fake.Dim, fake.Key = "bge-m3", 96, secret
	}
	s := httptest.NewServer(fake)
	t.Cleanup(s.Close)
	c, err := dialects[kind](rest.Config{BaseURL: s.URL, Model: "bge-m3", Key: secret, Wait: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestConformance(t *testing.T) {
	t.Run("hash", func(t *testing.T) {
		embedtest.Run(t, func(*testing.T) embed.Embedder { return embed.Hash{} })
	})
	for kind := range dialects {
		t.Run(kind, func(t *testing.T) {
			embedtest.Run(t, func(t *testing.T) embed.Embedder {
				return serve(t, kind, &fakellm.Embedder{Reply: func(int) fakellm.EmbedReply { return fakellm.EmbedReply{Shuffled: kind == "openai"} }})
			})
		})
	}
}

func TestBatches(t *testing.T) {
	for kind := range dialects {
		t.Run(kind, func(t *testing.T) {
			fake := &fakellm.Embedder{}
			c := serve(t, kind, fake)
			texts := slices.Repeat([]string{"lamp", " "}, 70)
			for range 40 {
				texts = append(texts, strings.Repeat("x", 9<<10))
			}
			if _, err := c.Embed(t.Context(), texts); err != nil {
				t.Fatal(err)
			}
			if got := fake.Sizes(); !slices.Equal(got, []int{64, 37, 9}) {
				t.Errorf("requests of %v texts", got)
			}
		})
	}
}

// TestRefusals: what cannot be mended by another try is not tried again, and no
// error has the key.
func TestRefusals(t *testing.T) {
	both := func(s string) map[string]string { return map[string]string{"ollama": s, "openai": s} }
	rows := []struct {
		name string
		rep  fakellm.EmbedReply
		raw  map[string]string // by kind, in place of rep.Raw
		code rest.Code
	}{
		{name: "key", rep: fakellm.EmbedReply{Status: 401, Body: "Incorrect API key: " + secret}, code: rest.Key},
		{name: "credit", rep: fakellm.EmbedReply{Status: 402}, code: rest.Limit},
		{name: "redirect", rep: fakellm.EmbedReply{Status: 302, Body: "elsewhere"}, code: rest.NotFound},
		{name: "refused", rep: fakellm.EmbedReply{Status: 400, Body: "bad \x00\n model"}, code: rest.Refused},
		{name: "no JSON", raw: both("<html>" + secret), code: rest.Nonsense},
		{name: "two answers", raw: both(`{"embeddings":[[1,2]],"data":[{"index":0,"embedding":[1,2]}]} {}`), code: rest.Nonsense},
		{name: "no vectors", raw: both(`{}`), code: rest.Nonsense},
		{name: "too many", raw: map[string]string{"ollama": `{"embeddings":[[1],[1]]}`, "openai": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`}, code: rest.Nonsense},
		{name: "zero", raw: map[string]string{"ollama": `{"embeddings":[[0,0]]}`, "openai": `{"data":[{"index":0,"embedding":[0,0]}]}`}, code: rest.Nonsense},
		{name: "too big a number", raw: map[string]string{"ollama": `{"embeddings":[[1e39]]}`, "openai": `{"data":[{"index":0,"embedding":[1e39]}]}`}, code: rest.Nonsense},
		{name: "empty vector", raw: map[string]string{"ollama": `{"embeddings":[[]]}`, "openai": `{"data":[{"index":0,"embedding":[]}]}`}, code: rest.Nonsense},
		{name: "wrong place", raw: map[string]string{"ollama": `{"error":"oops"}`, "openai": `{"data":[{"index":7,"embedding":[1]}]}`}, code: rest.Nonsense},
		{name: "no place", raw: map[string]string{"ollama": `{"embeddings":null}`, "openai": `{"data":[{"embedding":[1]}]}`}, code: rest.Nonsense},
	}
	for kind := range dialects {
		for _, r := range rows {
			t.Run(kind+" "+r.name, func(t *testing.T) {
				fake := &fakellm.Embedder{Reply: func(int) fakellm.EmbedReply {
					rep := r.rep
					rep.Raw = r.raw[kind]
					return rep
				}}
				_, err := serve(t, kind, fake).Embed(t.Context(), []string{"lamp"})
				var e *rest.Error
				if !errors.As(err, &e) || e.Code != r.code || len(fake.Sizes()) != 1 {
					t.Fatalf("%v after %d requests", err, len(fake.Sizes()))
				}
				if strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\x00\n") || e.In("zh") == e.In("en") {
					t.Errorf("%q, %q", err, e.In("zh"))
				}
			})
		}
		t.Run(kind+" another length", func(t *testing.T) {
			fake := &fakellm.Embedder{}
			c := serve(t, kind, fake)
			if _, err := c.Embed(t.Context(), []string{"lamp"}); err != nil {
				t.Fatal(err)
			}
			fake.Dim = 7
			if _, err := c.Embed(t.Context(), []string{"lamp"}); !errors.Is(err, embed.ErrDim) || c.Dim() != 96 {
				t.Errorf("%v, Dim %d", err, c.Dim())
			}
		})
		t.Run(kind+" unknown model", func(t *testing.T) {
			_, err := serve(t, kind, &fakellm.Embedder{Model: "other", Dim: 3}).Embed(t.Context(), []string{"lamp"})
			var e *rest.Error
			if !errors.As(err, &e) || e.Code != rest.NotFound {
				t.Error(err)
			}
		})
	}
}

// TestTriesAgain runs on a pipe and a fake clock.
func TestTriesAgain(t *testing.T) {
	rows := []struct {
		name  string
		rep   func(n int) fakellm.EmbedReply
		tries int
		took  time.Duration
		code  rest.Code // "" for none
	}{
		{"broken once", fails(1, fakellm.EmbedReply{Status: 503}), 2, 500 * time.Millisecond, ""},
		{"broken off twice", fails(2, fakellm.EmbedReply{CutOff: true}), 3, 1500 * time.Millisecond, ""},
		{"asked to wait", fails(1, fakellm.EmbedReply{Status: 429, RetryAfter: "7"}), 2, 7 * time.Second, ""},
		{"asked to wait for ever", fails(1, fakellm.EmbedReply{Status: 429, RetryAfter: "86400"}), 2, 20 * time.Second, ""},
		{"broken", fails(9, fakellm.EmbedReply{Status: 500}), 3, 1500 * time.Millisecond, rest.Broken},
		{"hangs", fails(9, fakellm.EmbedReply{Hang: true}), 1, 30 * time.Second, rest.Slow},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &fakellm.Embedder{Model: "m", Dim: 4, Reply: r.rep}
				listener := newPipes()
				server := &http.Server{Handler: fake}
				go server.Serve(listener)
				defer server.Close()
				c, err := ollama.New(rest.Config{BaseURL: "http://ollama.test", Model: "m", Dial: listener.dial})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				from := time.Now()
				_, err = c.Embed(t.Context(), []string{"lamp"})
				var e *rest.Error
				if errors.As(err, &e) != (r.code != "") || e != nil && e.Code != r.code {
					t.Errorf("error %v", err)
				}
				if n := len(fake.Sizes()); n != r.tries || time.Since(from) != r.took {
					t.Errorf("%d tries in %v", n, time.Since(from))
				}
			})
		})
	}
}

// fails answers the first n requests by rep.
func fails(n int, rep fakellm.EmbedReply) func(int) fakellm.EmbedReply {
	return func(i int) fakellm.EmbedReply {
		if i < n {
			return rep
		}
		return fakellm.EmbedReply{}
	}
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	in   chan net.Conn
	done chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.in <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.in:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestConfig(t *testing.T) {
	rows := []struct{ name, text, err string }{
		{"none", "", ""},
		{"hash", "kind: hash", ""},
		{"ollama", "{kind: ollama, model: bge-m3}", ""},
		{"openai", "{kind: openai, key: openai}", ""},
		{"no kind", "model: bge-m3", "kind is missing"},
		{"unknown kind", "kind: magic", "not known"},
		{"unknown key", "{kind: hash, modle: x}", `did you mean "model"`},
		{"ollama without model", "kind: ollama", "needs model"},
		{"hash with a server", "{kind: hash, model: x}", "no other keys"},
		{"no address", "{kind: ollama, model: x, base_url: nowhere}", "no web address"},
		{"a blank in the model", "{kind: ollama, model: 'a b'}", "must name the model"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(r.text), &doc); err != nil {
				t.Fatal(err)
			}
			var node *yaml.Node
			if len(doc.Content) > 0 {
				node = doc.Content[0]
			}
			_, err := driver.ParseConfig(node)
			if (err == nil) != (r.err == "") || err != nil && !strings.Contains(err.Error(), r.err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestPlugin(t *testing.T) {
	for name, cfg := range map[string]driver.Config{"none": {}, "hash": {Kind: "hash"}, "ollama": {Kind: "ollama", Model: "bge-m3", Key: "ollama"}} {
		t.Run(name, func(t *testing.T) {
			plugintest.Suite{
				New:     func(*testing.T) plugin.Plugin { return driver.New(cfg) },
				Options: func(o *host.Options) { o.Secret = func(string) string { return secret } },
			}.Run(t)
		})
	}
	b := plugintest.New(t)
	if err := b.Start(driver.New(driver.Config{Kind: "hash"})); err != nil {
		t.Fatal(err)
	}
	if e, ok := b.Host.Embedder("hash"); !ok || e.Name() != (embed.Hash{}).Name() {
		t.Error("no embedder is registered")
	}
	err := plugintest.New(t).Start(driver.New(driver.Config{Kind: "openai", Key: "none"}))
	if err == nil || !strings.Contains(err.Error(), "homectl secret set none") {
		t.Errorf("without its secret: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{`{"embeddings":[[1,2],[3,4]]}`, `{"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}]}`, `[]`, `{"data":[{}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, d := range []rest.Dialect{ollama.Dialect(), openai.Dialect()} {
			out, err := d.Parse([]byte(answer), 2)
			if err == nil && d.Kind == "openai" && (len(out) != 2 || len(out[0]) == 0 || len(out[1]) == 0) {
				t.Fatalf("%v of %q", out, answer)
			}
		}
	})
}
