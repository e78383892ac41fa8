public import PeripheralKit

/// The location of a sensor, and whether centrals can set it.
public enum SensorPlacement: Sendable {
    /// The sensor is made for one location.
    case fixed(SensorLocation)

    /// The sensor works in several locations, and centrals set the location through the control point.
    ///
    /// - Parameters:
    ///   - among: The supported locations. At most 17 of them are sent to centrals.
    ///   - current: Returns the current location, which the program stores.
    ///   - move: Changes the current location to another one of the list. If it throws, the request fails.
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

    /// Creates the Sensor Location, 0x2A5D.
    ///
    /// Keep it in a constant, and declare it in one service only.
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
    /// Carries out a central's request to set the location.
    ///
    /// It is for a service with its own control point.
    ///
    /// - Parameter parameter: The parameter of the request: the location's one byte.
    /// - Throws: ``SensorControlResult`` when the request cannot be carried out; the errors of the program's
    ///   handler.
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
