import PeripheralTesting

enum PeripheralVirtualServerStandIns {
    static var central: VirtualCentral { fatalError() }

    @Sendable static func shownNumber() async -> UInt32 { fatalError() }
}
