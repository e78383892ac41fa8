public import PeripheralKit
public import PeripheralSensorLocation

/// The SC Control Point, 0x2A55, through which centrals configure a speed and cadence sensor.
///
/// The Cycling Speed and Cadence service and the Running Speed and Cadence service contain the control point.
/// Both service specifications, version 1.0.1, define the control point in section 3.4.
///
/// The response to a failed request reports one of these results:
/// - `SensorControlResult.operationNotSupported`: There is no handler for the request, or the request is
///   unknown.
/// - `SensorControlResult.invalidParameter`: The parameter has the wrong length, or the location is not
///   supported.
/// - `SensorControlResult.operationFailed`: A handler throws an error. If a handler throws a
///   `SensorControlResult`, the response reports this `SensorControlResult`.
///
/// The control point can refuse a request with these errors:
/// - `ATTError.sensorControlNotSubscribed`: The central has not subscribed to the control point.
/// - `ATTError.sensorControlProcedureInProgress`: Another request of the same central is in progress.
public struct SensorControl: Sendable {
    private let setCumulativeValue: (@Sendable (UInt32) async throws -> Void)?
    private let calibrate: (@Sendable () async throws -> Void)?
    private let placement: SensorPlacement?

    /// Creates a control point for the requests that the sensor supports.
    ///
    /// - Parameters:
    ///   - placement: The location of the sensor. If the sensor is movable, centrals can set the location and
    ///     request the supported locations.
    ///   - setCumulativeValue: A closure that sets the cumulative value: the number of wheel revolutions, or
    ///     the total distance.
    ///   - calibrate: Calibrates the sensor. Centrals wait at most 30 seconds for the end of the calibration.
    public init(
        placement: SensorPlacement? = nil,
        onSetCumulativeValue setCumulativeValue: (@Sendable (_ value: UInt32) async throws -> Void)? = nil,
        onCalibrate calibrate: (@Sendable () async throws -> Void)? = nil
    ) {
        self.placement = placement
        self.setCumulativeValue = setCumulativeValue
        self.calibrate = calibrate
    }

    /// Creates the characteristic.
    ///
    /// Store the characteristic in a constant, and declare the characteristic in only one service.
    ///
    /// - Parameter security: The security required to write to the control point, and to subscribe to the
    ///   control point.
    /// - Returns: The SC Control Point characteristic, 0x2A55, or `nil` if the sensor supports no requests.
    ///   If the sensor supports no requests, its service contains no control point.
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
            // After a cancellation, no central waits for a response.
            try Task.checkCancellation()
            return SensorControlResponse(.operationFailed, to: request.operation)
        }
    }

    /// Carries out a request, and returns the supported locations if they are requested.
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
    /// The error for a request of a central whose earlier request is in progress.
    ///
    /// The application error has the code 0x80 (Cycling Speed and Cadence Service 1.0.1 and Running Speed and
    /// Cadence Service 1.0.1, section 1.6).
    public static let sensorControlProcedureInProgress = ATTError(rawValue: 0x80)

    /// The error for a central that has not subscribed to the SC Control Point.
    ///
    /// The application error has the code 0x81 (Cycling Speed and Cadence Service 1.0.1 and Running Speed and
    /// Cadence Service 1.0.1, section 1.6).
    public static let sensorControlNotSubscribed = ATTError(rawValue: 0x81)
}
