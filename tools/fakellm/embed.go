package fakellm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
)

// EmbedReply is how an answer with vectors misbehaves; the zero value does not.
type EmbedReply struct {
	// Status other than 0 is answered with Body and RetryAfter instead.
	Status     int
	Body       string
	RetryAfter string
	// Raw is answered as it is, with status 200.
	Raw string
	// Hang sends nothing until the client leaves.
	Hang bool
	// CutOff ends the connection in the middle.
	CutOff bool
	// Shuffled sends the items in another order, as only OpenAI's form allows.
	Shuffled bool
}

// Embedder is an http.Handler with both forms of embedding: Ollama's POST
// …/api/embed and OpenAI's POST …/embeddings. It is as strict as the real ones:
// an unknown field, an empty input, an empty text (OpenAI) or an unknown model
// is refused. Its vectors depend on the text alone.
type Embedder struct {
	// Model is the one it has, Dim the length of its vectors.
	Model string
	Dim   int
	// Key, if set, must come as the bearer token.
	Key string
	// Reply decides how the nth request, from 0, is answered; nil is well.
	Reply func(n int) EmbedReply

	mu    sync.Mutex
	sizes []int
}

// Sizes are the numbers of texts of the requests that were understood.
func (e *Embedder) Sizes() []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]int(nil), e.sizes...)
}

// The two requests.
type ollamaEmbed struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate *bool    `json:"truncate"`
}

type openaiEmbed struct {
	Model  string   `json:"model"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

// ServeHTTP answers a request.
func (e *Embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ollama := strings.HasSuffix(r.URL.Path, "/api/embed")
	if r.Method != http.MethodPost || !ollama && !strings.HasSuffix(r.URL.Path, "/embeddings") {
		http.NotFound(w, r)
		return
	}
	if e.Key != "" && r.Header.Get("Authorization") != "Bearer "+e.Key {
		problem(w, 401, "Incorrect API key provided: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return
	}
	model, input, bad := readEmbed(body, ollama)
	switch {
	case bad != "":
		problem(w, 400, bad)
		return
	case model != e.Model:
		problem(w, 404, fmt.Sprintf("model %q not found", model))
		return
	}
	e.mu.Lock()
	n := len(e.sizes)
	e.sizes = append(e.sizes, len(input))
	e.mu.Unlock()
	var rep EmbedReply
	if e.Reply != nil {
		rep = e.Reply(n)
	}
	e.write(w, r, rep, input, ollama)
}

// readEmbed holds a request against its form; bad tells what is wrong.
func readEmbed(body []byte, ollama bool) (model string, input []string, bad string) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var err error
	if ollama {
		var req ollamaEmbed
		err = d.Decode(&req)
		model, input = req.Model, req.Input
	} else {
		var req openaiEmbed
		err = d.Decode(&req)
		model, input = req.Model, req.Input
		if err == nil && req.Format != "float" {
			return "", nil, "encoding_format must be float"
		}
	}
	if err != nil {
		return "", nil, err.Error()
	}
	if len(input) == 0 || len(input) > 2048 {
		return "", nil, fmt.Sprintf("input has %d items", len(input))
	}
	for i, text := range input {
		if text == "" && !ollama {
			return "", nil, fmt.Sprintf("'$.input[%d]' is invalid: an empty string", i)
		}
		if len(text) > 32<<10 && !ollama {
			return "", nil, fmt.Sprintf("input %d is longer than the model's context", i)
		}
	}
	return model, input, ""
}

func (e *Embedder) write(w http.ResponseWriter, r *http.Request, rep EmbedReply, input []string, ollama bool) {
	switch {
	case rep.Hang:
		<-r.Context().Done()
		return
	case rep.Status != 0:
		if rep.RetryAfter != "" {
			w.Header().Set("Retry-After", rep.RetryAfter)
		}
		w.WriteHeader(rep.Status)
		io.WriteString(w, rep.Body)
		return
	}
	text := []byte(rep.Raw)
	if rep.Raw == "" {
		text = e.answer(input, ollama, rep.Shuffled)
	}
	w.Header().Set("Content-Type", "application/json")
	if rep.CutOff {
		w.Write(text[:len(text)/2])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.Write(text)
}

func (e *Embedder) answer(input []string, ollama, shuffled bool) []byte {
	vectors := make([][]float32, len(input))
	items := make([]object, len(input))
	for i, text := range input {
		vectors[i] = e.vector(text)
		at := i
		if shuffled {
			at = len(input) - 1 - i
		}
		items[at] = object{"object": "embedding", "index": i, "embedding": vectors[i]}
	}
	var answer any = object{"model": e.Model, "embeddings": vectors, "total_duration": 1, "load_duration": 1, "prompt_eval_count": 3}
	if !ollama {
		answer = object{"object": "list", "model": e.Model, "data": items, "usage": object{"prompt_tokens": 3, "total_tokens": 3}}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return text
}

// vector is a text's: the sum of pseudo-random ones of its words, so that texts
// with common words are near. It is not of unit length.
func (e *Embedder) vector(text string) []float32 {
	v := make([]float32, e.Dim)
	for _, word := range append(strings.Fields(text), "") {
		h := fnv.New64a()
		io.WriteString(h, word)
		x := h.Sum64()
		for i := range v {
			x = x*6364136223846793005 + 1442695040888963407
			v[i] += float32(int32(x>>32)) / math.MaxInt32
		}
	}
	return v
}
