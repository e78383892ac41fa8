SUMMARY = "Bluetooth LE door lock that phones open once they have paired"
DESCRIPTION = "A Bluetooth LE peripheral whose state survives the end of the program, and the power's, in Swift. \
It is a demonstration: whoever is in reach can pair."

require swift-peripheral-firmware.inc
