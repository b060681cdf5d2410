// Package intent turns a sentence into one of the things the box can do
// without a language model, and makes from the same data the grammar by which
// spoken commands are recognised. What can be said is data: intents.yaml, of
// which a copy is built in (Default), together with the rooms and devices of
// agent/home.
//
// # The file
//
//	slots:
//	  seconds: duration                     # a slot of a built-in kind
//	  day:                                  # a slot with a list of values
//	    en: [{value: "1", words: [tomorrow]}]
//	    zh: [{value: "1", words: [明天]}]
//	intents:
//	  - name: timer_set
//	    tool: timer_set                     # left out: answered without a tool
//	    args: {seconds: "{seconds}"}
//	    say:
//	      en: ["set a timer for {seconds}", "{seconds} timer"]
//	      zh: ["(定|设)[一]个{seconds}的(闹钟|计时器)"]
//
// A template holds words, {slot}, [optional] and (one|of|these). The slots
// room and device come from the household, and lit, a room whose lamps are meant. The kinds built in are duration
// (seconds), number (0-100), clock (time of day), text (anything), thing (a
// short name of something), fact (a statement), doing (what
// somebody is busy with), remark (a short clause about something else), pause (no word, but a comma before the next). Each kind is also a slot of
// its own name. A slot that stands several times in one sentence gets its
// values joined by commas; that is how modifiers in any order are written:
// "[({size}|{roast})] [({size}|{roast})] {drink}".
//
// An argument is any YAML value in whose texts "{slot}" is replaced; a text
// that is nothing but slots takes the value of the one that was said, numbers
// as numbers, and is left out where none was. The tool `device` stands for the
// tool and arguments of the device in slot `device`, plus the intent's own.
// The sentences of `say` are understood and stand in the grammar; those of
// `also`, in the same form, are understood only where they arrive as text. A
// grammar that holds every turn of phrase hears the common ones worse.
//
// The key `asides`, sentences by language, lists what may be said beside a
// command without changing it; an intent's own `asides` only beside that one.
//
// `asks: true` marks an intent that changes nothing, so that a question mark
// does not speak against it.
//
// # When a sentence counts
//
// An act needs its whole sentence explained: every word is one of the
// template's, a slot's, or a word of politeness. There is no score and no
// nearest match, and no negation, tense or condition is among the polite
// words, so "don't turn on the lamp" or a story about a lamp match nothing.
// Templates are tried as they are first; then with articles and particles
// passed over and with polite words taken off both ends. A command for a
// device that does not exist is reported as a Problem and is no match.
//
// A Set is immutable and safe for concurrent use; the package does no I/O and
// keeps no clock: a time of day stays a Clock until somebody who knows the
// time asks for its Next.
package intent
