public import PeripheralKit

/// The location of a sensor: fixed, or set by centrals.
public enum SensorPlacement: Sendable {
    /// The location of the sensor is fixed.
    case fixed(SensorLocation)

    /// The sensor supports several locations.
    ///
    /// Centrals set the current location through the control point of the service.
    ///
    /// - Parameters:
    ///   - among: The supported locations. If a central requests the supported locations, the response
    ///     contains at most the first 17 locations.
    ///   - current: Returns the current location, which the program stores.
    ///   - move: Changes the current location to another supported location. If the closure throws an error,
    ///     the central's request fails.
    case movable(
        among: [SensorLocation],
        current: @Sendable () async throws -> SensorLocation,
        move: @Sendable (_ location: SensorLocation) async throws -> Void
    )

    /// Whether centrals can set the location of the sensor.
    public var isMovable: Bool {
        switch self {
        case .fixed: false
        case .movable: true
        }
    }

    /// Creates the Sensor Location characteristic, 0x2A5D.
    ///
    /// Store the characteristic in a constant, and declare the characteristic in only one service.
    ///
    /// - Returns: The characteristic, which centrals can read.
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
    /// Handles a central's request to set the location of the sensor.
    ///
    /// Use this method in a service that declares its own control point.
    ///
    /// - Parameter parameter: The parameter of the request: one byte that encodes the location.
    /// - Throws: ``SensorControlResult`` if the location is fixed, or if the parameter is not a supported
    ///   location. The method also throws any error that the closure `move` throws.
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
