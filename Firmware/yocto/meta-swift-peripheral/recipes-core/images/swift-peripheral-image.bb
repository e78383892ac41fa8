SUMMARY = "An image that boots into a Bluetooth LE heart rate sensor"

inherit core-image features_check

REQUIRED_DISTRO_FEATURES = "bluetooth bluetooth-peripheral"

IMAGE_INSTALL = "packagegroup-core-boot bluez5 heart-rate-sensor ${CORE_IMAGE_EXTRA_INSTALL}"
IMAGE_LINGUAS = ""
