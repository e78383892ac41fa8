public import PeripheralKit

/// Where a sensor is, and where else a central can tell that it is.
public enum SensorPlacement: Sendable {
    /// The sensor is made for one location.
    case fixed(SensorLocation)

    /// The sensor works in several locations, and a central sets in which of them it is, by the control point.
    ///
    /// - Parameters:
    ///   - among: The locations, of which at most 17 are told to centrals.
    ///   - current: Tells where the sensor is. The program keeps it.
    ///   - move: Takes the sensor to be in another of the locations. Throwing fails the central's request.
    case movable(
        among: [SensorLocation],
        current: @Sendable () async throws -> SensorLocation,
        move: @Sendable (_ location: SensorLocation) async throws -> Void
    )

    /// Whether centrals can set the location.
    public var isMovable: Bool {
        switch self {
        case .fixed: false
        case .movable: true
        }
    }

    /// Makes the Sensor Location, 0x2A5D, which stands in one service; keep it in a constant.
    ///
    /// - Returns: The characteristic, which centrals read.
    public func characteristic() -> Characteristic<SensorLocation> {
        switch self {
        case .fixed(let location):
            Characteristic(.sensorLocation, value: location)
        case .movable(_, let current, _):
            Characteristic(.sensorLocation, .read) { Read(current) }
        }
    }
}

extension SensorPlacement {
    /// Carries out a central's request to set the location, in a service with a control point of its own.
    ///
    /// - Parameter parameter: What the request takes: the location's one byte.
    /// - Throws: ``SensorControlResult`` when the request cannot be carried out; what the program throws.
    public func move(to parameter: [UInt8]) async throws {
        guard case .movable(let locations, _, let move) = self else {
            throw SensorControlResult.operationNotSupported
        }
        guard let location = try? SensorLocation(gattBytes: parameter), locations.contains(location) else {
            throw SensorControlResult.invalidParameter
        }
        try await move(location)
    }
}
