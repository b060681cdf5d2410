// Package provider holds the contract between the mind and what thinks for
// it: a request, a streamed response, and errors in classes that decide
// whether to retry, to move on or to tell the user. Implementations live in
// drivers/llm (network) and agent/provider/offline (built in); their common
// suite is agent/provider/providertest; agent/provider/chain puts several in order.
package provider
