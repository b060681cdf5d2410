package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
)

// relationsEnv is the size of the graph that the benchmarks of recall fill.
const relationsEnv = "HOMEAGENT_BENCH_RELATIONS"

// synthetic makes n different facts of a large household in two languages,
// with a few persons that nearly everything is about.
func synthetic(n int) []plugin.Triple {
	rnd := rand.New(rand.NewPCG(7, 7))
	pick := func(s []string) string { return s[rnd.IntN(len(s))] }
	people := []string{"小明", "李华", "王阿姨", "奶奶", "Bob", "Alice", "我", "grandma"}
	places := []string{"客厅", "厨房", "阳台", "地下室", "the garage", "the kitchen", "书房", "the attic"}
	things := []string{"钥匙", "雨伞", "充电器", "passport", "drill", "相册", "suitcase", "药箱", "tax papers", "花瓶"}
	verbs := []string{"喜欢", "买了", "修好了", "likes", "bought", "lent", "送给了王阿姨", "寄出了"}
	colours := []string{"红色", "蓝色", "green", "旧的", "新的", "broken", "木头的", "silver"}
	out := make([]plugin.Triple, n)
	for i := range out {
		thing := pick(colours) + pick(things) + " " + strconv.Itoa(rnd.IntN(n/2+1))
		switch i % 3 {
		case 0:
			out[i] = plugin.Triple{Subject: thing, Relation: pick([]string{"在", "is in"}), Object: pick(places)}
		default:
			out[i] = plugin.Triple{Subject: pick(people), Relation: pick(verbs), Object: thing}
		}
	}
	return out
}

// fill makes a graph of n relations.
func fill(t testing.TB, n int) (*graph.Graph, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	g := openAt(t, path, nil)
	for chunk := range slices.Chunk(synthetic(n), 5000) {
		if _, err := g.Commit(context.Background(), chunk, graph.Origin{Source: "bench"}); err != nil {
			t.Fatal(err)
		}
	}
	return g, path
}

var benchQueries = []string{
	"钥匙在哪", "小明喜欢什么", "where is the silver drill 17", "我把护照放在哪了", "李华买了什么红色的东西",
	"turn on the living room lamp", "今天天气怎么样", "what did Bob buy", "王阿姨送的花瓶呢", "is the passport in the attic",
	"小明以前住哪", "where was the green suitcase before",
}

// BenchmarkRecall is the recall of a turn (depth 1, 8 facts) and of the tool
// (depth 2, with the past); HOMEAGENT_BENCH_RELATIONS sets the size of the graph.
// It reports percentiles, those of the processor's time as well (what is left of
// them on a machine that others use too), the memory that the process holds and
// the size of the file.
func BenchmarkRecall(b *testing.B) {
	n := 10_000
	if s := os.Getenv(relationsEnv); s != "" {
		n, _ = strconv.Atoi(s)
	}
	g, path := fill(b, n)
	for depth := 1; depth <= 2; depth++ {
		b.Run(fmt.Sprintf("relations=%d/depth=%d", n, depth), func(b *testing.B) {
			var times, work []time.Duration
			for i := 0; b.Loop(); i++ {
				start, begun := time.Now(), worked(b)
				q := graph.Query{Text: benchQueries[i%len(benchQueries)], Depth: depth, Limit: 8, Past: depth == 2, Seeds: []int64{1, 2, 3}}
				if _, err := g.Recall(context.Background(), q); err != nil {
					b.Fatal(err)
				}
				times, work = append(times, time.Since(start)), append(work, worked(b)-begun)
			}
			slices.Sort(times)
			slices.Sort(work)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(work[len(work)/2].Microseconds()), "cpu-p50-µs")
			b.ReportMetric(float64(work[len(work)*99/100].Microseconds()), "cpu-p99-µs")
			b.ReportMetric(resident(b), "RSS-MiB")
			if info, err := os.Stat(path); err == nil {
				b.ReportMetric(float64(info.Size())/(1<<20), "file-MiB")
			}
		})
	}
}

// resident is the memory that the process holds, in MiB, 0 where the system
// does not tell.
func resident(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(status, []byte("VmRSS:"))
	if !ok {
		return 0
	}
	var kib float64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

// worked is the processor's time that the process has used.
func worked(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCommit is one fact in a transaction of its own.
func BenchmarkCommit(b *testing.B) {
	g, _ := fill(b, 10_000)
	all := synthetic(200_000)
	for i := 0; b.Loop(); i++ {
		if _, err := g.Commit(context.Background(), all[100_000+i%100_000:][:1], graph.Origin{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a graph of 10,000 relations, its check included.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "graph.db")
	g := openAt(b, path, nil)
	if _, err := g.Commit(context.Background(), synthetic(10_000), graph.Origin{}); err != nil {
		b.Fatal(err)
	}
	g.Close()
	if info, err := os.Stat(path); err == nil {
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	}
	for b.Loop() {
		g, _, err := graph.Open(path, graph.Options{})
		if err != nil {
			b.Fatal(err)
		}
		g.Close()
	}
}

// BenchmarkQuery is the recall of each query by itself.
func BenchmarkQuery(b *testing.B) {
	n := 10_000
	if s := os.Getenv(relationsEnv); s != "" {
		n, _ = strconv.Atoi(s)
	}
	g, _ := fill(b, n)
	for _, text := range benchQueries {
		b.Run(text, func(b *testing.B) {
			var work []time.Duration
			for b.Loop() {
				begun := worked(b)
				if _, err := g.Recall(context.Background(), graph.Query{Text: text, Depth: 2, Limit: 8}); err != nil {
					b.Fatal(err)
				}
				work = append(work, worked(b)-begun)
			}
			slices.Sort(work)
			b.ReportMetric(float64(work[len(work)/2].Microseconds()), "cpu-p50-µs")
			b.ReportMetric(float64(work[len(work)*9/10].Microseconds()), "cpu-p90-µs")
		})
	}
}
