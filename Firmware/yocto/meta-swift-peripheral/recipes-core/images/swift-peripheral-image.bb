SUMMARY = "An image that boots into a Bluetooth LE heart rate sensor"

inherit core-image features_check

REQUIRED_DISTRO_FEATURES = "bluetooth bluetooth-peripheral"

# What the board recommends is often the driver of its controller, and what the chip loads.
IMAGE_INSTALL = "packagegroup-core-boot packagegroup-machine-base bluez5 heart-rate-sensor ${CORE_IMAGE_EXTRA_INSTALL}"
IMAGE_LINGUAS = ""
