# A layer that is only added changes nothing: DISTRO_FEATURES:append = " bluetooth-peripheral"
require ${@bb.utils.contains('DISTRO_FEATURES', 'bluetooth-peripheral', 'bluez5-peripheral.inc', '', d)}
