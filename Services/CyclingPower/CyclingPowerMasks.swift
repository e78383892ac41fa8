internal import PeripheralKit
private import Synchronization

/// What each central has turned off in its measurements, for as long as its connection lasts.
final class CyclingPowerMasks: Sendable {
    private struct Mask {
        var central: Central.ID
        var connection: Central.Connection
        var content: CyclingPowerMeasurement.Content
    }

    private let masks = Mutex<[Mask]>([])

    func mask(of central: Central) -> CyclingPowerMeasurement.Content {
        masks.withLock { masks in
            for mask in masks where mask.central == central.id && mask.connection.isOpen {
                return mask.content
            }
            return []
        }
    }

    func set(
        _ content: CyclingPowerMeasurement.Content,
        of central: Central,
        in session: PeripheralSession
    ) {
        guard let connection = session.connection(of: central) else { return }
        masks.withLock { masks in
            masks.removeAll { $0.central == central.id || !$0.connection.isOpen }
            masks.append(Mask(central: central.id, connection: connection, content: content))
        }
    }
}
