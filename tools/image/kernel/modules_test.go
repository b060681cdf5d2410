package kernel

import (
	"slices"
	"testing"
)

var (
	dep = []byte("kernel/a.ko.xz: kernel/b.ko.xz kernel/c-c.ko.xz\nkernel/b.ko.xz: kernel/c-c.ko.xz\nkernel/c-c.ko.xz:\nkernel/soft.ko.xz:\nnonsense\n")
	in  = []byte("kernel/fs/ext4.ko\n")
	pre = []byte("# words\nsoftdep b pre: soft post: a\nalias x y\n")
)

func TestSelect(t *testing.T) {
	rows := []struct {
		name                string
		want, files, absent []string
	}{
		{"what a module needs comes first", []string{"a"}, []string{"kernel/c-c.ko.xz", "kernel/soft.ko.xz", "kernel/b.ko.xz", "kernel/a.ko.xz"}, nil},
		{"each once", []string{"c_c", "c-c"}, []string{"kernel/c-c.ko.xz"}, nil},
		{"built in", []string{"ext4"}, nil, nil},
		{"absent", []string{"rp1"}, nil, []string{"rp1"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			files, absent := ParseModules(dep, in, pre).Select(row.want)
			if !slices.Equal(files, row.files) || !slices.Equal(absent, row.absent) {
				t.Errorf("files %v, absent %v", files, absent)
			}
		})
	}
}

func TestParseList(t *testing.T) {
	if got := ParseList([]byte("# head\n\na # why\nb c\n")); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

// FuzzModules holds that no table makes Select run for ever or name a file twice.
func FuzzModules(f *testing.F) {
	f.Add(dep, in, pre, "a")
	f.Add([]byte("x.ko: y.ko\ny.ko: x.ko\n"), []byte(""), []byte("softdep x pre: y\n"), "x")
	f.Fuzz(func(t *testing.T, dep, in, pre []byte, name string) {
		files, _ := ParseModules(dep, in, pre).Select([]string{name})
		seen := map[string]bool{}
		for _, file := range files {
			if seen[file] {
				t.Errorf("%s twice", file)
			}
			seen[file] = true
		}
	})
}
