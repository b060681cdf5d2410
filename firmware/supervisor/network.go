package supervisor

import (
	"net"
	"net/netip"

	"homeagent/firmware/words"
)

// lonely is told as long as an appliance has no address but its own.
var lonely = words.Text{
	ZH: "没有连上网络：页面打不开，也连不上大模型。请插上网线，或把卡插到电脑上，在 homeagent.txt 里填写 wifi_name 和 wifi_password",
	EN: "there is no network: nobody can open the page, and no language model can be reached. Plug in a cable, or put the card into a computer and write wifi_name and wifi_password into homeagent.txt",
}

// isLonely tells whether none of the addresses can be reached from elsewhere:
// loopback and what an interface gives itself (RFC 3927, RFC 4291) do not count.
// Where the addresses cannot be had nothing is claimed.
func isLonely(addresses func() ([]net.Addr, error)) bool {
	all, err := addresses()
	if err != nil {
		return false
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err != nil || p.Addr().Unmap().IsGlobalUnicast() {
			return false
		}
	}
	return true
}
