import PeripheralCore
import Synchronization
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct TransferRestartTests {
    private static let bulk: AttributeHandle = 3

    /// A central subscribes again while a chunk for it has not been handed on: the document begins again.
    @Test(arguments: [false, true])
    func aDocumentBeginsAnewAlsoWhenAChunkHasNotBeenHandedOn(isForAll: Bool) async throws {
        let sender = UpdateSender(policies: [:], clock: ContinuousClock())
        let link = ReenteringLink()
        let central = Central(address: .numbered(1))
        let subscription = BackendSubscription(characteristic: Self.bulk, central: central)
        let count = Mutex(0)
        link.react.withLock { react in
            react = { update in
                let number = count.withLock {
                    $0 += 1; return $0
                }
                // As a backend's thread may, while this one is still handing on.
                sender.ended([(update.id, .completed)])
                if number == 2 { sender.subscribed(subscription) }
            }
        }
        sender.begin(PublishedPeripheral(link: link, window: 2))
        sender.subscribed(subscription)
        let document = Document(bytes: Array(0..<100), chunkSize: 10, endMarker: [0xFF, 0xFF])
        var failure: (any Error)?
        do {
            try await sender.transfer(
                document,
                over: Self.bulk,
                to: isForAll ? .subscribers : .central(central.id),
                isStanding: false
            ) { _ in }
        } catch { failure = error }
        #expect(failure == nil)
        let sent = link.sent.withLock(\.self).map(\.value)
        let whole: [UInt8] = Array(0..<100)
        #expect(sent.count >= 11)
        #expect(Array(sent.dropLast().suffix(10).joined()) == whole)
    }
}

private final class ReenteringLink: BackendLink {
    let sent = Mutex<[BackendUpdate]>([])
    let react = Mutex<(@Sendable (BackendUpdate) -> Void)?>(nil)

    func submit(_ update: BackendUpdate) {
        sent.withLock { $0.append(update) }
        react.withLock(\.self)?(update)
    }

    func giveUp(_ update: BackendUpdate.ID) {}
    func disconnect(_ central: Central.ID) async throws {}
    func bondedCentrals() async throws -> [Central] { [] }
    func forget(_ central: Central.ID) async throws {}
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {}
    func stop() {}
}
