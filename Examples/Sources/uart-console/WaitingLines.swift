import PeripheralKit
import PeripheralNordicUART
import Synchronization

/// The lines of each phone that the console has not carried out yet.
final class WaitingLines: Sendable {
    enum Place {
        /// No line of this phone is being carried out.
        case first
        case queued
        case tooMany
    }

    /// The number of lines of a phone that may wait.
    private static let limit = 16

    /// The phones with a line in progress, each with its waiting lines.
    private let state = Mutex<[Central.ID: [UARTLine]]>([:])

    func append(_ line: UARTLine) -> Place {
        state.withLock { phones in
            let count = phones[line.central.id]?.count
            guard count ?? 0 < Self.limit else { return .tooMany }
            phones[line.central.id, default: []].append(line)
            return count == nil ? .first : .queued
        }
    }

    /// Takes the next line of a phone; if there is none, ends the work for the phone and returns `nil`.
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
