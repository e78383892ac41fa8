# This takes effect only with DISTRO_FEATURES:append = " bluetooth-peripheral": adding a layer must change nothing.
require ${@bb.utils.contains('DISTRO_FEATURES', 'bluetooth-peripheral', 'bluez5-peripheral.inc', '', d)}
