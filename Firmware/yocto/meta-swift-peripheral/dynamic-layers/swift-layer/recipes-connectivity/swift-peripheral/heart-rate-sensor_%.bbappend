require ${@oe.utils.conditional('SWIFT_PERIPHERAL_FROM_SOURCE', '1', 'swift-peripheral-from-source.inc', '', d)}
