package wakefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *File {
	f := &File{Kind: Word, Version: 2}
	f.AddText("name", "小爱")
	f.AddFloat32("template", []float32{1, -2, 3.5, 0, 1e-9, 7}, 2, 3)
	f.AddInt8("rows", []int8{-128, 127, 0}, 3)
	f.AddFloat32("bias", []float32{4}, []int{}...)
	return f
}

// seal puts a right checksum behind a body, so that a test reaches what lies behind it.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	data := want.Encode()
	got, err := Decode(data, Word, 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(data, got.Encode()); d != "" {
		t.Error(d)
	}
	values, shape, err := got.Float32("template", -1, 3)
	if err != nil || !cmp.Equal(shape, []int{2, 3}) || values[2] != 3.5 {
		t.Errorf("template = %v %v, %v", values, shape, err)
	}
	if rows, _, err := got.Int8("rows", -1); err != nil || rows[0] != -128 || rows[1] != 127 {
		t.Errorf("rows = %v, %v", rows, err)
	}
	if name, err := got.Text("name"); err != nil || name != "小爱" {
		t.Errorf("name = %q, %v", name, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := sample().Encode()
	body := whole[:len(whole)-sha256.Size]
	alter := func(at int, b byte) []byte {
		c := bytes.Clone(body)
		c[at] = b
		return seal(c)
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "no header"},
		{"not this format", []byte(strings.Repeat("x", 100)), "no header"},
		{"cut short", whole[:len(whole)-1], "checksum"},
		{"one bit altered", append(append([]byte{}, whole[:40]...), append([]byte{whole[40] ^ 1}, whole[41:]...)...), "checksum"},
		{"bytes added", append(bytes.Clone(whole), 0), "checksum"},
		{"kind with rubbish in its padding", alter(15, 'x'), "padded"},
		{"too many sections", alter(22, 1), "sections"},
		{"one section too many", alter(20, 5), "cut short"},
		{"one section too few", alter(20, 3), "after the last"},
		{"name of no length", alter(24, 0), "cut short"},
		{"unknown element type", alter(24+1+4, 9), "type 9"},
		{"five dimensions", alter(24+1+4+1, 5), "dimensions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode(tt.data, Word, 2)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrDamaged with %q", err, tt.want)
			}
		})
	}
}

func TestDecodeTellsKindFromDamage(t *testing.T) {
	data := sample().Encode()
	for _, tt := range []struct {
		name string
		kind Kind
		max  uint32
		want string
	}{
		{"another kind", Bank, 2, `holds "word"`},
		{"a newer version", Word, 1, "version 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode(data, tt.kind, tt.max)
			var k *KindError
			if !errors.As(err, &k) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSectionsAreCheckedWhenRead(t *testing.T) {
	f := sample()
	f.AddFloat32("bad", []float32{float32(math.NaN())}, 1)
	for name, err := range map[string]error{
		"absent":      second(f.Float32("nothing", 1)),
		"wrong type":  second(f.Float32("rows", 3)),
		"wrong shape": second(f.Float32("template", 3, 2)),
		"wrong rank":  second(f.Float32("template", 6)),
		"not finite":  second(f.Float32("bad", 1)),
	} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[A, B any](_ A, _ B, err error) error { return err }

// FuzzDecode holds the law of the package: whatever is accepted is written
// back byte for byte. A right checksum is put on first, or nothing would pass.
func FuzzDecode(f *testing.F) {
	whole := sample().Encode()
	f.Add(whole[:len(whole)-sha256.Size])
	empty := (&File{Kind: Word, Version: 1}).Encode()
	f.Add(empty[:len(empty)-sha256.Size])
	huge := binary.LittleEndian.AppendUint32(bytes.Clone(whole[:31]), math.MaxUint32)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := Decode(body, Word, 9); err == nil {
			if _, err := Decode(body[:len(body)-1], Word, 9); err == nil {
				t.Fatal("accepted with and without its last byte")
			}
		}
		data := seal(body)
		got, err := Decode(data, Word, 9)
		if err != nil {
			return
		}
		if !bytes.Equal(got.Encode(), data) {
			t.Fatal("accepted bytes are not written back")
		}
	})
}
