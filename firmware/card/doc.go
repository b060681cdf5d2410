// Package card reads what the boot partition of the card says and makes it true:
// homeagent.txt, which a person writes on any computer, and what Raspberry Pi
// Imager leaves there. Results lie on the data partition; secrets are taken
// over to it and blanked on the card.
//
// # homeagent.txt
//
// One `key = value` a line; the value is the rest of the line with blanks at its
// ends removed, nothing is quoted or escaped. `#` begins a comment only at the
// start of a line. UTF-8 with or without BOM, LF or CR LF. The keys: wifi_name,
// wifi_password, wifi_country, host_name, language, time_zone, llm_url,
// llm_key, ssh_key (may stand several times; "none" takes away all keys that
// were placed before, Imager's too, so that SSH does not start).
//
// A line that cannot be understood is named with its number, never with its
// content, which may be a mistyped password. What is wrong is left out, the
// rest is used: a broken file never keeps the box from booting.
//
// # What is taken, and when
//
// A value is taken when it differs from the one taken last time (card.json
// remembers, secrets as digests), so that what was changed later on the page
// is not undone by an old file at each boot. An empty value changes nothing. A
// network without a password is an open one, unless a password for the same
// name was taken before.
//
// Order: data first, each file by write, sync, rename; then card.json; only then
// the secrets are blanked on the card, by the same means. A cut at any moment
// leaves the secret on the card or on both sides, never on none, and the next
// boot goes on from there.
//
// # Raspberry Pi Imager
//
// custom.toml, firstrun.sh, wpa_supplicant.conf, ssh, userconf.txt and the
// cloud-init files user-data, network-config and meta-data. homeagent.txt goes
// before all of them. firstrun.sh is read as text and never run. This box has no
// login with a password, so users and their passwords are refused with a
// sentence. A file that held a secret is replaced by a comment.
//
// # Files written
//
//	system/hostname, system/timezone, system/language   one line each
//	system/wifi/wpa_supplicant.conf                     0600
//	system/ssh/authorized_keys                          0600 in a folder 0700
//	system/card.json                                    0600, what was taken
//	homeagent/config.yaml, homeagent/secrets/<kind>     the language model
//
// all below the data partition. wpa_supplicant.conf holds the name in
// hexadecimal, the key as 64 hexadecimal digits (PBKDF2, as in WPA2) and, for
// WPA3, which needs the password itself, sae_password as a P"" string in which
// everything but letters and digits is written \xHH. So no character of a
// password can mean anything to the parser. wpa_supplicant leaves SAE out by
// itself where driver or access point lack it; it must be built with SAE.
//
// The package starts no network and runs no program.
package card
