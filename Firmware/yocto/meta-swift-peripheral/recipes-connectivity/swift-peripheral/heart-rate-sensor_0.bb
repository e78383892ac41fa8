SUMMARY = "Bluetooth LE heart rate sensor with a simulated heart"
DESCRIPTION = "A Bluetooth LE peripheral in Swift, with Heart Rate, Battery and Device Information."

require swift-peripheral-firmware.inc

SRC_URI += "file://heart-rate-sensor.conf"

do_install:append() {
    install -m 0644 ${SWIFT_PERIPHERAL_UNPACKDIR}/heart-rate-sensor.conf ${D}${sysconfdir}/heart-rate-sensor.conf
}
CONFFILES:${PN} += "${sysconfdir}/heart-rate-sensor.conf"
