// Package jieba cuts Chinese text by a dictionary: words, their parts of
// speech, and what a text is about. It is cppjieba behind cgo
// (https://github.com/yanyiwu/cppjieba, by way of gojieba), so it belongs into a
// process that may end for any reason: the engines, never the agent.
//
// # Dictionaries
//
// Open takes a folder of five files: jieba.dict.utf8 (word, frequency, tag),
// hmm_model.utf8 (for words that the dictionary lacks), user.dict.utf8,
// idf.utf8 (how rare a word is) and stop_words.utf8. tools/jiebadict makes two
// such folders, the full one and one of the most frequent words for boards
// short of memory.
//
// cppjieba aborts the process on a file it does not like. Open therefore lets
// package dict read each file through first, by the rules that cppjieba asserts;
// only what has passed is loaded.
//
// # What loading costs
//
// The full dictionary (350 thousand words) takes about 130 MB and most of a
// second of a desktop's processor, the small one (65 thousand) 25 MB and a fifth
// of a second. Close gives a part back at best: the allocator keeps the rest for
// the process, which should end instead.
//
// # Names
//
// The tags of names are token.TagPerson and its neighbours, as far as the
// dictionary knows the name. A word that it lacks is found but called "x", most
// people's full names among them.
//
// A Cutter is safe for concurrent use.
package jieba
