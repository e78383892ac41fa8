SUMMARY = "A bootable image with a Bluetooth LE heart rate sensor"

inherit core-image features_check

REQUIRED_DISTRO_FEATURES = "bluetooth bluetooth-peripheral"

# The recommendations of the board often include the driver and the firmware of its controller.
IMAGE_INSTALL = "packagegroup-core-boot packagegroup-machine-base bluez5 heart-rate-sensor ${CORE_IMAGE_EXTRA_INSTALL}"
IMAGE_LINGUAS = ""
