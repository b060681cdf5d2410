package distill

import (
	"strings"

	"homeagent/agent/pattern"
)

// words makes a set of a list.
func words(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		set[w] = true
	}
	return set
}

// remembering is how a sentence begins that is to be remembered.
var remembering = pattern.New(`(?i)^\s*(?:please |and |also )?(?:(?:remember|note|memorize|don't forget|do not forget|keep in mind|for the record|note down|write down)(?: this| that|:| (?:our|my|the|i|we|he|she)\b)` +
	`|(?:请|麻烦)?(?:你)?(?:帮我|给我|替我)?(?:记住|记一下|记下来|记下|记着|记好|别忘了|不要忘了|记录一下))`)

// remember takes the request off a sentence.
func remember(text string) (rest string, asked bool) {
	at := remembering.FindStringIndex(text)
	if at == nil {
		return text, false
	}
	head := text[at[0]:at[1]]
	// "Remember my birthday is …": the word behind is part of the fact.
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		switch strings.ToLower(head[i+1:]) {
		case "our", "my", "the", "i", "we", "he", "she":
			at[1] -= len(head) - i - 1
		}
	}
	return strings.TrimLeft(text[at[1]:], " ,，:：了啊哦、"), true
}

// Words of English grammar.
var (
	enAdverbs = words(`also just really always often usually already still now currently finally actually totally definitely even only
		mostly sometimes both all absolutely so kinda recently lately super very pretty quite truly simply literally both officially
		especially mainly soon then nearly originally since once again both too generally normally`)
	enPreps = words(`to in at on for with from into about of onto over under behind beside near inside above below off through around across
		after before by against without between`)
	enPlaces = map[string]string{"in": "is in", "on": "is on", "under": "is under", "behind": "is behind", "beside": "is beside", "near": "is near",
		"inside": "is inside", "above": "is above", "below": "is below", "at": "is at", "next": "is next to", "underneath": "is under",
		"into": "is in", "onto": "is on", "between": "is between"}
	enBe     = words(`am is are was were be been`)
	enModals = words(`can could would should might may must shall ought need needs`)

	// enPast are past tenses that tell of something done. Verbs of thinking and
	// feeling are missing on purpose.
	enPast = words(`went bought saw met took gave ate drank made built found lost broke brought caught drove flew ran rode sold sent sang swam
		taught told won wrote read left came began began chose drew fell got grew held hid hurt kept laid led lent paid put rang rose
		set shot showed slept spent stole threw tore wore woke watched had bit sewed knit knitted sat joined
		hiked baked cooked did beat bred dug fed hung hit fought forgave`)
	// enDone are participles that differ from the past.
	enDone = words(`gone been seen taken given eaten drunk driven flown ridden sung swum written begun chosen drawn fallen gotten grown hidden
		shown stolen thrown torn worn woken broken bitten become done known run come spoken`)
	// enFelt end in -ed or stand above and tell nothing.
	enFelt = words(`wanted needed seemed hoped realized realised believed agreed wondered imagined supposed excited tired interested wished
		expected guessed assumed figured noticed mattered sounded looked appeared doubted worried amazed thrilled bored scared stressed
		surprised pleased honored honoured inspired blessed relaxed motivated used liked loved enjoyed hated decided preferred refused
		intended planned concerned involved based indeed need speed feed seed reed bed red glad relieved exhausted overwhelmed confused
		determined dedicated committed disappointed frustrated annoyed embarrassed ashamed touched moved-by`)
	enAttitude = map[string]string{"like": "likes", "likes": "likes", "love": "loves", "loves": "loves", "enjoy": "enjoys", "enjoys": "enjoys",
		"prefer": "prefers", "prefers": "prefers", "hate": "hates", "hates": "hates", "dislike": "dislikes", "dislikes": "dislikes",
		"adore": "loves", "adores": "loves", "loved": "loved", "enjoyed": "enjoyed"}
	enHabit = map[string]string{"speak": "speaks", "speaks": "speaks", "play": "plays", "plays": "plays", "teach": "teaches",
		"teaches": "teaches", "study": "studies", "studies": "studies", "drive": "drives", "drives": "drives", "collect": "collects",
		"collects": "collects", "practice": "practices", "practices": "practices", "own": "owns", "owns": "owns", "volunteer": "volunteers",
		"volunteers": "volunteers", "eat": "eats", "eats": "eats", "drink": "drinks", "drinks": "drinks", "coach": "coaches",
		"coaches": "coaches", "run": "runs", "runs": "runs", "attend": "attends", "attends": "attends", "wear": "wears", "wears": "wears",
		"take": "takes", "takes": "takes", "use": "uses", "uses": "uses", "write": "writes", "writes": "writes", "grow": "grows", "grows": "grows"}
	enDwell = map[string]string{"live": "lives", "lives": "lives", "lived": "lived", "work": "works", "works": "works", "worked": "worked",
		"stay": "stays", "stays": "stays"}
	// enDoing are what a person is at for some time.
	enDoing = words(`learning studying reading writing building teaching taking renovating training planning working growing knitting making
		organizing organising volunteering researching practicing saving applying creating painting preparing fostering adopting moving
		raising restoring coaching hosting starting opening launching playing`)

	enKin = words(`mom mum mother dad father brother sister son daughter wife husband partner girlfriend boyfriend fiance fiancee grandma
		grandmother grandpa grandfather granny aunt uncle cousin nephew niece grandson granddaughter twin stepmother stepfather stepson
		stepdaughter mother-in-law father-in-law brother-in-law sister-in-law
		parents grandparents kids children sisters brothers sons daughters twins in-laws cousins grandkids family`)
	enRoles = words(`teacher doctor dentist boss neighbor neighbour friend colleague coworker co-worker roommate flatmate landlord landlady
		coach nanny babysitter therapist lawyer accountant vet mentor tutor manager supervisor classmate mechanic plumber electrician
		hairdresser barber pediatrician physiotherapist trainer cleaner gardener student assistant counselor godfather godmother godson`)
	// enTraits are what a person has one of.
	enTraits = words(`type size plate hometown nickname email sign language color colour surname weight height instagram handle`)
	enPets   = words(`cat dog puppy kitten parrot hamster rabbit turtle tortoise fish horse pony bird bunny goldfish lizard snake`)
	enJobs   = words(`student chef cook nurse pilot athlete judge artist musician model poet soldier engineer architect guide vegetarian vegan
		veterinarian paramedic surgeon intern entrepreneur freelancer mechanic journalist pharmacist scientist politician`)
	enJobEnd = pattern.New(`(?i)(er|or|ist|ian|ant|eer|man|woman|nurse|chef)$`)
	enNotJob = words(`believer lover number member sister brother mother father daughter lover winner loser beginner stranger monster matter reminder
		survivor letter person supporter order river corner center computer fighter starter keeper listener owner human giant elephant
		woman man reader mentor leader partner error mirror color favor answer dinner offer super former fan restaurant important`)

	// enNobody are words that begin a clause with a capital and name nobody.
	enNobody = words(`i it this that there these those he she they you we who what where when why how everyone everybody someone somebody
		nobody people nothing something everything anything life work god christmas today tomorrow yesterday one another each both all
		some most many few thanks wow yeah yes no oh hey hi hello well so and but or also my our your his her their the a an if then
		its here now maybe please sorry ok okay congrats congratulations sounds looks seems glad happy great good nice love can do did
		got gonna just really let monday tuesday wednesday thursday friday saturday sunday as at by for from in of on to with not being having`)
	enPronouns = words(`it him her them you me us this that these those one ones something anything everything nothing lots much more stuff things
		everyone someone anyone myself yourself himself herself themselves ourselves mine yours what how why where when who which if so there here
		he she they i we some any all`)
	enAbstract = words(`question idea problem headache cold time fun doubt feeling point chance choice look go blast plan plans clue great good lot lots
		ton bit hard tough long rough big busy crazy nice wonderful amazing fantastic few couple day days week weekend faith hope thoughts
		respect trouble access no nothing so such fever news experience experiences memories moment break opportunity passion dream dreams
		goal goals sense right rest courage strength impact desire concerns interest patience confidence love peace view minute second reason
		need talent way ways stress anxiety blessings`)
	// enVague head an object that says nothing.
	enVague   = words(`lot lots bit ton tons couple thinking feeling talking looking trying wondering kind sort bunch his her their your its`)
	enFillers = words(`too again together also now lately recently either already really much though anyway yet soon here there once ever as-well
		tho haha lol ones today alone instead myself ourselves and but or so with for to of in on at the a then very just before ago`)
	enDeterminers = words(`a an the my our some his her their your this that these those new-found`)
)

// Shapes of English sentences that are never facts, or end the reading of one.
var (
	enAsks = pattern.New(`(?i)^(?:(?:hey|hi|so|and|but|well|ok|okay|oh|wow|home|computer)[ ,]+)*(?:who|what|where|when|why|how|which|whose|is|are|was|were|am|do|does|did|can|could|would|will|should|shall|may|have you|has|had)\b`)
	// enTells are orders to the house.
	enTells = pattern.New(`(?i)^(?:(?:hey|hi|so|and|ok|okay|please|now|then|home|computer)[ ,]+)*(?:turn|switch|set|play|pause|stop|start|open|close|shut|remind|tell|show|call|add|make|put|find|search|look|read|send|give|get|go|let|dim|lock|unlock|raise|lower|increase|decrease|wake|cancel|delete|remove|check|help|explain|translate|write|create|order|buy|book|schedule|say|sing|forget|change|move|bring|take|come|wait|listen|try|keep|imagine|suppose|pretend|do not|don't|list|run|describe|summarize|recommend|suggest|pick)\b`)
	// enUnsure is what was perhaps, or said by others.
	enUnsure = pattern.New(`(?i)\b(?:if|whether|unless|maybe|perhaps|possibly|probably|might|would|could|should|wish|imagine|suppose|supposedly|apparently|in case|what if|almost|i guess|i think|i suppose|i dream(?:ed|t)|i hope|pretend|hypothetically|as if|as though|not sure|rumou?r|heard that|you (?:said|told|mentioned|wrote)|(?:he|she|they|somebody|someone|[a-z]+) (?:says|said|claims|claimed|thinks|told (?:me|us))|for example|e\.g|according to|let's|about to|supposed to|was going to|were going to|in the (?:movie|book|story|film|show)|joking|kidding)\b`)
)
