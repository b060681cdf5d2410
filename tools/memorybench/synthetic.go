package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/document"
)

// household makes up what a large household says in two languages, always the
// same: a few persons, places and things that much is about, and numbers that
// tell one thing from another.
type household struct{ rnd *rand.Rand }

func newHousehold() household { return household{rand.New(rand.NewPCG(7, 7))} }

var (
	people  = strings.Fields("小明 李华 王阿姨 奶奶 Bob Alice Carol 爸爸")
	places  = strings.Split("客厅,厨房,阳台,地下室,the garage,the kitchen,书房,the attic", ",")
	things  = strings.Split("钥匙,雨伞,充电器,passport,drill,相册,suitcase,药箱,tax papers,花瓶", ",")
	verbs   = strings.Split("喜欢,买了,修好了,likes,bought,lent,送给了王阿姨,寄出了", ",")
	colours = strings.Split("红色,蓝色,green,旧的,新的,broken,木头的,silver", ",")
	remarks = strings.Split("明天再说吧,I will look for it tomorrow,记得告诉奶奶,the shop closes at six,别忘了关灯,we should ask Alice,周末去超市买,it was cheaper last year", ",")
)

func (h household) pick(s []string) string { return s[h.rnd.IntN(len(s))] }

func (h household) thing(n int) string {
	return h.pick(colours) + h.pick(things) + " " + strconv.Itoa(h.rnd.IntN(n/2+1))
}

func (h household) facts(n int) []plugin.Triple {
	out := make([]plugin.Triple, n)
	for i := range out {
		if i%3 == 0 {
			out[i] = plugin.Triple{Subject: h.thing(n), Relation: h.pick([]string{"在", "is in"}), Object: h.pick(places)}
			continue
		}
		out[i] = plugin.Triple{Subject: h.pick(people), Relation: h.pick(verbs), Object: h.thing(n)}
	}
	return out
}

// document is a talk of three messages.
func (h household) document(i int) document.Document {
	at := time.Date(2020, 1, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i) * 17 * time.Minute)
	d := document.Document{ID: fmt.Sprintf("talk-%07d", i), Title: fmt.Sprintf("Talk %d", i), Origin: document.Context, Created: at, Updated: at}
	for k := range 3 {
		d.Events = append(d.Events, document.Event{
			ID: fmt.Sprintf("%s/%d", d.ID, k), Turn: d.ID, Role: "user", Speaker: h.pick(people), Time: at.Add(time.Duration(k) * time.Minute),
			Stream: "talk", Seq: int64(i)*1000 + int64(k),
			Text: fmt.Sprintf("%s %s %s, %s. %s", h.pick(people), h.pick(verbs), h.thing(10_000), h.pick(places), h.pick(remarks)),
		})
	}
	return d
}

// questions are what is asked of it.
var questions = []string{
	"钥匙在哪", "小明喜欢什么", "where is the silver drill 17", "我把护照放在哪了", "李华买了什么红色的东西", "turn on the living room lamp",
	"今天天气怎么样", "what did Bob buy", "王阿姨送的花瓶呢", "is the passport in the attic", "what did Alice say about the green suitcase in March",
	"上周奶奶寄出了什么", "When did Carol lend the tax papers?", "谁修好了木头的相册 42",
}
