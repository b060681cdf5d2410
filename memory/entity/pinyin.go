package entity

import (
	"slices"
	"strings"
)

// readings lists syllables and the signs of surnames and common given names
// that are read so. A sign with two readings stands twice.
const readings = `
ai:艾爱 an:安 ang:昂 ao:敖奥 ba:巴 bai:白柏百 bao:包鲍宝保 bei:贝北倍蓓 ben:本 bi:毕碧 bian:边卞 biao:彪标 bin:斌彬宾滨 bing:冰兵炳 bo:博波柏伯
cai:蔡才彩 cao:曹 cen:岑 chai:柴 chang:常昌畅长 chao:超朝 che:车 chen:陈晨辰臣 cheng:程成诚城承 chi:池迟 chong:冲崇 chu:褚楚初 chuan:川传 chun:春纯 ci:慈
cong:丛聪 cui:崔翠 da:大达 dai:戴岱 dan:单丹旦 dang:党 dao:道 de:德 deng:邓登 di:狄迪 ding:丁定鼎 dong:董东冬栋 dou:窦豆 du:杜都 duan:段端 duo:多朵
e:娥鄂 en:恩 er:尔二 fa:发法 fan:范樊凡帆 fang:方房芳 fei:费飞菲非 fen:芬 feng:冯封凤丰峰锋风枫 fu:付傅符福富夫芙 gai:盖 gan:甘淦 gang:刚钢 gao:高 ge:葛戈歌
geng:耿庚 gong:龚宫巩公功恭 gou:苟 gu:顾古谷 guan:关管官冠 guang:光广 gui:桂贵 guo:郭国果 hai:海 han:韩汉涵寒 hang:杭航 hao:郝浩皓豪昊好 he:何贺和荷鹤
heng:恒衡 hong:洪红宏鸿虹弘 hou:侯厚 hu:胡虎 hua:华花 huai:怀 huan:欢环焕 huang:黄 hui:惠慧辉会晖卉 huo:霍 ji:季纪吉姬冀计济基继佳集 jia:贾家佳嘉甲
jian:简建健剑坚 jiang:江姜蒋将 jiao:焦娇 jie:杰洁捷婕 jin:金靳晋锦进瑾 jing:井静晶京敬景婧菁 jiu:九久 ju:鞠菊居 juan:娟 jun:军君俊钧骏 kai:凯开 kang:康
ke:柯可科克 kong:孔 kuang:匡 kui:奎魁 kun:坤昆 lai:赖来 lan:兰蓝岚澜 lang:郎朗 lao:老 le:乐 lei:雷磊蕾 leng:冷 li:李黎厉力立丽莉利理礼 lian:廉连莲
liang:梁良亮 liao:廖 lin:林琳霖临 ling:凌玲灵铃 liu:刘柳六流 long:龙隆 lou:娄 lu:陆卢鲁路露璐 luan:栾 lun:伦 luo:罗骆洛 lü:吕 lv:吕绿 ma:马玛 mai:麦 man:满曼
mao:毛茅 mei:梅美玫 meng:孟蒙萌梦 mi:米 miao:苗妙 min:闵敏民 ming:明名铭鸣 mo:莫墨 mu:穆木牧慕 na:那娜 nan:南男楠 nian:年 ning:宁 niu:牛 nuo:诺 ou:欧 pan:潘盼
pang:庞 pei:裴培沛 peng:彭鹏 pin:品 ping:平萍 pu:蒲普 qi:齐祁戚奇琪七琦其启 qian:钱千倩谦 qiang:强 qiao:乔巧 qin:秦勤琴 qing:青清庆晴卿 qiong:琼 qiu:邱秋丘裘
qu:曲屈瞿 quan:全泉权 ran:冉然 rao:饶 ren:任仁人 rong:荣容蓉 rou:柔 ru:茹如汝 ruan:阮 rui:芮睿瑞锐 run:润 ruo:若 san:三 sang:桑 se:色 sha:沙 shan:山珊善单
shang:尚商 shao:邵少 she:佘 shen:沈申慎 sheng:盛生胜声 shi:石史施时师世诗士十 shou:寿守 shu:舒书淑树 shuai:帅 shuang:双爽 shui:水 shun:顺 si:司思四 song:宋松
su:苏素 sun:孙 suo:索 tai:泰 tan:谭谈 tang:唐汤堂 tao:陶涛桃 teng:滕腾 tian:田天甜 tie:铁 ting:婷亭庭 tong:童佟彤同 tu:涂屠 wan:万宛婉 wang:王汪旺望 wei:魏韦卫伟维薇威巍
wen:温文闻雯 weng:翁 wu:吴武伍邬五午 xi:席习奚希西熙喜溪 xia:夏霞 xian:贤先仙显 xiang:向项祥翔香湘 xiao:肖晓小孝笑潇萧 xie:谢解 xin:辛新欣心鑫昕 xing:邢星兴行
xiong:熊雄 xiu:秀修 xu:徐许旭绪 xuan:宣轩萱 xue:薛雪学 xun:寻勋 ya:亚雅 yan:严颜闫阎燕彦岩艳妍 yang:杨阳洋扬 yao:姚尧瑶耀 ye:叶业烨 yi:易伊一义艺怡毅仪宜
yin:尹殷银音 ying:应英颖莹瑛 yong:永勇 you:尤游友佑 yu:于余俞喻郁虞玉宇雨语瑜羽 yuan:袁元媛远源圆 yue:岳月悦越 yun:云运韵芸 ze:泽 zeng:曾增 zha:查 zhai:翟
zhan:詹展 zhang:张章 zhao:赵昭兆 zhe:哲 zhen:甄珍真振震贞 zheng:郑正政争 zhi:智志之芝知 zhong:钟仲忠中 zhou:周舟州 zhu:朱祝竺珠竹 zhuang:庄壮 zhuo:卓 zi:子梓紫姿
zong:宗 zou:邹 zu:祖 zuo:左佐`

var readingOf = func() map[rune][]string {
	m := map[rune][]string{}
	for entry := range strings.FieldsSeq(readings) {
		syllable, signs, _ := strings.Cut(entry, ":")
		for _, r := range signs {
			m[r] = append(m[r], strings.ReplaceAll(syllable, "ü", "u"))
		}
	}
	return m
}()

// romanKeys are what a name gives in letters, the letters in order so that
// neither spaces nor the order of the words matter: Li Ming, ming li and 李明
// have one in common. A name in letters has one key, a full Chinese name one
// for each way to read it, at most eight; any other has none.
func romanKeys(n Name) []string {
	switch {
	case n.Form == Full && hasHan(n.Key):
		all := []string{""}
		for _, r := range n.Surname + n.Given {
			var next []string
			for _, s := range readingOf[r] {
				for _, head := range all {
					next = append(next, head+s)
				}
			}
			if all = next; len(all) == 0 || len(all) > 8 {
				return nil
			}
		}
		for i, s := range all {
			all[i] = sorted(s)
		}
		return all
	case n.Form == Full || n.Form == First || n.Form == Plain:
		s := strings.NewReplacer(" ", "", "-", "", "'", "", "ü", "u").Replace(n.Key)
		if len(s) < 3 || len(s) > 24 || strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) {
			return nil
		}
		return []string{sorted(s)}
	}
	return nil
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}
