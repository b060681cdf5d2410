package search_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"homeagent/memory/search"
)

// BenchmarkSearch is a search among 20,000 messages; cpu-µs is the processor's
// time of one, which a busy machine does not lengthen.
func BenchmarkSearch(b *testing.B) {
	x := open(b)
	words := []string{"钥匙", "雨伞", "passport", "green drill", "相册", "suitcase", "the kitchen", "书房", "修好了", "bought", "lent", "寄出了"}
	var ps []search.Passage
	for i := range 20_000 {
		text := fmt.Sprintf("Bob: %s %s %s %d, we should look for it tomorrow", words[i%12], words[i/12%12], words[i/144%12], i%997)
		ps = append(ps, event(fmt.Sprint(i), int64(i), text))
	}
	put(b, x, ps...)
	queries := []string{"where is the green drill 17", "谁修好了相册", "when did Bob buy the passport", "钥匙在书房吗"}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		if _, err := x.Search(context.Background(), search.Query{Text: queries[n%len(queries)], Limit: 26}); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	spent := time.Duration(after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano())
	b.ReportMetric(float64(spent.Microseconds())/float64(n), "cpu-µs/op")
}
