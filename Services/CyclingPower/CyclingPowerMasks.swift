internal import PeripheralKit
private import Synchronization

/// The values that each central has disabled in its measurements.
///
/// The values are bits of ``CyclingPowerMeasurement/Content``. They last as long as the connection of the
/// central.
final class CyclingPowerMasks: Sendable {
    private struct Mask {
        var central: Central.ID
        var connection: Central.Connection
        var bits: UInt16
    }

    private let masks = Mutex<[Mask]>([])

    func mask(of central: Central) -> UInt16 {
        masks.withLock { masks in
            for mask in masks where mask.central == central.id && mask.connection.isOpen {
                return mask.bits
            }
            return 0
        }
    }

    /// The mask and the maximum length of a notification for all of the centrals.
    ///
    /// `mask` contains the values that all centrals have disabled. `length` fits one notification to each
    /// of the centrals. `differ` is true when the masks of the centrals differ.
    func common(of centrals: [Central]) -> (mask: UInt16, length: Int, differ: Bool) {
        guard let first = centrals.first else { return (0, 20, false) }
        var (common, any, length) = (mask(of: first), mask(of: first), first.maximumUpdateValueLength)
        for central in centrals.dropFirst() {
            let mask = mask(of: central)
            common &= mask
            any |= mask
            length = min(length, central.maximumUpdateValueLength)
        }
        return (common, length, any != common)
    }

    func set(_ bits: UInt16, of central: Central, in session: PeripheralSession) {
        guard let connection = session.connection(of: central) else { return }
        let mask = Mask(central: central.id, connection: connection, bits: bits)
        masks.withLock { masks in
            masks = masks.filter { $0.central != central.id && $0.connection.isOpen } + [mask]
        }
    }
}
