package graph

import (
	"strings"

	"homeagent/memory/token"
)

// single lists the relations that have one answer at a time, a class a line:
// a new object ends the old fact. Words of one class mean the same. The list is
// short on purpose: a relation wrongly in it loses facts from sight, one
// missing merely leaves an outdated fact beside the new one.
var single = classes(
	"@at: 在 放在 位于 放到 搁在 停在 藏在 收在 存在 挂在 现在在; "+
		"is at; is in; is on; is under; is behind; is beside; is near; is next to; is above; is below; is inside; "+
		"are at; are in; are on; are under; are behind; are beside; are near; are next to; are above; are below; are inside; "+
		"is located in; is located at; located in; located at; location; location is; is kept in; is kept at; are kept in; are kept at; "+
		"is parked at; is parked in; is parked on; 位置 位置是 的位置是",
	"@home: 住在 家在 住 居住在 搬到 搬到了; lives in; lives at; live in; live at; resides in; moved to; home is; address; address is; 地址 地址是 的地址是",
	"@name: 叫 名叫 名字叫 名字是 名字 的名字是 姓名 姓名是; is named; is called; name; name is; named; called",
	"@birthday: 生日 生日是 的生日是 出生于 生于; birthday; birthday is; was born on; born on",
	"@age: 年龄 年龄是 的年龄是 今年; age; age is; is aged",
	"@phone: 电话 电话是 的电话是 电话号码 电话号码是 的电话号码是 手机号 手机号是 的手机号是; phone; phone is; phone number; phone number is",
	"@password: 密码 密码是 的密码是; password; password is; code; code is",
)

// classes reads the table above: classes apart by argument, phrases by ";",
// Chinese words by spaces.
func classes(lines ...string) map[string]string {
	m := map[string]string{}
	for _, line := range lines {
		class, words, _ := strings.Cut(line, ":")
		for phrase := range strings.SplitSeq(words, ";") {
			phrase = strings.TrimSpace(phrase)
			if !token.HasHan(phrase) {
				m[phrase] = class
				continue
			}
			for word := range strings.FieldsSeq(phrase) {
				m[word] = class
			}
		}
	}
	return m
}

// times are words by which an object is a time and no place: a party that is
// on Friday and in the garden has not moved.
var times = []string{"点", "号", "月", "周", "星期", "礼拜", "今天", "明天", "后天", "今晚", "早上", "上午", "中午", "下午", "晚上",
	"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow", "tonight",
	"january", "february", "march", "april", "may ", "june", "july", "august", "september", "october", "november", "december",
	"o'clock", " am", " pm", ":"}

// relationKey is what relations are compared by. one is true where a subject
// has one object at a time.
func relationKey(relation, object string) (key string, one bool) {
	f := token.Fold(strings.ReplaceAll(relation, "_", " "))
	class, ok := single[f]
	if !ok {
		return f, false
	}
	if class == "@at" {
		o := token.Fold(object)
		for _, t := range times {
			if strings.Contains(o, t) {
				return "@when", true
			}
		}
	}
	return class, true
}
