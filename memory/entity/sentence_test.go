package entity

import "testing"

// TestIdentitySentences holds what counts as saying that two are one. What is
// wrongly taken for it merges two people, so most rows must not be.
func TestIdentitySentences(t *testing.T) {
	rows := []struct {
		text, a, b string
		want       Verdict
	}{
		{"陈总就是陈建国", "陈总", "陈建国", Same},
		{"其实陈总就是陈建国啊。", "陈总", "陈建国", Same},
		{"对了，陈总就是陈建国，我们公司的。", "陈总", "陈建国", Same},
		{"他说：“陈总就是陈建国”", "陈总", "陈建国", Ask},
		{"陈总就是陈建国吗？", "陈总", "陈建国", Ask},
		{"陈总就是陈建国吧", "陈总", "陈建国", Ask},
		{"我以为陈总就是陈建国", "陈总", "陈建国", Ask},
		{"可能陈总就是陈建国", "陈总", "陈建国", Ask},
		{"要是陈总就是陈建国，那就好了", "陈总", "陈建国", Ask},
		{"陈总就是陈建国，不对，是陈建军", "陈总", "陈建国", Ask},
		{"陈总就是陈建国的哥哥", "陈总", "陈建国", Ask},
		{"陈总就是陈建国和陈建军说的那个人", "陈总", "陈建国", Ask},
		{"小陈总就是陈建国", "陈总", "陈建国", Ask},
		{"张三和陈总就是陈建国的客户", "陈总", "陈建国", Ask},
		{"陈总不是陈建国", "陈总", "陈建国", Different},
		{"陈总和陈建国不是同一个人", "陈总", "陈建国", Different},
		{"陈总和陈建国是两个人", "陈总", "陈建国", Different},
		{"陈总和陈建国是同一个人", "陈总", "陈建国", Same},
		{"陈总是不是陈建国", "陈总", "陈建国", Ask},
		{"我儿子李明，小名明明", "李明", "明明", Same},
		{"李明小名明明", "李明", "明明", Same},
		{"李明的小名叫明明", "李明", "明明", Same},
		{"李明，大家都叫他明明", "李明", "明明", Same},
		{"李明的儿子小名明明", "李明", "明明", Ask},
		{"李明和王芳，小名明明", "李明", "明明", Ask},
		{"李明、王芳，小名明明", "王芳", "明明", Unrelated},
		{"李明有个弟弟，小名明明", "李明", "明明", Ask},
		{"李明（小名明明）", "李明", "明明", Ask},
		{"王芳是我的老师", "王芳", "王老师", Same},
		{"王芳是我的老师吗？", "王芳", "王老师", Ask},
		{"王芳是张三的老师", "王芳", "王老师", Ask},
		{"李芳是我的老师", "李芳", "王老师", Unrelated},
		{"豆豆就是狗", "豆豆", "狗", Unrelated},
		{"王芳就是老师", "王芳", "老师", Unrelated},
		{"星巴克就是咖啡店", "星巴克", "咖啡店", Ask},
		{"我妈就是王芳", "我妈", "王芳", Same},
		{"我儿子是李明", "我儿子", "李明", Ask},
		{"妈妈叫李明", "妈妈", "李明", Ask},
		{"张三的妈妈就是王芳", "妈妈", "王芳", Unrelated},
		{"张三的妈妈就是王芳", "张三的妈妈", "王芳", Same},
		{"张三的妈妈就是王芳", "张三", "王芳", Unrelated},
		{"张三是李四", "张三", "李四", Ask},
		{"QQ:10001就是张三", "QQ:10001", "张三", Same},
		{"Bob is Robert.", "Bob", "Robert", Same},
		{"My boss Bob is actually Robert Smith.", "Bob", "Robert Smith", Same},
		{"Is Bob Robert?", "Bob", "Robert", Ask},
		{"Bob is Robert, or so they say", "Bob", "Robert", Ask},
		{"I think Bob is Robert", "Bob", "Robert", Ask},
		{"Tom said that Bob is Robert", "Bob", "Robert", Ask},
		{"If Bob is Robert, call him", "Bob", "Robert", Ask},
		{"Bob is not Robert", "Bob", "Robert", Different},
		{"Bob and Robert are two different people", "Bob", "Robert", Different},
		{"Bob and Robert are the same person", "Bob", "Robert", Same},
		{"Bob is Robert's brother", "Bob", "Robert", Ask},
		{"Bob is Robert and Anna's friend", "Bob", "Robert", Ask},
		{"Tom's mother is Anna", "mother", "Anna", Unrelated},
		{"Tom and Bob is Robert", "Bob", "Robert", Ask},
		{"Bobby is Roberta", "Bob", "Robert", Ask},
		{"Rosa is Italian", "Rosa", "Italian", Ask},
		{"Robert Smith, also known as Bob, is here.", "Robert Smith", "Bob", Same},
		{"Robert Smith, nicknamed Duke.", "Robert Smith", "Duke", Same},
		{"Robert Smith's brother, nicknamed Duke.", "Robert Smith", "Duke", Unrelated},
		{"Mr. Smith is John Smith.", "Mr. Smith", "John Smith", Same},
		{"J. Smith is also known as Jack.", "J. Smith", "Jack", Same},
		{"My wife is Anna", "my wife", "Anna", Same},
		{"My son is Tom", "my son", "Tom", Ask},
	}
	for _, r := range rows {
		a, b := Candidate{Name: r.a}, Candidate{Name: r.b}
		Observe(r.text, &a, &b)
		d := Compare(a, b)
		if d.Verdict != r.want {
			t.Errorf("%s: %s / %s: %v by %s, want %v", r.text, r.a, r.b, d.Verdict, d.Rule, r.want)
		}
		if d.Certain != (r.want == Same) && d.Verdict == r.want {
			t.Errorf("%s: certain is %v", r.text, d.Certain)
		}
		if r.want >= Ask && d.Verdict >= Ask && !Nominated(a, b) {
			t.Errorf("%s: %s / %s is not nominated", r.text, r.a, r.b)
		}
	}
}
