package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/memory/recall"
	"homeagent/memory/search"
	"homeagent/tools/figure"
)

func TestJudge(t *testing.T) {
	items := func(ids ...string) (out []recall.Item) {
		for _, id := range ids {
			out = append(out, recall.Item{ID: id, From: []string{id}})
		}
		return out
	}
	q := &query{Cat: "multi-hop", facets: map[string]map[string]bool{"0": {"a": true, "b": true}, "1": {"c": true}}}
	for _, tt := range []struct {
		name  string
		items []recall.Item
		want  score
	}{
		{"nothing", nil, score{n: 1, multiN: 1}},
		{"one of a facet's documents is enough", items("x", "b"), score{r5: .5, r10: .5, mrr: .5, multi: .5, n: 1, multiN: 1}},
		{"both facets", items("a", "c"), score{r1: .5, r5: 1, r10: 1, mrr: 1, multi: 1, n: 1, multiN: 1}},
		{"beyond the fifth", items("1", "2", "3", "4", "5", "c"), score{r10: .5, mrr: 1. / 6, n: 1, multiN: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(q, tt.items); got != tt.want {
				t.Fatalf("%+v", got)
			}
		})
	}
}

// TestASmallSet goes the whole way: turns, recall, figures.
func TestASmallSet(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "tiny")
	if err := os.Mkdir(set, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"docs.jsonl": `{"id":"d1","conv":"c","text":"Anna: the spare key is under the mat","date":"2023-05-08"}
{"id":"d2","conv":"c","text":"Bob: I painted the fence green"}
{"id":"d3","conv":"c","text":"妈妈：药箱在书房的柜子里"}`,
		"queries.jsonl": `{"id":"q1","conv":"c","cat":"single-hop","text":"Where is the spare key?"}
{"id":"q2","conv":"c","cat":"multi-hop","text":"药箱在哪里"}
{"id":"q3","conv":"c","cat":"adversarial","text":"Who painted the mat?"}
{"id":"q4","conv":"c","text":"not judged"}`,
		"qrels.tsv": "q1\t0\td1\nq2\t0\td3\nq3\t0\td2\n",
	} {
		if err := os.WriteFile(filepath.Join(set, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, messages bytes.Buffer
	if err := run(context.Background(), []string{"-data", dir, "-without", "feedback,graph"}, &out, &messages); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for line := range strings.Lines(out.String()) {
		var l figure.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got[l.Name] = l.Value
	}
	for _, name := range []string{"r1", "r5", "r10", "mrr", "multihop_r5"} {
		if v, ok := got["recall.tiny-feedback-graph."+name]; !ok || math.Abs(v-1) > 1e-9 {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func TestFlags(t *testing.T) {
	if w, err := readWithout("graph,times"); err != nil || !w.graph || w.search != search.Times {
		t.Error(w, err)
	}
	if _, err := readWithout("grpah"); err == nil {
		t.Error("a part that is none")
	}
	for s, want := range map[string]int{"500": 500, "10k": 10_000, "1M": 1_000_000} {
		if n, err := number(s); n != want || err != nil {
			t.Error(s, n, err)
		}
	}
	for _, s := range []string{"", "k", "-1", "1g", "999999m"} {
		if _, err := number(s); err == nil {
			t.Errorf("%q is a number", s)
		}
	}
	var out, messages bytes.Buffer
	if err := run(context.Background(), []string{"-data", filepath.Join(t.TempDir(), "absent")}, &out, &messages); err != nil || !strings.Contains(messages.String(), "not measured") {
		t.Error(err, messages.String())
	}
}
