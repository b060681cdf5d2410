package figure

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestPrinter(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, "")
	if err := p.Add("turn.syncs", 3.99, "1", 200); err != nil {
		t.Fatal(err)
	}
	if err := p.Bounded("wake.miss", 0.02, "share", 247, 0.042); err != nil {
		t.Fatal(err)
	}
	printed := bytes.Clone(out.Bytes())
	for i, want := range []Line{{Name: "turn.syncs", Value: 3.99, Unit: "1", N: 200}, {Name: "wake.miss", Value: 0.02, Unit: "share", N: 247}} {
		line, err := out.ReadBytes('\n')
		var got Line
		if err != nil || json.Unmarshal(line, &got) != nil {
			t.Fatalf("line %d: %q, %v", i, line, err)
		}
		if got.Name != want.Name || got.Value != want.Value || got.Unit != want.Unit || got.N != want.N || got.Machine == "" || got.Commit == "" {
			t.Errorf("line %d: %+v", i, got)
		}
		if (got.Bound95 != nil) != (i == 1) {
			t.Errorf("line %d: bound %v", i, got.Bound95)
		}
	}
	if err := p.Copy(printed); err != nil || !bytes.Equal(out.Bytes(), printed) {
		t.Errorf("copied %q, %v", out.Bytes(), err)
	}
	for _, bad := range []string{"no line\n", "{}\n", "[]\n"} {
		if err := p.Copy([]byte(bad)); err == nil {
			t.Errorf("%q was taken for a figure", bad)
		}
	}
}

func TestRound(t *testing.T) {
	for _, row := range []struct {
		v      float64
		digits int
		want   float64
	}{{1.23456, 4, 1.2346}, {96.654, 2, 96.65}, {-1.5, 0, -2}, {3, 3, 3}} {
		if got := Round(row.v, row.digits); got != row.want {
			t.Errorf("Round(%v, %d) = %v", row.v, row.digits, got)
		}
	}
}
