package entity

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// crowd makes n candidates with the names that a long life brings: full names,
// titles, pet names, English names, things.
func crowd(n int) []Candidate {
	r := rand.New(rand.NewPCG(1, 2))
	surnames := []rune("王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗")
	given := []rune("伟芳娜敏静丽强磊军洋勇艳杰娟涛明超霞平刚桂英华玉兰红志建国文斌海燕云飞龙")
	titles := []string{"老师", "先生", "女士", "医生", "总", "工"}
	first := []string{"Bob", "Robert", "Mary", "Ann", "Tom", "Thomas", "Jack", "Kate"}
	last := []string{"Smith", "Jones", "Baker", "Hill", "Stone", "Wood", "Lake", "Field", "Brook", "Moore"}
	things := []string{"灯", "空调", "窗帘", "电视", "音箱", "门锁"}
	places := []string{"客厅", "卧室", "厨房", "书房", "阳台", "车库"}
	pick := func(rs []rune) string { return string(rs[r.IntN(len(rs))]) }
	out := make([]Candidate, n)
	for i := range out {
		name := ""
		switch k := r.IntN(20); {
		case k < 10:
			name = pick(surnames) + pick(given) + pick(given)
		case k < 12:
			name = pick(surnames) + titles[r.IntN(len(titles))]
		case k < 13:
			name = "小" + pick(given)
		case k < 16:
			name = fmt.Sprintf("%s %s", first[r.IntN(len(first))], last[r.IntN(len(last))])
		case k < 18:
			name = places[r.IntN(len(places))] + things[r.IntN(len(things))] + fmt.Sprint(r.IntN(n/10+1))
		default:
			name = fmt.Sprintf("thing number %d", r.IntN(n))
		}
		out[i] = Candidate{Name: name}
	}
	return out
}

// TestIndexMissesNobody compares the index with asking every pair by itself.
// Weak keys are left out: in a crowd they tell nothing.
func TestIndexMissesNobody(t *testing.T) {
	all := crowd(120)
	x := NewIndex()
	for i, c := range all {
		x.Add(int64(i), c)
	}
	if x.Len() != len(all) {
		t.Fatalf("%d of %d are in", x.Len(), len(all))
	}
	pairs := 0
	for i, c := range all {
		got := x.Nominate(int64(i), c)
		if slices.Contains(got, int64(i)) {
			t.Fatalf("%s is nominated with itself", c.Name)
		}
		for j, d := range all {
			if i == j {
				continue
			}
			one := NewIndex()
			one.Add(int64(j), d)
			strong := false
			for hit := range one.Hits(int64(i), c) {
				strong = strong || !hit.Weak
			}
			if strong && !slices.Contains(got, int64(j)) {
				t.Errorf("%s misses %s", c.Name, d.Name)
			}
			if strong {
				pairs++
			}
		}
	}
	if pairs == 0 {
		t.Error("the crowd has no look-alikes")
	}
}

// TestWeakKeysInACrowd: one 张先生 among many 张 is nominated with none of them
// for his surname.
func TestWeakKeysInACrowd(t *testing.T) {
	for _, r := range []struct{ others, want int }{{1, 1}, {MaxWeak, MaxWeak}, {MaxWeak + 1, 0}} {
		x := NewIndex()
		for i := range r.others {
			x.Add(int64(i), Candidate{Name: "张" + string(rune('一'+i*7))})
		}
		if got := x.Nominate(99, Candidate{Name: "张先生"}); len(got) != r.want {
			t.Errorf("%d others: %v, want %d", r.others, got, r.want)
		}
	}
}

// BenchmarkNominate measures looking one candidate up among 100,000.
func BenchmarkNominate(b *testing.B) {
	all := crowd(100_000)
	x := NewIndex()
	for i, c := range all {
		x.Add(int64(i), c)
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		x.Nominate(int64(i%len(all)), all[i%len(all)])
	}
}

// BenchmarkAgainstChanged measures what one entity costs where all pass by an
// index of 500 changed ones, as the tidying does it.
func BenchmarkAgainstChanged(b *testing.B) {
	all := crowd(100_000)
	x := NewIndex()
	for i, c := range all[:500] {
		x.Add(int64(i), c)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		for range x.Hits(int64(i%len(all)), all[i%len(all)]) {
		}
	}
}
