// Package providertest is the suite that every provider.Provider runs: what
// the mind relies on and no provider may do differently. A provider joins by a
// factory whose providers answer any message with some text at once; a network
// provider brings a fake server of its own behind it.
//
// The suite says nothing about what is answered, only about how: names,
// streaming, the end of a call, errors and concurrent use.
package providertest
