public import PeripheralKit
public import PeripheralSensorLocation

/// The SC Control Point, 0x2A55, by which centrals set up a sensor of speed and cadence.
///
/// It is a part of the services Cycling Speed and Cadence and Running Speed and Cadence (both 1.0.1, section 3.4).
///
/// What the sensor does not support is told by the response: a request for which there is no handler, and one that
/// nobody knows, is `SensorControlResult.operationNotSupported`; a parameter of another length, and a location that is not
/// among the supported, `SensorControlResult.invalidParameter`. What a handler throws is
/// `SensorControlResult.operationFailed`, unless it is a `SensorControlResult` itself.
///
/// A request of a central that has not subscribed is refused by `ATTError.sensorControlNotSubscribed`, one that comes while
/// another of the same central is carried out by `ATTError.sensorControlProcedureInProgress`.
public struct SensorControl: Sendable {
    private let setCumulativeValue: (@Sendable (UInt32) async throws -> Void)?
    private let calibrate: (@Sendable () async throws -> Void)?
    private let placement: SensorPlacement?

    /// Describes what centrals can do.
    ///
    /// - Parameters:
    ///   - placement: Where the sensor is. Centrals can set and ask for locations when it is movable.
    ///   - setCumulativeValue: Sets the cumulative value that the service defines.
    ///   - calibrate: Calibrates the sensor. Centrals wait for 30 seconds.
    public init(
        placement: SensorPlacement? = nil,
        onSetCumulativeValue setCumulativeValue: (@Sendable (_ value: UInt32) async throws -> Void)? = nil,
        onCalibrate calibrate: (@Sendable () async throws -> Void)? = nil
    ) {
        self.placement = placement
        self.setCumulativeValue = setCumulativeValue
        self.calibrate = calibrate
    }

    /// Makes the characteristic, which stands in one service; keep it in a constant.
    ///
    /// - Parameter security: What writing and subscribing demand of the link.
    /// - Returns: The SC Control Point, 0x2A55; `nil` when centrals can do nothing, as the services then have none.
    public func characteristic(security: AttributeSecurity) -> Characteristic<SensorControlResponse>? {
        guard setCumulativeValue != nil || calibrate != nil || placement?.isMovable == true else {
            return nil
        }
        return Characteristic(.scControlPoint, [.write, .indicate], security: security) {
            ControlPoint(
                errorWhenNotSubscribed: .sensorControlNotSubscribed,
                errorWhenBusy: .sensorControlProcedureInProgress,
                perform: { (request: SensorControlRequest, _, _) in try await response(to: request) }
            )
        }
    }

    private func response(to request: SensorControlRequest) async throws -> SensorControlResponse {
        do {
            let locations = try await carryOut(request)
            return SensorControlResponse(.success, to: request.operation, locations: locations)
        } catch let result as SensorControlResult {
            return SensorControlResponse(result, to: request.operation)
        } catch {
            // Nobody waits for a response any more.
            try Task.checkCancellation()
            return SensorControlResponse(.operationFailed, to: request.operation)
        }
    }

    /// Returns the locations when they were asked for.
    private func carryOut(_ request: SensorControlRequest) async throws -> [SensorLocation] {
        switch request.operation {
        case .setCumulativeValue:
            guard let setCumulativeValue else { throw SensorControlResult.operationNotSupported }
            guard let value = try? UInt32(gattBytes: request.parameter) else {
                throw SensorControlResult.invalidParameter
            }
            try await setCumulativeValue(value)
        case .startSensorCalibration:
            guard let calibrate else { throw SensorControlResult.operationNotSupported }
            guard request.parameter.isEmpty else { throw SensorControlResult.invalidParameter }
            try await calibrate()
        case .updateSensorLocation:
            guard let placement else { throw SensorControlResult.operationNotSupported }
            try await placement.move(to: request.parameter)
        case .requestSupportedSensorLocations:
            guard case .movable(let locations, _, _)? = placement else {
                throw SensorControlResult.operationNotSupported
            }
            guard request.parameter.isEmpty else { throw SensorControlResult.invalidParameter }
            return locations
        default:
            throw SensorControlResult.operationNotSupported
        }
        return []
    }
}

extension ATTError {
    /// The answer to a request at the SC Control Point while another is carried out: the application error 0x80 of the
    /// Cycling Speed and Cadence and the Running Speed and Cadence Service specifications 1.0.1, section 1.6.
    public static let sensorControlProcedureInProgress = ATTError(rawValue: 0x80)

    /// The answer to a central that has not subscribed to the SC Control Point: the application error 0x81 of the Cycling
    /// Speed and Cadence and the Running Speed and Cadence Service specifications 1.0.1, section 1.6.
    public static let sensorControlNotSubscribed = ATTError(rawValue: 0x81)
}
