package words

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"wifi_name", "wifi_password", "host_name"}
	for got, want := range map[string]string{
		"wifi_name": "wifi_name", "wifiname": "wifi_name", "wifi_nmae": "wifi_name", "hostname": "host_name",
		"wifi_passwrod": "wifi_password", "": "", "nam": "", "something": "",
	} {
		if n := Nearest(got, known); n != want {
			t.Errorf("Nearest(%q) = %q, want %q", got, n, want)
		}
	}
}
