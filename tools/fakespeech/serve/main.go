// Command serve runs the fake speech service of tools/fakespeech on a free
// port of this computer, prints its base_url and then what it is asked. Each
// line on standard input is a transcript for the next request.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"homeagent/tools/fakespeech"
)

func main() {
	key := flag.String("key", "", "the bearer token that is expected")
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fake := fakespeech.New(fakespeech.Config{Key: *key, Streamed: true})
	fmt.Printf("base_url: http://%s/v1\nmodel: whisper-1 (transcription), tts-1 (speech)\n", l.Addr())
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fake.Understand(in.Text())
		}
	}()
	srv := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard, said, bad := len(fake.Heard()), len(fake.Said()), len(fake.Complaints())
		fake.ServeHTTP(w, r)
		for _, h := range fake.Heard()[heard:] {
			fmt.Printf("heard %s, RMS %.0f, language %q, prompt %q\n", h.Duration, h.RMS, h.Language, h.Prompt)
		}
		for _, s := range fake.Said()[said:] {
			fmt.Printf("said %q\n", s.Input)
		}
		for _, c := range fake.Complaints()[bad:] {
			fmt.Printf("refused: %s\n", c)
		}
	})}
	log.Fatal(srv.Serve(l))
}
