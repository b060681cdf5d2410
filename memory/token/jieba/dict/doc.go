// Package dict reads, checks and trims the dictionaries of package jieba. It is
// pure Go, so that a tool that only prepares the files need not build cppjieba.
//
// A dictionary is a folder of five text files, UTF-8 with LF: WordsFile has
// "word frequency tag", ModelFile a hidden Markov model of the signs B, E, M, S
// (begin, end, middle, single), UserFile words of one's own, RareFile
// "word idf", StopFile words that are never keywords. An empty UserFile is sound,
// any other is not.
package dict
