package distill_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/distill"
)

// monday is when the sentences of the tables are said.
var monday = time.Date(2026, 3, 16, 10, 0, 0, 0, time.FixedZone("home", 8*3600))

// said is one row: what was said and the facts, "subject | relation | object" or
// with "| when" behind.
type said struct {
	text string
	want []string
}

// found are the facts of one event as rows have them.
func found(t testing.TB, e distill.Event) (rows []string) {
	t.Helper()
	facts, err := distill.NewHeuristic().Extract(context.Background(), []distill.Event{e})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		row := f.Subject + " | " + f.Relation + " | " + f.Object
		if f.When != "" {
			row += " | " + f.When
		}
		rows = append(rows, row)
	}
	return rows
}

func event(text, speaker string) distill.Event {
	return distill.Event{Turn: "t1", ID: "m1", Role: distill.User, Speaker: speaker, Text: text, Time: monday}
}

func check(t *testing.T, speaker string, rows []said) {
	t.Helper()
	for _, row := range rows {
		if got := found(t, event(row.text, speaker)); !slices.Equal(got, row.want) {
			t.Errorf("%s\n got  %s\n want %s", row.text, strings.Join(got, "\n      "), strings.Join(row.want, "\n      "))
		}
	}
}

func TestEnglish(t *testing.T) {
	check(t, "", []said{
		{"My name is Anna.", []string{"user | name is | Anna"}},
		{"I'm Bob", []string{"user | name is | Bob"}},
		{"Anna is my sister.", []string{"user | sister is | Anna"}},
		{"My sister is Anna", []string{"user | sister is | Anna"}},
		{"My sister Anna lives in Paris.", []string{"user | sister is | Anna", "Anna | lives in | Paris"}},
		{"Tom is my son's teacher.", []string{"user's son | teacher is | Tom"}},
		{"My dentist is Dr. Miller.", []string{"user | dentist is | Dr. Miller"}},
		{"My dog's name is Rex.", []string{"user | has dog | Rex"}},
		{"We have a dog named Rex.", []string{"user | has dog | Rex"}},
		{"I have two cats called Tom and Kim", []string{"user | has cat | Tom", "user | has cat | Kim"}},
		{"I have a blue car", []string{"user | has | blue car"}},
		{"I'm a nurse at the city hospital.", []string{"user | is a | nurse", "user | works at | city hospital"}},
		{"My brother is a software engineer", []string{"user's brother | is a | software engineer"}},
		{"I work at Siemens as an engineer", []string{"user | works at | Siemens"}},
		{"The spare key is under the flower pot.", []string{"spare key | is under | flower pot"}},
		{"My passport is in the top drawer", []string{"passport | is in | top drawer"}},
		{"I put the keys in the blue bowl.", []string{"keys | is in | blue bowl"}},
		{"I parked the car on level 3.", []string{"car | is on | level 3"}},
		{"I love pizza and pasta.", []string{"user | loves | pizza and pasta"}},
		{"I don't like mushrooms.", []string{"user | does not like | mushrooms"}},
		{"My son can't stand broccoli", []string{"user's son | dislikes | broccoli"}},
		{"My daughter is allergic to peanuts.", []string{"user's daughter | is allergic to | peanuts"}},
		{"My favorite color is green", []string{"user | favorite color is | green"}},
		{"My phone number is 555-123-4567.", []string{"user | phone number is | 555-123-4567"}},
		{"My mom's phone number is +49 171 2345678", []string{"user's mom | phone number is | +49 171 2345678"}},
		{"My wife's birthday is May 3rd.", []string{"user's wife | birthday is | May 3rd"}},
		{"My mother's doctor is Doctor Weiss.", []string{"user's mother | doctor is | Doctor Weiss"}},
		{"I was born in Vienna", []string{"user | was born in | Vienna"}},
		{"My grandma is 82 years old", []string{"user's grandma | age is | 82"}},
		{"I moved from Sweden to Berlin in 2019.", []string{"user | moved from | Sweden | 2019", "user | moved to | Berlin | 2019"}},
		{"I live in Hamburg now.", []string{"user | lives in | Hamburg"}},
		{"I no longer live in Berlin.", []string{"user | no longer lives in | Berlin"}},
		{"I don't eat meat anymore", []string{"user | no longer eats | meat"}},
		{"I have a dentist appointment on Friday at 3 pm.", []string{"user | has | dentist appointment | 2026-03-20 15:00"}},
		{"We're going to visit grandma next weekend.", []string{"user | is going to visit | grandma | 2026-03-28/2026-03-29"}},
		{"I went to a LGBTQ support group yesterday and it was so powerful.", []string{"user | went to | LGBTQ support group | 2026-03-15"}},
		{"Last week I bought a new bike and sold the old one.", []string{"user | bought | new bike | 2026-03-09/2026-03-15", "user | sold | old one | 2026-03-09/2026-03-15"}},
		{"I've been to Japan twice", []string{"user | has been to | Japan twice"}},
		{"I'm learning the piano.", []string{"user | is learning | piano"}},
		{"I used to play tennis", []string{"user | used to play | tennis"}},
		{"Remember that the bins go out on Tuesday", []string{"user | asked to remember | the bins go out on Tuesday"}},
		{"Remember my wifi password is hunter2", []string{"user | asked to remember | my wifi password is hunter2"}},
	})
	check(t, "Caroline", []said{
		{"I went to a LGBTQ support group yesterday and it was so powerful.", []string{"Caroline | went to | LGBTQ support group | 2026-03-15"}},
		{"Hey Mel, I painted a lake sunrise last year!", []string{"Caroline | painted | lake sunrise | 2025"}},
		{"My car is in the garage", []string{"Caroline's car | is in | garage"}},
	})
}

func TestEnglishGivesNothing(t *testing.T) {
	for _, text := range []string{
		"Where is my key?", "where is my passport", "Turn on the lamp in the kitchen", "play some jazz", "Do you know where Anna lives",
		"If I had a dog I would call it Rex.", "Maybe I left the keys in the car.", "She said she lives in Rome.", "You said my dog is called Rex.",
		"I think Anna is my favorite.", "Thanks, that's great!", "How are you today?", "I'm so tired.", "I have a question.", "I have no idea", "I'm fine",
		"That was fun.", "It is raining", "My wifi password is hunter2.", "My API key is sk-abcdefghijklmnop1234", "I want to buy a car",
		"Remind me to call mom tomorrow at 5", "Sounds good", "I had a great time", "I got it", "I'm on my way", "The movie was in English",
		"I wish I lived in Paris", "Imagine I have a boat", "He lives in Berlin", "They went to the zoo yesterday", "Good morning", "I am Sorry",
		"The house is on fire", "I don't know", "I can't believe it", "I took a look", "Put the keys in the drawer.", "I'll be there",
		"I like it", "I love you", "I left", "Wow, Melanie!", "", "?!", "...",
	} {
		if got := found(t, event(text, "")); len(got) > 0 {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestChinese(t *testing.T) {
	check(t, "", []said{
		{"我叫李明。", []string{"用户 | 的名字是 | 李明"}},
		{"王芳是我的老师", []string{"用户 | 的老师是 | 王芳"}},
		{"我女儿叫小雨，她今年上小学。", []string{"用户 | 的女儿是 | 小雨"}},
		{"我儿子李明，小名明明", []string{"用户 | 的儿子是 | 李明", "李明 | 的小名是 | 明明"}},
		{"小明就是李明。", []string{"小明 | 就是 | 李明"}},
		{"我家的狗叫豆豆", []string{"用户 | 的狗是 | 豆豆"}},
		{"我养了一只猫叫咪咪", []string{"用户 | 的猫是 | 咪咪"}},
		{"我妈是护士", []string{"用户的妈妈 | 是 | 护士"}},
		{"我是一名程序员，在腾讯上班。", []string{"用户 | 是 | 程序员", "用户 | 工作于 | 腾讯"}},
		{"备用钥匙在门垫下面", []string{"备用钥匙 | 在 | 门垫下面"}},
		{"我把护照放在书房的抽屉里了。", []string{"护照 | 在 | 书房的抽屉"}},
		{"车停在地下二层", []string{"车 | 在 | 地下二层"}},
		{"体温计放在药箱里", []string{"体温计 | 在 | 药箱里"}},
		{"我最喜欢吃火锅", []string{"用户 | 喜欢吃 | 火锅"}},
		{"我女儿不喜欢香菜", []string{"用户的女儿 | 不喜欢 | 香菜"}},
		{"我儿子对花生过敏", []string{"用户的儿子 | 过敏原是 | 花生"}},
		{"我老婆不吃辣", []string{"用户的老婆 | 不吃 | 辣"}},
		{"我的手机号是13812345678", []string{"用户 | 的电话是 | 13812345678"}},
		{"我妈的电话是 010-88886666", []string{"用户的妈妈 | 的电话是 | 010-88886666"}},
		{"我的生日是5月3日", []string{"用户 | 的生日是 | 5月3日"}},
		{"我奶奶今年82岁", []string{"用户的奶奶 | 的年龄是 | 82岁"}},
		{"我去年从上海搬到了北京", []string{"用户 | 搬到 | 北京 | 2025", "用户 | 以前住在 | 上海 | 2025"}},
		{"我住在杭州西湖区", []string{"用户 | 住在 | 杭州西湖区"}},
		{"我以前住在广州", []string{"用户 | 以前住在 | 广州"}},
		{"我不再喝咖啡了", []string{"用户 | 不再喝 | 咖啡"}},
		{"我已经不喜欢吃甜食了", []string{"用户 | 不再喜欢吃 | 甜食"}},
		{"我上个月戒烟了", []string{"用户 | 戒了 | 烟 | 2026-02"}},
		{"周五下午三点我要去看牙医", []string{"用户 | 要去看 | 牙医 | 2026-03-20 15:00"}},
		{"明天我妈要来北京", []string{"用户的妈妈 | 要来 | 北京 | 2026-03-17"}},
		{"我昨天去了图书馆", []string{"用户 | 去了 | 图书馆 | 2026-03-15"}},
		{"上周六我们去了动物园", []string{"用户 | 去了 | 动物园 | 2026-03-14"}},
		{"我前天买了一台洗衣机", []string{"用户 | 买了 | 洗衣机 | 2026-03-14"}},
		{"我有两辆自行车", []string{"用户 | 有 | 两辆自行车"}},
		{"记住，周三收垃圾", []string{"用户 | 要求记住 | 周三收垃圾"}},
		{"记住我家wifi密码是hunter2", []string{"用户 | 要求记住 | 我家wifi密码是hunter2"}},
	})
	check(t, "李明", []said{
		{"我喜欢喝绿茶", []string{"李明 | 喜欢喝 | 绿茶"}},
		{"我的眼镜在床头柜上", []string{"李明的眼镜 | 在 | 床头柜上"}},
	})
}

func TestChineseGivesNothing(t *testing.T) {
	for _, text := range []string{
		"我的钥匙在哪？", "我的钥匙在哪里", "打开客厅的灯", "帮我把空调调到26度", "把灯关了", "提醒我明天下午三点开会", "放一首周杰伦的歌",
		"如果我有一只狗就叫豆豆", "钥匙可能在包里", "他说他住在上海", "你说我喜欢咖啡", "你好", "谢谢", "今天天气怎么样", "我很好", "我有点累",
		"我有一个问题", "好的", "我不知道", "我在家", "我在厨房里", "我要下班了", "他昨天去了北京", "那就是问题", "我家wifi密码是hunter2",
		"我的密钥是sk-abcdefghijklmnop1234", "我想买一辆车", "我喜欢你", "我爱你", "今天好热", "我妈在厨房里", "你叫什么名字", "我喜欢它", "明天会下雨",
		"给我讲个故事", "我本来打算明天去上海", "我听说李明搬到了北京", "问题在于时间", "", "。。。", "嗯",
	} {
		if got := found(t, event(text, "")); len(got) > 0 {
			t.Errorf("%q gives %q", text, got)
		}
	}
}
