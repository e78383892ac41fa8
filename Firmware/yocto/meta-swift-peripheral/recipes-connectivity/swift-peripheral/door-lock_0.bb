SUMMARY = "Bluetooth LE door lock that paired phones open and close"
DESCRIPTION = "A Bluetooth LE peripheral in Swift. Its state survives a crash and a power cut. \
This is a demonstration: every phone in range can pair."

require swift-peripheral-firmware.inc
