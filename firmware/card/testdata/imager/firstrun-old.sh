#!/bin/bash
set +e
CURRENT_HOSTNAME=`cat /etc/hostname | tr -d " \t\n\r"`
echo kitchen-pi >/etc/hostname
sed -i "s/127.0.1.1.*$CURRENT_HOSTNAME/127.0.1.1\tkitchen-pi/g" /etc/hosts
cat >/etc/wpa_supplicant/wpa_supplicant.conf <<WPAEOF
country=GB
ctrl_interface=DIR=/var/run/wpa_supplicant GROUP=netdev
network={
	ssid="Anna's net"
	scan_ssid=1
	psk="plain pass \ word"
}
WPAEOF
echo "Europe/London" >/etc/timezone
exit 0
