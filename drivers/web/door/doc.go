// Package door is the one part of the house that listens to the network. It
// serves the page and /api/v1 on a TCP address and on a unix socket, decides
// who may come in, and passes what the agent must answer over the link.
//
// It runs as a process of its own (`homed door`), without cgo and without any
// right: it keeps accounts, sessions, tokens and an audit trail in door.db,
// asks the supervisor for status and configuration through Control, and knows
// nothing of plugins. When the agent is down the page is still served and says
// so; when door.db is damaged it is set aside, the house is claimed anew, and
// that is said: on the page that asks for the claim, in the status, and through
// Options.Lost by voice. A door.db that is missing in a data folder that is not
// new is a loss like any other.
//
// Who is let in:
//
//   - By TCP, a session cookie (after POST /login with the password) or a
//     bearer token. Until an account exists only the claim is served: GET
//     /session, POST /claim and the files of the page. The code for the claim
//     stands in setup-code.txt and is told through Options.Announce.
//   - By the unix socket, the peer's user id (SO_PEERCRED): root, the door's
//     own user and those in Options.AllowUIDs. Any other user may only bring
//     the agent's link, which has a secret of its own.
//
// What every request by TCP passes, in this order: limits of connections and
// times, the Host list (against DNS rebinding), origin and CSRF header where
// something changes (also for claim and login), the claim, the login, the
// scope of a token. Every refusal is a problem document in the language of the
// request: ?lang, then the account's setting, then Accept-Language.
//
// Times are measured with Options.Now, so that limits and expiry can be tested.
package door
