import PeripheralTesting

enum PeripheralVirtualServerStandIns {
    static var central: VirtualCentral { fatalError() }

    @Sendable static func shownPasskey() async -> UInt32 { fatalError() }
    @Sendable static func shownNumber() async -> UInt32 { fatalError() }
}
