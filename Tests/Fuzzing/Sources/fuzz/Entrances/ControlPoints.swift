@testable import PeripheralBondManagement
@testable import PeripheralCyclingPower
@testable import PeripheralFitnessMachine
@testable import PeripheralHID
@testable import PeripheralHeartRate
@testable import PeripheralImmediateAlert
@testable import PeripheralKit
@testable import PeripheralPhoneAlertStatus
@testable import PeripheralRecordAccess
@testable import PeripheralSensorControl
@testable import PeripheralSensorLocation
@testable import PeripheralUserData

extension Entrance {
    /// Requests that centrals write to control points, and the responses to them.
    ///
    /// The first byte names the control point, or the table of procedures.
    static let controlPoints = Entrance(name: "control-points") { bytes in
        var feed = Feed(bytes)
        let kind = Int(feed.byte())
        guard kind != 255 else { return procedures(&feed) }
        requests[kind % requests.count].take(feed.remaining())
    }

    private static let requests = [
        ValueKind(RecordAccessRequest.self, examine),
        ValueKind(RecordAccessResponse.self),
        ValueKind(SensorControlRequest.self, examine),
        ValueKind(SensorControlResponse.self),
        ValueKind(CyclingPowerRequest.self, examine),
        ValueKind(CyclingPowerResponse.self),
        ValueKind(FitnessMachineRequest.self, examine),
        ValueKind(FitnessMachineResponse.self, examine),
        ValueKind(HIDProtocolMode.self),
        ValueKind(UserControlRequest.self, examine),
        ValueKind(UserControlResponse.self),
        ValueKind(BondManagementRequest.self, examine),
        ValueKind(HeartRateCommand.self),
        ValueKind(RingerCommand.self),
        ValueKind(AlertLevel.self),
        ValueKind(HIDCommand.self),
    ]

    // MARK: Record Access

    private struct Record {
        var number: UInt16
        var time: UserFacingTime?
    }

    private static let filters: [RecordFilter<Record>] = [
        .sequenceNumber { $0.number }, .userFacingTime { $0.time },
    ]

    /// A request that a program can make is the same when the program makes it; bounds have places.
    private static func examine(_ request: RecordAccessRequest) {
        let selection: RecordSelection?
        switch (request.operatorCode, request.operand.count) {
        case (1, 0): selection = .all
        case (5, 0): selection = .first
        case (6, 0): selection = .last
        case (2, 3): selection = bound(request.operand).map(RecordSelection.upTo)
        case (3, 3): selection = bound(request.operand).map(RecordSelection.from)
        case (2, 8): selection = bound(request.operand).map(RecordSelection.upTo)
        case (3, 8): selection = bound(request.operand).map(RecordSelection.from)
        case (4, 5), (4, 15):
            let (type, values) = (request.operand.prefix(1), request.operand.dropFirst())
            let (lower, upper) = (values.prefix(values.count / 2), values.suffix(values.count / 2))
            selection = bound(Array(type + lower)).flatMap { lower in
                bound(Array(type + upper)).map { RecordSelection.within(lower, $0) }
            }
        default: selection = nil
        }
        if let selection {
            let made: RecordAccessRequest? =
                switch request.operation {
                case .report: .report(selection)
                case .delete: .delete(selection)
                case .reportNumber: .reportNumber(selection)
                default: nil
                }
            if let made { check(made == request, "\(made) is not \(request)") }
        }
        if request.operation == .abort {
            check(request.operatorCode != 0 || !request.operand.isEmpty || request == .abort)
        }
        for filter in filters where request.operand.first == filter.type {
            let place = filter.bound(Array(request.operand.dropFirst().prefix(filter.size)))
            let record = Record(number: request.operand.count > 2 ? UInt16(request.operand[1]) : 0, time: nil)
            if let place { check(place >= 0) }
            _ = filter.place(record)
        }
    }

    private static func bound(_ operand: [UInt8]) -> RecordBound? {
        let value = Array(operand.dropFirst())
        switch (operand[0], value.count) {
        case (1, 2): return (try? UInt16(gattBytes: value)).map(RecordBound.sequenceNumber)
        case (2, 7):
            guard let time = try? DateTime(gattBytes: value) else { return nil }
            if let place = UserFacingTime(time, minutes: Int(value[6]) - 30), let start = UserFacingTime(time)
            {
                check(place.seconds - start.seconds == Int64(Int(value[6]) - 30) * 60)
            }
            return .userFacingTime(time)
        default: return nil
        }
    }

    // MARK: Other services

    private static func examine(_ request: SensorControlRequest) {
        switch request.operation {
        case .setCumulativeValue:
            guard let value = try? UInt32(gattBytes: request.parameter) else { return }
            check(.setCumulativeValue(value) == request)
        case .updateSensorLocation where request.parameter.count == 1:
            check(.updateSensorLocation(SensorLocation(rawValue: request.parameter[0])) == request)
        case .startSensorCalibration where request.parameter.isEmpty:
            check(request == .startSensorCalibration)
        case .requestSupportedSensorLocations where request.parameter.isEmpty:
            check(request == .requestSupportedSensorLocations)
        default: break
        }
    }

    private static func examine(_ request: CyclingPowerRequest) {
        switch request.operation {
        case .setCumulativeValue:
            guard let value = try? UInt32(gattBytes: request.parameter) else { return }
            check(.setWheelRevolutions(value) == request)
        case .updateSensorLocation where request.parameter.count == 1:
            check(.updateSensorLocation(SensorLocation(rawValue: request.parameter[0])) == request)
        case .maskMeasurementContent:
            guard let bits = try? UInt16(gattBytes: request.parameter) else { return }
            let wheel = CyclingPowerMeasurement.Content.wheel
            let content = CyclingPowerMeasurement.Content(rawValue: bits & ~wheel)
            check(.mask(content, wheelRevolutions: bits & wheel != 0) == request)
        default: break
        }
    }

    private static func examine(_ request: UserControlRequest) {
        switch (request.operation, request.parameter.count) {
        case (.registerNewUser, 2):
            guard let code = try? UInt16(gattBytes: request.parameter) else { return }
            check(.registerNewUser(consentCode: code) == request)
        case (.consent, 3):
            guard let code = try? UInt16(gattBytes: Array(request.parameter.dropFirst())) else { return }
            check(.consent(user: request.parameter[0], consentCode: code) == request)
        case (.deleteUserData, 0): check(request == .deleteUserData)
        default: break
        }
    }

    private static func examine(_ request: BondManagementRequest) {
        let codes = BondScope.allCases.flatMap { scope in BondTransport.allCases.map { (scope, $0) } }
        guard (1...9).contains(request.operationCode) else { return }
        let (scope, transport) = codes[Int(request.operationCode) - 1]
        let made = BondManagementRequest(
            delete: scope,
            of: transport,
            authorizationCode: request.authorizationCode
        )
        check(made == request)
        for isAuthorized in [false, true] {
            let feature = BondManagementFeature([scope], of: transport, isAuthorized: isAuthorized)
            check((try? BondManagementFeature(gattBytes: feature.gattBytes)) == feature)
        }
    }

    // MARK: Fitness machines

    private static let control = FitnessMachineControl(
        [
            .targetSpeed(kilometersPerHour: 0...20, step: 0.1),
            .targetInclination(percent: -5...15, step: 0.5),
            .targetPower(watts: 0...400, step: 5), .targetHeartRate(bpm: 60...180), .bikeSimulation,
            .spinDown(kilometersPerHour: 10...30),
        ]
    ) { _, _ in }

    /// Every setting there is.
    private static let fullControl = FitnessMachineControl(
        control.settings + [
            .targetResistanceLevel(0...25.5, step: 0.1), .targetedEnergy, .targetedSteps, .targetedStrides,
            .targetedDistance, .targetedTime, .targetedTimeInTwoHeartRateZones,
            .targetedTimeInThreeHeartRateZones, .targetedTimeInFiveHeartRateZones, .wheelCircumference,
            .targetedCadence,
        ]
    ) { _, _ in }

    private static let statuses: [FitnessMachineStatus] = [
        .reset, .stoppedByUser, .pausedByUser, .stoppedBySafetyKey, .startedOrResumedByUser,
        .spinDownRequested, .spinDownSucceeded, .spinDownFailed, .stopPedaling, .controlPermissionLost,
    ]

    private static func examine(_ request: FitnessMachineRequest) {
        check(request.number.isFinite)
        check(control.features != 0 && control.spinDown == 10...30)
        let (refusal, withoutControl) = (
            control.refusal(of: request, hasControl: true), control.refusal(of: request, hasControl: false)
        )
        if refusal == .opCodeNotSupported { check(withoutControl == .opCodeNotSupported) }
        examineFully(request)
        switch request {
        case .unknown: check(refusal == .invalidParameter || refusal == .opCodeNotSupported)
        case .requestControl: check(refusal == nil && withoutControl == nil)
        case .targetPower(let watts): check((refusal == nil) == ((0...400).contains(watts)), "\(watts)")
        case .targetedTimeInHeartRateZones(let seconds): check([2, 3, 5].contains(seconds.count))
        default: break
        }
    }

    /// Where everything can be set, a request of what has a range is refused just outside of it, and has a
    /// status.
    private static func examineFully(_ request: FitnessMachineRequest) {
        let refusal = fullControl.refusal(of: request, hasControl: true)
        check(refusal == nil || refusal == .invalidParameter || request.opCode > 0x14, "\(request)")
        let status = FitnessMachineStatus.changed(request)
        check((try? FitnessMachineStatus(gattBytes: status.gattBytes)) == status)
        check(statuses.count { $0 == status } <= 1)
        if let setting = fullControl.settings.first(where: { $0.opCode == request.opCode }),
            let range = SupportedRange(setting)
        {
            check((try? SupportedRange(gattBytes: range.gattBytes)) == range)
            if case .unknown = request { return }
            check(setting.takes(request.number) == (refusal == nil), "\(request)")
        }
    }

    private static func examine(_ response: FitnessMachineResponse) {
        guard let speeds = response.spinDown else { return }
        check(FitnessMachineResponse(response.result, to: response.opCode, spinDown: speeds) == response)
    }

    // MARK: Procedures

    /// For each central and control point, one procedure at a time is not about to end, and one abort.
    private static func procedures(_ feed: inout Feed) {
        var table = ProcedureTable()
        var numbers: [ProcedureTable.Number] = []
        func place(_ byte: UInt8) -> ProcedureTable.Place {
            guard let address = DeviceAddress(rawValue: UInt64(byte & 1)) else {
                fatalError("addresses have 48 bits")
            }
            return .init(
                controlPoint: AttributeHandle(rawValue: UInt16(byte >> 1 & 1)),
                central: .init(address: address)
            )
        }
        while !feed.isAtEnd, numbers.count < 64 {
            let (operation, choice) = (feed.byte(), feed.byte())
            guard operation % 8 != 0, !numbers.isEmpty else {
                numbers.append(table.makeNumber())
                continue
            }
            let number = numbers[Int(choice >> 2) % numbers.count]
            switch operation % 8 {
            case 1, 2:
                let admission = table.admit(number, at: place(choice), isAbort: operation & 0x10 != 0)
                if admission == .admitted { check(!table.isCancelled(number)) }
            case 3:
                let others = table.begin(number, evenIfCancelled: operation & 0x10 != 0)
                for other in others ?? [] {
                    check(other != number && table.isCancelled(other) && !table.respond(other))
                }
            case 4: if table.respond(number) { check(!table.respond(number)) }
            case 5:
                table.end(number)
                check(
                    !table.isCancelled(number)
                        && table.admit(number, at: place(choice), isAbort: true) == .refused
                )
            default:
                let left = place(choice)
                for cancelled in table.cancel(where: { $0 == left }) { check(table.isCancelled(cancelled)) }
            }
        }
    }
}
