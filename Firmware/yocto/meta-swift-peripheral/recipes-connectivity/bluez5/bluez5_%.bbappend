# Adding a layer must change nothing. To use this, set DISTRO_FEATURES:append = " bluetooth-peripheral".
require ${@bb.utils.contains('DISTRO_FEATURES', 'bluetooth-peripheral', 'bluez5-peripheral.inc', '', d)}
