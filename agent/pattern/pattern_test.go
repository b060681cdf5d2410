package pattern

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestIsRegexp compares every method with regexp's.
func TestIsRegexp(t *testing.T) {
	const text, s = `(\w)(\d)`, "a1 b2 c"
	p, re := New(text), regexp.MustCompile(text)
	up := strings.ToUpper
	for name, row := range map[string][2]any{
		"MatchString":                {p.MatchString(s), re.MatchString(s)},
		"FindString":                 {p.FindString(s), re.FindString(s)},
		"FindStringIndex":            {p.FindStringIndex(s), re.FindStringIndex(s)},
		"FindStringSubmatch":         {p.FindStringSubmatch(s), re.FindStringSubmatch(s)},
		"FindStringSubmatchIndex":    {p.FindStringSubmatchIndex(s), re.FindStringSubmatchIndex(s)},
		"FindAllStringSubmatchIndex": {p.FindAllStringSubmatchIndex(s, -1), re.FindAllStringSubmatchIndex(s, -1)},
		"ReplaceAllString":           {p.ReplaceAllString(s, "$2$1"), re.ReplaceAllString(s, "$2$1")},
		"ReplaceAllStringFunc":       {p.ReplaceAllStringFunc(s, up), re.ReplaceAllStringFunc(s, up)},
		"Split":                      {p.Split(s, -1), re.Split(s, -1)},
		"String":                     {p.String(), re.String()},
	} {
		if !reflect.DeepEqual(row[0], row[1]) {
			t.Errorf("%s: %v, regexp %v", name, row[0], row[1])
		}
	}
}

// TestFirstUse: many at once compile it once, and a bad one panics as regexp's.
func TestFirstUse(t *testing.T) {
	p := New(`^a`)
	if p.re != nil {
		t.Error("compiled at once")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !p.MatchString("abc") {
				t.Error("no match")
			}
		})
	}
	wg.Wait()
	defer func() {
		if recover() == nil {
			t.Error("a bad pattern does not panic")
		}
	}()
	New(`(`).MatchString("")
}
