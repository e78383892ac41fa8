################################################################################
#
# swift-peripheral
#
################################################################################

# The files that all kinds of installation share: units, init script, policies, settings.
SWIFT_PERIPHERAL_VERSION = 0
SWIFT_PERIPHERAL_SITE = $(BR2_EXTERNAL_SWIFT_PERIPHERAL_PATH)/../init
SWIFT_PERIPHERAL_SITE_METHOD = local
SWIFT_PERIPHERAL_LICENSE = Apache-2.0
SWIFT_PERIPHERAL_DEPENDENCIES = bluez5_utils dbus libglib2

SWIFT_PERIPHERAL_PROGRAMS_DIR = $(call qstrip,$(BR2_PACKAGE_SWIFT_PERIPHERAL_PROGRAMS))

SWIFT_PERIPHERAL_NAMES = \
	$(if $(BR2_PACKAGE_SWIFT_PERIPHERAL_HEART_RATE_SENSOR),heart-rate-sensor) \
	$(if $(BR2_PACKAGE_SWIFT_PERIPHERAL_DOOR_LOCK),door-lock) \
	$(call qstrip,$(BR2_PACKAGE_SWIFT_PERIPHERAL_OTHERS))

# $(1): the name of the program and of its user; $(2): the template; $(3): the destination
define SWIFT_PERIPHERAL_FILL
	mkdir -p $(dir $(TARGET_DIR)$(3))
	sed -e 's|@NAME@|$(1)|g' -e 's|@USER@|$(1)|g' $(@D)/$(2) >$(TARGET_DIR)$(3)

endef

define SWIFT_PERIPHERAL_INSTALL_PROGRAM
	$(INSTALL) -D -m 0755 $(SWIFT_PERIPHERAL_PROGRAMS_DIR)/$(1) $(TARGET_DIR)/usr/bin/$(1)
	$(call SWIFT_PERIPHERAL_FILL,$(1),dbus.conf.in,/usr/share/dbus-1/system.d/$(1).conf)

endef

ifeq ($(BR2_PACKAGE_SWIFT_PERIPHERAL_BLUETOOTHD_SETTINGS),y)
define SWIFT_PERIPHERAL_INSTALL_SETTINGS
	$(INSTALL) -D -m 0644 $(@D)/main.conf $(TARGET_DIR)/etc/bluetooth/main.conf
endef
endif

define SWIFT_PERIPHERAL_INSTALL_TARGET_CMDS
	$(foreach name,$(SWIFT_PERIPHERAL_NAMES),$(call SWIFT_PERIPHERAL_INSTALL_PROGRAM,$(name)))
	$(SWIFT_PERIPHERAL_INSTALL_SETTINGS)
endef

define SWIFT_PERIPHERAL_INSTALL_INIT_SYSTEMD
	$(foreach name,$(SWIFT_PERIPHERAL_NAMES), \
		$(call SWIFT_PERIPHERAL_FILL,$(name),systemd.service.in,/usr/lib/systemd/system/$(name).service))
endef

define SWIFT_PERIPHERAL_INSTALL_INIT_SYSV
	$(foreach name,$(SWIFT_PERIPHERAL_NAMES), \
		$(call SWIFT_PERIPHERAL_FILL,$(name),sysv.in,/etc/init.d/S60$(name))
		chmod 0755 $(TARGET_DIR)/etc/init.d/S60$(name)$(sep))
endef

# The group of the unit; the user of the unit is a member.
define SWIFT_PERIPHERAL_USERS
	$(foreach name,$(SWIFT_PERIPHERAL_NAMES),$(name) -1 $(name) -1 * - - bluetooth Bluetooth LE peripheral$(sep))
endef

$(eval $(generic-package))
