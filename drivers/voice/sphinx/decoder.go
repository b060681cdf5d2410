package sphinx

/*
#cgo LDFLAGS: -ldl
#cgo CFLAGS: -Wall -Wextra -Werror
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"
)

// MaxSamples bounds one utterance: 60 s at 16 kHz.
const MaxSamples = 60 * 16000

// Config says where PocketSphinx and its model are.
type Config struct {
	// Library is the shared library's path or name; "" tries the names under
	// which distributions install it. A process has one: the first that opens.
	Library string
	// Model is the acoustic model's folder, "" for Debian's.
	Model string
}

// opening guards the only thing of the library that is not a Decoder's own:
// loading it.
var opening sync.Mutex

// Decoder recognizes the sentences of one grammar.
type Decoder struct {
	lib *C.sphinx_lib
	ps  unsafe.Pointer
}

// New loads the acoustic model and the grammar, some 0.1 s. A word of the
// grammar that the dictionary does not have gives a *MissingWordsError with
// all of them; an absent library or model wraps speech.ErrMissing.
func New(cfg Config, dict *Dict, grammar string) (*Decoder, error) {
	if strings.IndexByte(grammar, 0) >= 0 {
		return nil, errors.New("grammar: it has a zero byte")
	}
	words, err := GrammarWords(grammar)
	if err != nil {
		return nil, err
	}
	known, err := dict.Lookup(words)
	if err != nil {
		return nil, err
	}
	if no := lacking(words, known); len(no) > 0 {
		return nil, &MissingWordsError{Words: no}
	}
	lib, err := open(cfg.Library)
	if err != nil {
		return nil, err
	}
	d, err := newDecoder(lib, cfg.Model)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		if err := d.addWord(w, known[w]); err != nil {
			d.Close()
			return nil, err
		}
	}
	if err := d.setGrammar(grammar); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// open loads the library under the first name that works.
func open(path string) (*C.sphinx_lib, error) {
	names := []string{path}
	if path == "" {
		names = []string{"libpocketsphinx.so.3", "libpocketsphinx.so.5", "libpocketsphinx.so"}
	}
	opening.Lock()
	defer opening.Unlock()
	var last string
	for _, n := range names {
		var e message
		cn := C.CString(n)
		lib := C.sphinx_open(cn, e.c(), e.n())
		C.free(unsafe.Pointer(cn))
		if lib != nil {
			return lib, nil
		}
		last = e.String()
	}
	return nil, missing("PocketSphinx (" + last + ")")
}

func newDecoder(lib *C.sphinx_lib, model string) (*Decoder, error) {
	if model == "" {
		model = DefaultModel
	}
	// The library ends the process over some missing files; look first.
	for _, f := range []string{"mdef", "means", "variances", "transition_matrices", "feat.params"} {
		if _, err := os.Stat(filepath.Join(model, f)); err != nil {
			return nil, missing("the acoustic model " + filepath.Join(model, f))
		}
	}
	cm := C.CString(model)
	defer C.free(unsafe.Pointer(cm))
	var e message
	ps := C.sphinx_new(lib, cm, e.c(), e.n())
	if ps == nil {
		return nil, fmt.Errorf("load acoustic model %s: %s", model, e.String())
	}
	return &Decoder{lib: lib, ps: ps}, nil
}

// addWord teaches the decoder every way to say a word.
func (d *Decoder) addWord(word string, phones []string) error {
	for i, p := range phones {
		name := word
		if i > 0 {
			name = fmt.Sprintf("%s(%d)", word, i+1)
		}
		cw, cp := C.CString(name), C.CString(p)
		var e message
		k := C.sphinx_add_word(d.lib, d.ps, cw, cp, e.c(), e.n())
		C.free(unsafe.Pointer(cw))
		C.free(unsafe.Pointer(cp))
		if k < 0 {
			return fmt.Errorf("pronunciation of %q, %q: %s", name, p, e.String())
		}
	}
	return nil
}

func (d *Decoder) setGrammar(grammar string) error {
	cg := C.CString(grammar)
	defer C.free(unsafe.Pointer(cg))
	var e message
	if C.sphinx_set_grammar(d.lib, d.ps, cg, e.c(), e.n()) < 0 {
		return fmt.Errorf("grammar: %s", e.String())
	}
	return nil
}

// Decode gives the sentence of the grammar that fits the utterance best, ""
// for none. audio is 16 kHz mono, silence trimmed, at most MaxSamples long.
// It takes some 0.02 s of one core a second of audio and cannot be cancelled.
func (d *Decoder) Decode(audio []int16) (string, error) {
	if d.ps == nil {
		return "", errors.New("decode: the decoder is closed")
	}
	if len(audio) > MaxSamples {
		return "", fmt.Errorf("decode: %d samples are more than %d", len(audio), MaxSamples)
	}
	if len(audio) == 0 {
		return "", nil
	}
	var e message
	if C.sphinx_decode(d.lib, d.ps, (*C.int16_t)(unsafe.Pointer(&audio[0])), C.size_t(len(audio)), e.c(), e.n()) < 0 {
		return "", fmt.Errorf("decode: %s", e.String())
	}
	hyp := C.sphinx_hypothesis(d.lib, d.ps)
	if hyp == nil {
		return "", nil
	}
	return strings.TrimSpace(C.GoString(hyp)), nil
}

// Close frees the decoder; twice is harmless.
func (d *Decoder) Close() error {
	if d.ps != nil {
		C.sphinx_free(d.lib, d.ps)
		d.ps = nil
	}
	return nil
}

// message is room for what the library says about a failure.
type message [512]C.char

func (m *message) c() *C.char { return &m[0] }
func (m *message) n() C.size_t {
	return C.size_t(len(m))
}

// String is the text on one line.
func (m *message) String() string {
	s := strings.Join(strings.Fields(C.GoString(&m[0])), " ")
	if s == "" {
		return "the library gives no reason"
	}
	return s
}
