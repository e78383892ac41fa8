include $(sort $(wildcard $(BR2_EXTERNAL_SWIFT_PERIPHERAL_PATH)/package/*/*.mk))
