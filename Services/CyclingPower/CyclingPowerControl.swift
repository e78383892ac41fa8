internal import PeripheralKit
internal import PeripheralSensorLocation

/// Carries out the requests to a Cycling Power Control Point.
final class CyclingPowerControl: Sendable {
    let features: CyclingPowerFeature
    let placement: SensorPlacement
    let setWheelRevolutions: (@Sendable (UInt32) async throws -> Void)?
    let settings: [CyclingPowerSetting]
    let offsetCompensation: CyclingPowerOffsetCompensation?
    let samplingRate: UInt8?
    let factoryCalibrationDate: DateTime?
    let masks: CyclingPowerMasks

    init(
        features: CyclingPowerFeature,
        placement: SensorPlacement,
        setWheelRevolutions: (@Sendable (UInt32) async throws -> Void)?,
        settings: [CyclingPowerSetting],
        offsetCompensation: CyclingPowerOffsetCompensation?,
        samplingRate: UInt8?,
        factoryCalibrationDate: DateTime?,
        masks: CyclingPowerMasks
    ) {
        self.features = features
        self.placement = placement
        self.setWheelRevolutions = setWheelRevolutions
        self.settings = settings
        self.offsetCompensation = offsetCompensation
        self.samplingRate = samplingRate
        self.factoryCalibrationDate = factoryCalibrationDate
        self.masks = masks
    }

    /// Whether the control point supports any request.
    var isNeeded: Bool {
        setWheelRevolutions != nil || placement.isMovable || !settings.isEmpty || offsetCompensation != nil
            || samplingRate != nil || factoryCalibrationDate != nil || features.contains(.contentMasking)
    }

    func response(
        to request: CyclingPowerRequest,
        of central: Central,
        in session: PeripheralSession
    ) async throws -> CyclingPowerResponse {
        var response = CyclingPowerResponse(.success, to: request.operation)
        do {
            response.parameter = try await carryOut(request, of: central, in: session)
        } catch let result as SensorControlResult {
            response.result = result
        } catch {
            // Nothing waits for a response any more.
            try Task.checkCancellation()
            response.result = .operationFailed
            if let failure = error as? CyclingPowerOffsetCompensation.Failure,
                request.operation == .startEnhancedOffsetCompensation
            {
                response.parameter = reason(of: failure)
            }
        }
        return response
    }

    /// Carries out a request, and returns the parameter of the response.
    private func carryOut(
        _ request: CyclingPowerRequest,
        of central: Central,
        in session: PeripheralSession
    ) async throws -> [UInt8] {
        let parameter = request.parameter
        switch request.operation {
        case .setCumulativeValue:
            guard let setWheelRevolutions else { throw SensorControlResult.operationNotSupported }
            guard let count = try? UInt32(gattBytes: parameter) else {
                throw SensorControlResult.invalidParameter
            }
            try await setWheelRevolutions(count)
            return []
        case .updateSensorLocation:
            try await placement.move(to: parameter)
            return []
        case .maskMeasurementContent where features.contains(.contentMasking):
            guard let bits = try? UInt16(gattBytes: parameter), bits <= CyclingPowerMeasurement.Content.all
            else { throw SensorControlResult.invalidParameter }
            masks.set(bits, of: central, in: session)
            return []
        default:
            break
        }
        let code = request.operation.rawValue
        if let setting = settings.first(where: { $0.setCode == code }) {
            guard let steps = try? UInt16(gattBytes: parameter) else {
                throw SensorControlResult.invalidParameter
            }
            try await setting.set(Double(steps) / setting.stepsPerUnit)
            return []
        }
        return try await value(code, hasParameter: !parameter.isEmpty)
    }

    /// The parameter of the response to a request that has no parameter.
    private func value(_ code: UInt8, hasParameter: Bool) async throws -> [UInt8] {
        func checkParameter() throws(SensorControlResult) {
            guard !hasParameter else { throw .invalidParameter }
        }
        if let setting = settings.first(where: { $0.setCode + 1 == code }) {
            try checkParameter()
            return UInt16(clamping: steps(try await setting.get(), perUnit: setting.stepsPerUnit)).gattBytes
        }
        switch CyclingPowerOperation(rawValue: code) {
        case .requestSupportedSensorLocations:
            guard case .movable(let locations, _, _) = placement else { break }
            try checkParameter()
            return locations.prefix(17).map(\.rawValue)
        case .requestSamplingRate:
            guard let samplingRate else { break }
            try checkParameter()
            return [samplingRate]
        case .requestFactoryCalibrationDate:
            guard let factoryCalibrationDate else { break }
            try checkParameter()
            return factoryCalibrationDate.gattBytes
        case .startOffsetCompensation:
            guard let offsetCompensation else { break }
            try checkParameter()
            return bytes(of: try await offsetCompensation.compensate())
        case .startEnhancedOffsetCompensation:
            guard let offsetCompensation, let companyID = offsetCompensation.companyID else { break }
            try checkParameter()
            let offset = try await offsetCompensation.compensate()
            return bytes(of: offset) + companyID.gattBytes + counted(offset.data.prefix(12))
        default:
            break
        }
        throw SensorControlResult.operationNotSupported
    }

    private func bytes(of offset: CyclingPowerOffsetCompensation.Offset) -> [UInt8] {
        let stepsPerUnit: Double = features.contains(.torqueBased) ? 32 : 1
        return Int16(clamping: steps(offset.value, perUnit: stepsPerUnit)).gattBytes
    }

    private func reason(of failure: CyclingPowerOffsetCompensation.Failure) -> [UInt8] {
        switch failure {
        case .incorrectPosition: [0x01]
        case .ofManufacturer(let data):
            [0xFF] + (offsetCompensation?.companyID ?? 0).gattBytes + counted(data.prefix(13))
        }
    }

    private func counted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8(clamping: bytes.count)] + bytes
    }
}
