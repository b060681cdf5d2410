package entity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	rows := []struct {
		text string
		want Name // without Text
	}{
		{"张三", Name{Key: "张三", Form: Full, Surname: "张", Given: "三"}},
		{"張 三", Name{Key: "张三", Form: Full, Surname: "张", Given: "三"}},
		{"欧阳锋", Name{Key: "欧阳锋", Form: Full, Surname: "欧阳", Given: "锋"}},
		{"欧先生", Name{Key: "欧/mr", Form: Titled, Surname: "欧", Title: "mr", Sex: "m"}},
		{"欧阳先生", Name{Key: "欧阳/mr", Form: Titled, Surname: "欧阳", Title: "mr", Sex: "m"}},
		{"张工程师", Name{Key: "张/engineer", Form: Titled, Surname: "张", Title: "engineer"}},
		{"张工", Name{Key: "张/engineer", Form: Titled, Surname: "张", Title: "engineer"}},
		{"王芳老师", Name{Key: "王芳老师", Form: Titled, Surname: "王", Given: "芳", Title: "teacher"}},
		{"小张老师", Name{Key: "小张老师", Form: Titled, Surname: "张", Title: "teacher"}},
		{"老张", Name{Key: "老张", Form: Prefixed, Surname: "张", Prefix: "老"}},
		{"老欧阳", Name{Key: "老欧阳", Form: Prefixed, Surname: "欧阳", Prefix: "老"}},
		{"李老", Name{Key: "李/elder", Form: Titled, Surname: "李", Title: "elder"}},
		{"阿明", Name{Key: "阿明", Form: Prefixed, Given: "明", Prefix: "阿"}},
		{"明明", Name{Key: "明明", Form: Doubled, Given: "明"}},
		{"我妈", Name{Key: "我的mother", Form: Kinship, Owner: "我", Kin: "mother", Sex: "f"}},
		{"妈妈", Name{Key: "我的mother", Form: Kinship, Owner: "我", Kin: "mother", Sex: "f"}},
		{"my mom", Name{Key: "我的mother", Form: Kinship, Owner: "我", Kin: "mother", Sex: "f"}},
		{"二姨", Name{Key: "我的mother's sister 二", Form: Kinship, Owner: "我", Kin: "mother's sister 二", Sex: "f"}},
		{"张三的妈妈", Name{Key: "张三的mother", Form: Owned, Owner: "张三", Kin: "mother", Sex: "f"}},
		{"张三他爸", Name{Key: "张三的father", Form: Owned, Owner: "张三", Kin: "father", Sex: "m"}},
		{"豆豆妈妈", Name{Key: "豆豆的mother", Form: Owned, Owner: "豆豆", Kin: "mother", Sex: "f"}},
		{"Tom's mother", Name{Key: "tom的mother", Form: Owned, Owner: "tom", Kin: "mother", Sex: "f"}},
		{"the mother of Tom", Name{Key: "tom的mother", Form: Owned, Owner: "tom", Kin: "mother", Sex: "f"}},
		{"客厅的灯", Name{Key: "客厅灯"}},
		{"老师", Name{Key: "老师", Form: Class}},
		{"张伟（财务）", Name{Key: "张伟", Form: Full, Surname: "张", Given: "伟", Bracket: "财务"}},
		{"qq：10001", Name{Key: "qq:10001", Form: Account}},
		{"ann@example.org", Name{Key: "ann@example.org", Form: Account}},
		{"Dr. Brown", Name{Key: "doctor/brown", Form: Titled, Surname: "brown", Title: "doctor"}},
		{"Aunt Mary", Name{Key: "aunt/mary", Form: Titled, Given: "mary", Title: "aunt", Sex: "f"}},
		{"John F. Kennedy", Name{Key: "john f kennedy", Form: Full, Given: "john", Middle: "f", Surname: "kennedy", Sex: "m"}},
		{"Kennedy, John", Name{Key: "john kennedy", Form: Full, Given: "john", Surname: "kennedy", Sex: "m"}},
		{"living room lamp", Name{Key: "living room lamp"}},
		{"", Name{}},
		{"。", Name{Key: "。"}},
	}
	for _, r := range rows {
		r.want.Text = r.text
		if d := cmp.Diff(r.want, Parse(r.text)); d != "" {
			t.Errorf("%s: %s", r.text, d)
		}
	}
}

func TestLearn(t *testing.T) {
	c := Candidate{Name: "张三"}
	c.Learn(Fact{"张三", "手机号是", "138 0000"}, Fact{"张三", "性别", "男"}, Fact{"张三", "又叫", "老三"}, Fact{"李四", "手机号", "139"})
	if c.Attributes["phone"] != "138 0000" || c.Sex != "m" || len(c.Attributes) != 1 {
		t.Errorf("%+v", c)
	}
	if d := Compare(c, Candidate{Name: "老三"}); d.Verdict != Same || !d.Certain || d.Rule != RuleSaidOne {
		t.Errorf("又叫: %+v", d)
	}
	other := Candidate{Name: "张三", Conversation: "x"}
	c.Conversation = "x"
	if d := Compare(c, other); d.Verdict != Same || d.Certain {
		t.Errorf("one conversation: %+v", d)
	}
	other.Learn(Fact{"张三", "电话", "139 0000"})
	if d := Compare(c, other); d.Verdict != Different || d.Rule != RuleAttribute {
		t.Errorf("two numbers: %+v", d)
	}
	for _, lang := range []string{"zh", "en"} {
		for rule := range reasons {
			if (Decision{Rule: rule}).Reason(lang) == "" {
				t.Errorf("%s has no words in %s", rule, lang)
			}
		}
	}
}

// TestScriptPairs guards the table: an odd number of signs would shift all
// that follow.
func TestScriptPairs(t *testing.T) {
	rs := []rune(pairsOfScript)
	if len(rs)%2 != 0 {
		t.Fatalf("%d signs", len(rs))
	}
	for from, to := range simplifiedOf {
		if again, ok := simplifiedOf[to]; ok {
			t.Errorf("%c becomes %c becomes %c", from, to, again)
		}
	}
	for from, to := range map[rune]rune{'龍': '龙', '衛': '卫', '驚': '惊', '壓': '压', '語': '语', '樓': '楼'} {
		if simplified(from) != to {
			t.Errorf("%c becomes %c", from, simplified(from))
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("张三", "张三的妈妈", "张三就是李四，小名明明。")
	f.Add("Bob", "Robert's mother", "Bob is Robert. one is a dog, the other a cat")
	f.Add("QQ:1", "我家的狗", "“一个教数学一个教英语”")
	f.Add("(a)", "'s ", "İ就是\xff的，, J. aka .")
	f.Fuzz(func(t *testing.T, x, y, text string) {
		a, b := Candidate{Name: x}, Candidate{Name: y}
		Observe(text, &a, &b)
		d, back := Compare(a, b), Compare(b, a)
		if d != back {
			t.Errorf("%q %q %q: %+v and %+v", x, y, text, d, back)
		}
		if d.Certain && d.Verdict != Same {
			t.Errorf("certain of %v", d.Verdict)
		}
		if n := Parse(x); !strings.Contains(x, "\xff") && Parse(n.Text) != n {
			t.Errorf("%q is read in two ways", x)
		}
		if d.Verdict != Same {
			return
		}
		// The sentences are what equates unlike names.
		if d.Rule == RuleSaidOne && len(a.Context)+len(b.Context) == 0 {
			t.Errorf("%q %q: nobody said so", x, y)
		}
	})
}
