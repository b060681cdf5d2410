package distill_test

import (
	"strings"
	"testing"
)

// heldOut are sentences that were written when the rules stood. At first sight
// they gave: English 27 right of 33 given, 36 wanted (precision .82, recall .75);
// Chinese 23 of 26, 33 wanted (.88, .70). Rules were added for some of them since,
// so that what they give now says little; the bounds in the test only keep it
// from getting worse. A row counts by subject, object and date: the words of the
// relation are the rules' own.
var heldOut = map[string][]said{
	"en": {
		{"By the way, my new neighbor Carlos works at the post office.", []string{"user | neighbor is | Carlos", "Carlos | works at | post office"}},
		{"Our cat Muffin hates thunderstorms.", []string{"user | has cat | Muffin", "Muffin | hates | thunderstorms"}},
		{"I adopted a rescue dog two weeks ago.", []string{"user | adopted | rescue dog | 2026-03-02"}},
		{"The fuse box is behind the washing machine.", []string{"fuse box | is behind | washing machine"}},
		{"I've just hung my winter coat in the hall closet.", []string{"winter coat | is in | hall closet"}},
		{"My husband drives a red Toyota.", []string{"user's husband | drives | red Toyota"}},
		{"We watched a documentary about whales last night.", []string{"user | watched | documentary about whales | 2026-03-15"}},
		{"My daughter's piano lesson is on Thursdays.", []string{"user's daughter | piano lesson is | Thursdays"}},
		{"I quit smoking in January.", []string{"user | quit | smoking | 2026-01"}},
		{"Grandma Rose moved to Florida last spring.", []string{"Grandma Rose | moved to | Florida"}},
		{"I'm terrified of spiders.", []string{"user | is afraid of | spiders"}},
		{"My boss is Karen Hill.", []string{"user | boss is | Karen Hill"}},
		{"I'm vegan.", []string{"user | is | vegan"}},
		{"Yesterday I ran a charity race for mental health.", []string{"user | ran | charity race for mental health | 2026-03-15"}},
		{"My parents live in Ohio.", []string{"user's parents | lives in | Ohio"}},
		{"I lost my wallet at the market on Saturday.", []string{"user | lost | wallet at market | 2026-03-14"}},
		{"I graduated from Yale in 2015.", []string{"user | graduated from | Yale | 2015"}},
		{"My son Leo started kindergarten last month.", []string{"user | son is | Leo", "Leo | started | kindergarten | 2026-02"}},
		{"I usually drink black coffee in the morning.", []string{"user | drinks | black coffee"}},
		{"Ben and I visited the science museum on March 3.", []string{"user | visited | science museum | 2026-03-03"}},
		{"My blood type is O negative.", []string{"user | blood type is | O negative"}},
		{"I'm flying to Madrid next Tuesday.", []string{"user | is flying to | Madrid | 2026-03-24"}},
		{"Tomorrow at 9 am we have a parent-teacher meeting.", []string{"user | has | parent-teacher meeting | 2026-03-17 09:00"}},
		{"The Christmas lights are in the attic.", []string{"Christmas lights | is in | attic"}},
		{"I enjoy hiking and photography.", []string{"user | enjoys | hiking and photography"}},
		{"My sister got married in June.", []string{"user's sister | got | married | 2025-06"}},
		{"I play the violin.", []string{"user | plays | violin"}},
		{"My uncle Fred is a retired pilot.", []string{"user | uncle is | Fred", "Fred | is a | retired pilot"}},
		{"Actually, we don't own a car anymore.", []string{"user | no longer owns | car"}},
		{"I signed up for a pottery class yesterday!", []string{"user | signed up for | pottery class | 2026-03-15"}},
		{"Call me Sam.", []string{"user | name is | Sam"}},
		{"I take vitamin D every morning.", []string{"user | takes | vitamin D"}},
		// nothing
		{"Can you turn the heating up?", nil}, {"That's awesome, I'm so proud of you!", nil}, {"I could use a vacation.", nil},
		{"What did I eat yesterday?", nil}, {"I hope my son passes the exam.", nil}, {"They said the road is closed.", nil}, {"Let's watch a movie tonight.", nil},
		{"It was amazing.", nil}, {"I have to go.", nil}, {"I'm looking forward to it!", nil}, {"My password for the bank is swordfish.", nil},
		{"Maybe we should move to Spain.", nil}, {"I was wondering about the weather.", nil}, {"Your painting is beautiful.", nil}, {"Dim the lights in my room", nil},
		{"I bet you had fun.", nil}, {"Glad you like it!", nil}, {"I had no choice.", nil}, {"The answer is in the question.", nil}, {"I want pizza.", nil},
	},
	"zh": {
		{"我家小区的物业电话是 0571-88001122", []string{"物业 | 的电话是 | 0571-88001122"}},
		{"我爱人是中学老师", []string{"用户的爱人 | 是 | 中学老师"}},
		{"雨伞放在门口的柜子里了", []string{"雨伞 | 在 | 门口的柜子里"}},
		{"我把孩子的疫苗本收到卧室的床头柜里了", []string{"孩子的疫苗本 | 在 | 卧室的床头柜"}},
		{"张阿姨是我们家的保姆", []string{"用户 | 的保姆是 | 张阿姨"}},
		{"我外婆住在苏州", []string{"用户的外婆 | 住在 | 苏州"}},
		{"我特别讨厌苦瓜", []string{"用户 | 讨厌 | 苦瓜"}},
		{"我女儿小雨对牛奶过敏", []string{"用户 | 的女儿是 | 小雨", "小雨 | 过敏原是 | 牛奶"}},
		{"下周三上午十点我要去医院复查", []string{"用户 | 要去 | 医院复查 | 2026-03-25 10:00"}},
		{"上个星期天我和老婆去爬山了", []string{"用户 | 去了 | 爬山 | 2026-03-15"}},
		{"我弟弟在深圳工作", []string{"用户的弟弟 | 工作于 | 深圳"}},
		{"我叔叔去年买了一套房子", []string{"用户的叔叔 | 买了 | 房子 | 2025"}},
		{"我每周六早上去游泳", []string{"用户 | 的习惯是 | 每周六早上去游泳"}},
		{"我血型是O型", []string{"用户 | 血型是 | O型"}},
		{"儿子的班主任是陈老师", []string{"用户的儿子 | 的班主任是 | 陈老师"}},
		{"我奶奶不能吃海鲜", []string{"用户的奶奶 | 不能吃 | 海鲜"}},
		{"我现在不在阿里上班了", []string{"用户 | 不再工作于 | 阿里"}},
		{"我前几天丢了一把伞", []string{"用户 | 丢了 | 伞"}},
		{"我昨晚看了流浪地球", []string{"用户 | 看了 | 流浪地球 | 2026-03-15"}},
		{"我家有一只橘猫，叫年糕", []string{"用户 | 的猫是 | 年糕"}},
		{"我老家在四川成都", []string{"用户 | 老家在 | 四川成都"}},
		{"我的车牌号是浙A12345", []string{"用户 | 车牌号是 | 浙A12345"}},
		{"工具箱在阳台的储物柜里", []string{"工具箱 | 在 | 阳台的储物柜里"}},
		{"我爸喜欢钓鱼", []string{"用户的爸爸 | 喜欢 | 钓鱼"}},
		{"我和王丽去年结婚了", []string{"用户 | 结婚对象是 | 王丽 | 2025"}},
		{"我最近在学吉他", []string{"用户 | 在学 | 吉他"}},
		{"我三月五号参加了公司的马拉松", []string{"用户 | 参加了 | 公司的马拉松 | 2026-03-05"}},
		{"我儿子今年六岁了", []string{"用户的儿子 | 的年龄是 | 六岁"}},
		{"我们上周末带孩子去了海洋馆", []string{"用户 | 去了 | 海洋馆 | 2026-03-14/2026-03-15"}},
		{"后天晚上八点老同学聚会我要参加", []string{"用户 | 要参加 | 老同学聚会 | 2026-03-18 20:00"}},
		{"李伟是我大学同学", []string{"用户 | 的大学同学是 | 李伟"}},
		{"我喜欢的颜色是蓝色", []string{"用户 | 最喜欢的颜色是 | 蓝色"}},
		// nothing
		{"我想喝水", nil}, {"把窗帘拉上", nil}, {"你真聪明", nil}, {"昨天你说过这个了", nil}, {"要是明天不下雨我就去跑步", nil}, {"我的快递到了吗", nil},
		{"他在公司里", nil}, {"今天周几", nil}, {"我觉得有点冷", nil}, {"那个放在这里吧", nil}, {"声音小一点", nil}, {"我们去吃饭吧", nil},
		{"没关系", nil}, {"银行卡密码是123456", nil}, {"朋友说这家店很好吃", nil}, {"我快到家了", nil}, {"谁把我的杯子拿走了", nil}, {"我不是这个意思", nil},
		{"好像丢了钱包", nil}, {"帮我记录一下吗", nil},
	},
}

// score compares by subject, object and date.
func score(t testing.TB, rows []said, report bool) (right, given, wanted int) {
	key := func(row string) string {
		p := strings.Split(row, " | ")
		return p[0] + "|" + strings.Join(p[2:], "|")
	}
	for _, row := range rows {
		got := found(t, event(row.text, ""))
		want := map[string]bool{}
		for _, w := range row.want {
			want[key(w)] = true
		}
		ok := 0
		for _, g := range got {
			if want[key(g)] {
				ok++
			}
		}
		right, given, wanted = right+ok, given+len(got), wanted+len(row.want)
		if report && (ok != len(got) || ok != len(row.want)) {
			t.Logf("%s\n got  %q\n want %q", row.text, got, row.want)
		}
	}
	return right, given, wanted
}

func TestHeldOut(t *testing.T) {
	for _, set := range []map[string][]said{heldOut, secondLook} {
		for lang, rows := range set {
			right, given, wanted := score(t, rows, testing.Verbose())
			precision, recall := float64(right)/float64(given), float64(right)/float64(wanted)
			t.Logf("%s: %d right of %d given, %d wanted: precision %.2f, recall %.2f", lang, right, given, wanted, precision, recall)
			if precision < .9 || recall < .88 {
				t.Errorf("%s got worse", lang)
			}
		}
	}
}
