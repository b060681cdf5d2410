// Package entity holds the rules by which two names are judged to belong to
// one person or thing: Chinese names first, English ones as well.
//
// Three steps, all of them pure functions. Parse reads a name: surname and
// title, prefix, kin term and whose kin, bracket, number of an account. An
// Index nominates: it finds, for one candidate among many, those whose names
// share half of their pairs of signs or a rule's key, without comparing
// everyone with everyone. Compare decides.
//
// What looks alike is never enough. The verdict Same needs an account number, a
// sentence that says so ("陈总就是陈建国", "Robert, also known as Bob"), the same
// name in the same conversation, or two spellings of one name (spaces, case,
// traditional signs, the particle 的); only the first two are Certain, which is
// what a program may act on alone. Everything that might be true is Ask, for
// somebody who can read the facts. Rules that keep people apart come before
// those that bring them together: unlike types, sexes, unique numbers, roles,
// generations, owners; two registered devices.
//
// The context of a candidate is sentences about it, as they were said. Observe
// reads what they tell (sex, type, numbers, who speaks); identity sentences are
// read strictly: a whole clause, no doubt, no question, no condition, no
// negation, nothing between the two names but the words that equate them.
//
// Caveats. The lists (surnames, titles, kin, nicknames, readings, traditional
// signs) are short, of what is common in a household; a name they do not know
// is Plain, which leads to Ask and never to Same. A person without a Chinese
// surname in the list is not recognised as a full name. Kin terms are
// those of Mandarin and of English.
package entity
