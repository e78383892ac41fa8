import PeripheralKit
import PeripheralNordicUART
import Synchronization

/// What phones have written and the console has not carried out yet, phone by phone.
final class WaitingLines: Sendable {
    enum Place {
        /// Nothing of this phone is being carried out.
        case first
        case queued
        case tooMany
    }

    /// So many lines of a phone may wait.
    private static let limit = 16

    /// Each phone of which something is being carried out, with what waits behind that.
    private let state = Mutex<[Central.ID: [UARTLine]]>([:])

    func append(_ line: UARTLine) -> Place {
        state.withLock { phones in
            let count = phones[line.central.id]?.count
            guard count ?? 0 < Self.limit else { return .tooMany }
            phones[line.central.id, default: []].append(line)
            return count == nil ? .first : .queued
        }
    }

    /// Takes the next line of a phone; `nil` when there is none, and nothing of it is being carried out any more.
    func next(of central: Central) -> UARTLine? {
        state.withLock { phones in
            guard phones[central.id]?.isEmpty == false else {
                phones[central.id] = nil
                return nil
            }
            return phones[central.id]?.removeFirst()
        }
    }
}
