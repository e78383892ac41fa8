@testable import PeripheralDBus

extension BusConnection {
    /// Sends a signal and returns its serial number: what it grew by is what was sent meanwhile.
    func nextSerial() throws -> UInt32? {
        let message = try OutgoingMessage.signal("/serial", "test.Serial", "Serial")
        return unsafe transport.send(message.pointer)
    }
}
