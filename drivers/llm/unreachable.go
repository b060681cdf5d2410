package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"
)

// Unreachable is why a server was not reached, in words for the people of the
// house: what happened and what to do. It stands in provider.Error.Err.
type Unreachable struct {
	// Clock: the certificate is fine but for the time, so the box's own clock is the suspect.
	Clock bool
	zh    string
	en    string
	cause string
}

// Error is the English sentence and the cause, with secrets removed.
func (u *Unreachable) Error() string { return u.en + " (" + u.cause + ")" }

// In returns the sentence in Chinese for "zh" and in English for anything else.
func (u *Unreachable) In(lang string) string {
	if lang == "zh" {
		return u.zh
	}
	return u.en
}

// unreachable words an error of the network; nil if it knows none better.
func (c *Client) unreachable(err error) *Unreachable {
	u := &Unreachable{cause: c.redact(err.Error())}
	say := func(zh, en string, args ...any) { u.zh, u.en = fmt.Sprintf(zh, args...), fmt.Sprintf(en, args...) }
	host := c.host()
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		c.expired(u, invalid.Cert)
	case errors.As(err, &authority):
		say("%[1]s 的证书不是可信的机构发的，没有连接。请检查大模型的地址；如果是自己架的服务器，请改用 http:// 或换成正式的证书。",
			"The certificate of %[1]s comes from nobody I trust, so I did not connect. Check the language model's address; for a server of your own use http:// or a certificate of a known authority.", host)
	case errors.As(err, &name):
		say("连上的服务器拿不出 %[1]s 的证书。请检查大模型的地址，或者看看这个网络是不是要先登录。",
			"The server that answered has no certificate for %[1]s. Check the language model's address, or whether this network wants a login first.", host)
	case errors.As(err, &verify):
		say("%[1]s 的证书不能用，没有连接。请检查大模型的地址。", "The certificate of %[1]s cannot be used, so I did not connect. Check the language model's address.", host)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		say("%[1]s 不说加密协议。请检查大模型的地址，它也许应当以 http:// 开头。",
			"%[1]s does not speak an encrypted protocol. Check the language model's address; perhaps it should begin with http://.", host)
	case errors.As(err, &dns) && dns.IsNotFound:
		say("找不到 %[1]s 这个地址。请检查大模型的地址有没有写错，以及能不能上网。",
			"There is no address called %[1]s. Check the language model's address for a slip, and whether the internet is there.", host)
	case errors.As(err, &dns):
		say("查不到 %[1]s 的地址，可能没有连上网。请检查网线、Wi-Fi 和路由器。",
			"The address of %[1]s cannot be looked up; there may be no internet. Check cable, Wi-Fi and router.", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		say("%[1]s 没有程序在听。请检查大模型的地址和端口，以及那里的服务是不是开着。",
			"Nothing listens at %[1]s. Check the language model's address and port, and whether the service there runs.", host)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		say("没有通往 %[1]s 的网络。请检查网线、Wi-Fi 和路由器。", "There is no way to %[1]s. Check cable, Wi-Fi and router.", host)
	case !late(err):
		return nil
	default:
		say("%[1]s 很久没有应答，没有连上。请检查网络，或者过一会儿再试。", "%[1]s did not answer in time. Check the network, or try again in a while.", host)
	}
	return u
}

// late tells whether an error is a deadline of the network.
func late(err error) bool {
	var t net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// expired words a certificate whose time is not now. One that begins in the
// future means a clock that is behind, as boards without a battery have it; one
// that has ended may also be the server's own fault.
func (c *Client) expired(u *Unreachable, cert *x509.Certificate) {
	u.Clock = true
	now := c.now()
	says := now.Format("2006-01-02 15:04")
	if cert != nil && now.Before(cert.NotBefore) {
		from := cert.NotBefore.In(now.Location()).Format(time.DateOnly)
		u.zh = fmt.Sprintf("我的时钟多半不对（现在显示 %s，而服务器的证书从 %s 才开始有效），所以没法安全地连接大模型。请让设备连上互联网等几分钟，它会自己对时；还不行就重新启动。", says, from)
		u.en = fmt.Sprintf("My clock is probably wrong (it says %s, and the server's certificate begins on %s), so I cannot reach the language model safely. Leave the box on the internet for some minutes, it sets its clock by itself; if that does not help, restart it.", says, from)
		return
	}
	until := "?"
	if cert != nil {
		until = cert.NotAfter.In(now.Location()).Format(time.DateOnly)
	}
	u.zh = fmt.Sprintf("我的时钟多半不对（现在显示 %s，而服务器的证书到 %s 为止），所以没法安全地连接大模型。请让设备连上互联网等几分钟，它会自己对时；如果时间其实是对的，那就是服务器的证书过期了，请告诉管理它的人。", says, until)
	u.en = fmt.Sprintf("My clock is probably wrong (it says %s, and the server's certificate ended on %s), so I cannot reach the language model safely. Leave the box on the internet for some minutes, it sets its clock by itself; if the time is right after all, the server's certificate has run out: tell whoever runs it.", says, until)
}

// host is whom the client speaks to, as a person would name it.
func (c *Client) host() string {
	u, err := url.Parse(c.cfg.BaseURL)
	if err != nil || u.Host == "" {
		return c.cfg.BaseURL
	}
	return u.Host
}
