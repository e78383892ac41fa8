import PeripheralDoctor
import Testing

/// The answers of the kernel's management interface.
@Suite(.timeLimit(.minutes(1)))
struct ManagementInformationTests {
    /// Command Complete of Read Controller Information for hci1.
    private static let event: [UInt8] =
        [0x01, 0x00, 0x01, 0x00, 0x1B, 0x01, 0x04, 0x00, 0x00]
        + [1, 2, 3, 4, 5, 6] + [0x09, 0x0A, 0x00] + [0x81, 0x02, 0x00, 0x80] + [0x01, 0x02, 0x00, 0x00]
        + [UInt8](repeating: 0, count: 263)

    @Test func factsAreRead() throws {
        let answer = try #require(ManagementInformation.answer(in: Self.event, from: 1))
        guard case .information(let information) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(information.version == 9)
        #expect(information.manufacturer == 10)
        #expect(information.supported == ["powered", "br/edr", "le", "bit 31"])
        #expect(information.current == ["powered", "le"])
    }

    @Test func refusalIsRead() {
        let event: [UInt8] = [0x02, 0x00, 0x01, 0x00, 0x03, 0x00, 0x04, 0x00, 0x14]
        #expect(ManagementInformation.answer(in: event, from: 1) == .refused(status: 0x14))
    }

    @Test func otherEventsAreNoAnswer() {
        #expect(ManagementInformation.answer(in: Self.event, from: 0) == nil)
        #expect(ManagementInformation.answer(in: Array(Self.event.prefix(20)), from: 1) == nil)
        var other = Self.event
        other[6] = 0x05
        #expect(ManagementInformation.answer(in: other, from: 1) == nil)
        #expect(ManagementInformation.answer(in: [], from: 1) == nil)
    }
}
