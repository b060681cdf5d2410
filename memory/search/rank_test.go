package search_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"homeagent/memory/search"
)

// Each part of the ranking decides a question that the words alone do not.
func TestEachPartDecides(t *testing.T) {
	at := func(p search.Passage, day string) search.Passage {
		p.Time, _ = time.Parse(time.DateOnly, day)
		return p
	}
	tests := []struct {
		name     string
		passages []search.Passage
		query    string
		want     string
		part     search.Parts
	}{
		{"an answer stands behind its question", []search.Passage{
			event("q", 1, "Bob: What did you plant in the garden this spring?"),
			event("a", 2, "Anna: Mostly tomatoes, and a row of beans along the fence"),
			event("x", 9_000_000, "Cleo: the weather has been fine all along and the shop is shut"),
		}, "plant garden spring tomatoes fence weather", "a", search.Neighbours},
		{"who says it", []search.Passage{
			event("b", 1, "Bob: I bought a new green bicycle at the market"),
			event("a", 9_000_000, "Anna: I bought a new red bicycle at the station"),
		}, "Which bicycle did Bob buy?", "b", search.Speakers},
		{"words that stand together", []search.Passage{
			event("t", 1, "the red wine is behind the door of the cellar, beside the colour and paint"),
			event("x", 9_000_000, "red is the colour of the door, behind it the cellar, the paint, and beside it wine"),
		}, "red wine", "t", search.Phrases},
		{"a time is asked for", []search.Passage{
			event("t", 1, "the boiler repair man came last Monday"),
			event("x", 9_000_000, "the boiler repair man came with new tools"),
		}, "When did the boiler repair man come?", "t", search.Times},
		{"a time is named", []search.Passage{
			at(event("m", 1, "we went to the lake with the boat"), "2023-05-14"),
			at(event("x", 2, "we went to the lake with the canoe"), "2023-09-14"),
		}, "what did we do at the lake in May 2023", "m", search.Times},
		{"a time is named, in Chinese", []search.Passage{
			at(event("m", 1, "我们去湖边划船了"), "2023-05-14"),
			at(event("x", 2, "我们去湖边钓鱼了"), "2023-09-14"),
		}, "五月在湖边做了什么", "m", search.Times},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := open(t)
			put(t, x, tt.passages...)
			for _, without := range []search.Parts{0, tt.part} {
				got := find(t, x, search.Query{Text: tt.query, Without: without | search.Duplicates})
				if len(got) == 0 {
					t.Fatal("nothing was found")
				}
				if without == 0 && got[0] != tt.want {
					t.Fatalf("found %q, want %q first", got, tt.want)
				}
				if without != 0 && got[0] == tt.want {
					t.Fatalf("found %q without the part too: the test shows nothing", got)
				}
			}
		})
	}
}

func TestDuplicatesKindsAndArchive(t *testing.T) {
	ctx := context.Background()
	x := open(t)
	a, b := event("a", 1, "the green lamp stands in the hall"), event("b", 2, "the green lamp stands in the hall")
	k := search.Passage{ID: "k", Stream: "k", Kind: search.Knowledge, Text: "lamp bulbs: green ones last long"}
	a.Doc = "d"
	put(t, x, a, b, k)
	if got := find(t, x, search.Query{Text: "green lamp hall", Kinds: []search.Kind{search.Event}}); len(got) != 1 {
		t.Fatalf("the same twice: %q", got)
	}
	if got := find(t, x, search.Query{Text: "green lamp", Kinds: []search.Kind{search.Knowledge}}); strings.Join(got, " ") != "k" {
		t.Fatalf("only knowledge: %q", got)
	}
	if err := x.Archive(ctx, true, "d"); err != nil {
		t.Fatal(err)
	}
	if got := find(t, x, search.Query{Text: "green lamp hall", Without: search.Duplicates | search.Neighbours}); got[0] != "b" {
		t.Fatalf("archived first: %q", got)
	}
	if got := find(t, x, search.Query{Text: "green lamp hall", Archived: -1, Without: search.Duplicates}); len(got) != 2 {
		t.Fatalf("archived left out: %q", got)
	}
}

func TestSpoken(t *testing.T) {
	for _, tt := range []struct{ text, speaker, said string }{
		{"Anna: hello", "Anna", "hello"},
		{"妈妈：钥匙在门垫下", "妈妈", "钥匙在门垫下"},
		{"Dr. Anna Smith: hi", "Dr. Anna Smith", "hi"},
		{"12:30 is lunch", "", "12:30 is lunch"},
		{"https://example.org: x", "", "https://example.org: x"},
		{"buy milk: two litres", "", "buy milk: two litres"},
		{"no colon", "", "no colon"},
	} {
		if speaker, said := search.Spoken(tt.text); speaker != tt.speaker || said != tt.said {
			t.Errorf("%q: %q says %q", tt.text, speaker, said)
		}
	}
}

func TestTimes(t *testing.T) {
	now := time.Date(2024, 3, 13, 20, 0, 0, 0, time.UTC) // a Wednesday
	day := func(s string) time.Time { d, _ := time.Parse(time.DateOnly, s); return d.Add(12 * time.Hour) }
	for _, tt := range []struct{ text, in, out string }{
		{"what happened in May 2023", "2023-05-20", "2023-07-20"},
		{"on 3 July 2023", "2023-07-05", "2023-07-25"},
		{"in December", "2024-01-03", "2023-10-03"},
		{"what did I say yesterday", "2024-03-12", "2024-02-12"},
		{"last week", "2024-03-06", "2024-02-06"},
		{"五月三号做了什么", "2023-05-04", "2023-06-20"},
		{"2023年12月去哪了", "2023-12-24", "2022-12-24"},
		{"上个月买了什么", "2024-02-10", "2024-01-10"},
	} {
		spans := search.SpansOf(tt.text, now)
		if len(spans) != 1 || !spans[0].Has(day(tt.in)) || spans[0].Has(day(tt.out)) {
			t.Errorf("%q: %+v", tt.text, spans)
		}
	}
	for _, text := range []string{"you may march on", "三个苹果", ""} {
		if spans := search.SpansOf(text, now); len(spans) != 0 {
			t.Errorf("%q: %+v", text, spans)
		}
	}
	if !search.AsksWhen("When was it?") || !search.AsksWhen("什么时候来的") || search.AsksWhen("whenever you like") {
		t.Error("asksWhen")
	}
	if !search.SpeaksOfTime("two weeks ago") || !search.SpeaksOfTime("五月三号") || search.SpeaksOfTime("三个苹果") {
		t.Error("speaksOfTime")
	}
}

// FuzzBlock: what parses is written back as it was.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{1, 1, 5, 3, 2, 9})
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := search.Recoded(b)
		if err != nil {
			return
		}
		third, err := search.Recoded(again)
		if err != nil || string(third) != string(again) || len(again) > len(b) {
			t.Fatalf("%x, then %x, then %x, %v", b, again, third, err)
		}
	})
}

// FuzzSpans: any text gives spans of real months.
func FuzzSpans(f *testing.F) {
	for _, s := range []string{"in May 2023", "十二月三十一号", "3rd of march", "2023年99月0日", "十十十月"} {
		f.Add(s)
	}
	now := time.Date(2024, 3, 13, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		for _, sp := range search.SpansOf(s, now) {
			sp.Has(now)
		}
		search.SpeaksOfTime(s)
		search.AsksWhen(s)
		search.Spoken(s)
	})
}
