public import PeripheralKit

/// The location of a sensor: a fixed location, or a location that centrals set.
public enum SensorPlacement: Sendable {
    /// The location of the sensor is fixed.
    case fixed(SensorLocation)

    /// The sensor works in several locations.
    ///
    /// Centrals set the current location through the control point.
    ///
    /// - Parameters:
    ///   - among: The supported locations. A response contains at most the first 17 locations.
    ///   - current: Returns the current location, which the program stores.
    ///   - move: Changes the current location to another location of the list. If the closure throws an
    ///     error, the request fails.
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
    /// Store the characteristic in a constant, and declare the characteristic in one service only.
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
    /// Use this method in a service that declares its own control point.
    ///
    /// - Parameter parameter: The parameter of the request: one byte with the location.
    /// - Throws: ``SensorControlResult`` if the sensor is fixed, or if the parameter is not a supported
    ///   location. Also throws the errors of the closure `move`.
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
