import PeripheralKit
import Synchronization

/// What happens in a run, and what was sent.
final class ConcurrentRun: Sendable {
    struct Document {
        var bytes: [UInt8]
        /// By their numbers; `nil` for the one that is there.
        var recipients: [UInt8]?
        /// Whether it was sent when everybody was there.
        var isLast: Bool
        /// Whether every recipient is known to have all of it.
        var hasArrived = false
    }

    struct Stream: Hashable {
        var sender: UInt8
        /// The number of a central, or ``all``.
        var recipient: UInt8
    }

    static let all: UInt8 = 0xFF
    static let marker = Array("EOM".utf8)
    let seed: UInt64
    let value = Characteristic<[UInt8]>(0x2A3D, .notify, updates: .reject(beyond: 3))
    let text = Characteristic<[UInt8]>(0x2A3E, .notify)
    let proof = Characteristic<[UInt8]>(0x2A3F, .indicate)
    let documents = Mutex<[UInt8: Document]>([:])
    /// The numbers that `update` has taken.
    let accepted = Mutex<[Stream: [UInt8]]>([:])
    /// The numbers that `notify` has sent to one.
    let notified = Mutex<[Stream: [UInt8]]>([:])

    init(seed: UInt64) {
        self.seed = seed
    }

    var peripheral: Peripheral {
        Peripheral("Trial") {
            GATTService(0x180F) {
                value; text; proof
            }
        }
    }

    func makeDocument(
        for recipients: [UInt8]?,
        count: Int,
        isLast: Bool
    ) -> (number: UInt8, bytes: [UInt8]) {
        documents.withLock { documents in
            let number = UInt8(documents.count)
            let bytes = [number] + (1..<max(count, 1)).map { UInt8(truncatingIfNeeded: $0 ^ Int(number)) }
            documents[number] = Document(bytes: bytes, recipients: recipients, isLast: isLast)
            return (number, bytes)
        }
    }
}
