import PeripheralAutomationIO
import PeripheralBattery
import PeripheralBloodPressure
import PeripheralBodyComposition
import PeripheralBondManagement
import PeripheralCurrentTime
import PeripheralCyclingPower
import PeripheralCyclingSpeedAndCadence
import PeripheralDeviceInformation
import PeripheralEnvironmentalSensing
import PeripheralFitnessMachine
import PeripheralGlucose
import PeripheralHID
import PeripheralHealthThermometer
import PeripheralHeartRate
import PeripheralImmediateAlert
import PeripheralIndoorBike
import PeripheralKit
import PeripheralLinkLoss
import PeripheralNordicUART
import PeripheralPhoneAlertStatus
import PeripheralPulseOximeter
import PeripheralRunningSpeedAndCadence
import PeripheralTxPower
import PeripheralUserData
import PeripheralWeightScale
import Testing

/// Which security services demand: as specifications have it, or as the program does.
@Suite(.timeLimit(.minutes(1)))
struct ServiceSecurityTests {
    /// What a service demands of each characteristic that carries its data, or controls it.
    struct Demands: Sendable, CustomTestStringConvertible {
        var service: String
        /// By itself.
        var usual: AttributeSecurity
        var characteristics: @Sendable (AttributeSecurity?) -> [AttributeSecurity]

        var testDescription: String { service }
    }

    @Test(arguments: all)
    func demandsWhatIsUsual(_ demands: Demands) {
        let found = demands.characteristics(nil)
        #expect(!found.isEmpty)
        #expect(Set(found) == [demands.usual])
    }

    @Test(arguments: all)
    func demandsWhatTheProgramDoes(_ demands: Demands) {
        let mixed = AttributeSecurity(read: .encrypted, write: .authenticated, notify: .secureConnections)
        #expect(Set(demands.characteristics(mixed)) == [mixed])
    }

    /// A service with health data is refused if no central can pair.
    @Test func healthDataNeedsPairing() {
        let peripheral = Peripheral("Cuff") { BloodPressureService() }
        #expect(peripheral.validate().map(\.severity) == [.error])
    }

    private static let all = health + demanded + open + sports

    private static let health = [
        Demands(service: "BloodPressure", usual: .encrypted) { security in
            let service =
                security.map { BloodPressureService(hasIntermediateCuffPressure: true, security: $0) }
                ?? BloodPressureService(hasIntermediateCuffPressure: true)
            return [service.measurement.security] + present(service.intermediateCuffPressure)
        },
        Demands(service: "HealthThermometer", usual: .encrypted) { security in
            let service =
                security.map {
                    HealthThermometerService(
                        hasIntermediateTemperature: true,
                        interval: .fixed(1),
                        security: $0
                    )
                } ?? HealthThermometerService(hasIntermediateTemperature: true, interval: .fixed(1))
            return [service.measurement.security] + present(service.intermediateTemperature)
                + present(service.measurementInterval)
        },
        Demands(service: "WeightScale", usual: .encrypted) { security in
            let service = security.map { WeightScaleService(security: $0) } ?? WeightScaleService()
            return [service.measurement.security]
        },
        Demands(service: "BodyComposition", usual: .encrypted) { security in
            let service = security.map { BodyCompositionService(security: $0) } ?? BodyCompositionService()
            return [service.measurement.security]
        },
        Demands(service: "Glucose", usual: .encrypted) { security in
            let service =
                security.map { GlucoseService(records: { [] }, hasContext: true, security: $0) }
                ?? GlucoseService(records: { [] }, hasContext: true)
            return [service.measurement.security, service.recordAccess.security] + present(service.context)
        },
        Demands(service: "PulseOximeter", usual: .encrypted) { security in
            let service =
                security.map { PulseOximeterService(spotCheck: [], continuous: [], security: $0) }
                ?? PulseOximeterService(spotCheck: [], continuous: [])
            return present(service.spotCheck) + present(service.continuous)
        },
    ]

    private static let demanded = [
        Demands(service: "HID", usual: .encrypted) { security in
            let keyboard = security.map { HIDKeyboard(security: $0) } ?? HIDKeyboard()
            let gamepad = security.map { HIDGamepad(security: $0) } ?? HIDGamepad()
            return [keyboard.hid, gamepad.hid].flatMap { hid in
                [hid.information.security, hid.reportMap.security, hid.controlPoint.security]
                    + hid.reports.map(\.value.security)
            } + present(keyboard.hid.protocolMode)
        },
        Demands(service: "BondManagement", usual: .encrypted) { security in
            let service = security.map { BondManagementService(security: $0) } ?? BondManagementService()
            return [service.controlPoint.security, service.feature.security]
        },
        Demands(service: "UserData", usual: .encrypted) { security in
            let users =
                security.map { security in
                    UserData(
                        security: security,
                        register: { _ in nil },
                        isConsentCode: { _, _ in false },
                        delete: { _ in },
                        increment: { _ in 0 },
                        setIncrement: { _, _ in }
                    )
                }
                ?? UserData(
                    register: { _ in nil },
                    isConsentCode: { _, _ in false },
                    delete: { _ in },
                    increment: { _ in 0 },
                    setIncrement: { _, _ in }
                )
            let age = users.characteristic(.age, read: { _ in 40 }, write: { _, _ in })
            let service = UserDataService(users) { age }
            return [
                service.databaseChangeIncrement.security, service.userIndex.security,
                service.controlPoint.security, age.security,
            ]
        },
        Demands(service: "FitnessMachine, its control", usual: .encrypted) { security in
            let settings: [FitnessMachineSetting] = [.targetPower(watts: 0...400)]
            let control =
                security.map { FitnessMachineControl(settings, security: $0) { _, _ in } }
                ?? FitnessMachineControl(settings) { _, _ in }
            let ride = IndoorBikeData(kilometersPerHour: 0)
            return present(FitnessMachineService(reporting: ride, control: control).controlPoint)
        },
        Demands(service: "PhoneAlertStatus", usual: .encrypted) { security in
            let service =
                security.map { PhoneAlertStatusService(ringerSetting: .normal, security: $0) { _ in } }
                ?? PhoneAlertStatusService(ringerSetting: .normal) { _ in }
            return [service.alertStatus.security, service.ringerSetting.security]
                + present(service.controlPoint)
        },
    ]

    private static let open = [
        Demands(service: "HeartRate", usual: .open) { security in
            let service =
                security.map { HeartRateService(security: $0) {} } ?? HeartRateService {}
            return [service.measurement.security] + present(service.controlPoint)
        },
        Demands(service: "Battery", usual: .open) { security in
            let status = BatteryLevelStatus(BatteryPowerState())
            let kept =
                security.map { BatteryService(level: BatteryLevel(1), status: status, security: $0) }
                ?? BatteryService(level: BatteryLevel(1), status: status)
            let asked =
                security.map { security in
                    BatteryService(status: { status }, security: security) { BatteryLevel(1) }
                } ?? BatteryService(status: { status }) { BatteryLevel(1) }
            return [kept, asked].flatMap { [$0.level.security] + present($0.status) }
        },
        Demands(service: "DeviceInformation", usual: .open) { security in
            let service =
                security.map { DeviceInformationService(serialNumber: "1", security: $0) }
                ?? DeviceInformationService(serialNumber: "1")
            return present(service.serialNumber)
        },
        Demands(service: "TxPower", usual: .open) { security in
            let level = TxPowerLevel(dBm: 0)
            let constant = security.map { TxPowerService(level, security: $0) } ?? TxPowerService(level)
            let asked =
                security.map { TxPowerService(security: $0) { _ in level } } ?? TxPowerService { _ in level }
            return [constant.level.security, asked.level.security]
        },
        Demands(service: "ImmediateAlert", usual: .open) { security in
            let service =
                security.map { ImmediateAlertService(security: $0) { _ in } }
                ?? ImmediateAlertService { _ in }
            return [service.alertLevel.security]
        },
        Demands(service: "LinkLoss", usual: .open) { security in
            let service =
                security.map { LinkLossService(security: $0) { _, _ in } } ?? LinkLossService { _, _ in }
            return [service.alertLevel.security]
        },
        Demands(service: "NordicUART", usual: .open) { security in
            let service = security.map { NordicUARTService(security: $0) } ?? NordicUARTService()
            return [service.rx.security, service.tx.security]
        },
        Demands(service: "CurrentTime", usual: .open) { security in
            let now: @Sendable () async throws -> CurrentTime = { throw ATTError.unlikelyError }
            let service =
                security.map { CurrentTimeService(security: $0, now: now) } ?? CurrentTimeService(now: now)
            return [service.currentTime.security]
        },
        Demands(service: "AutomationIO", usual: .open) { security in
            let input = security.map { AutomationAnalog.input(0, security: $0) } ?? .input(0)
            let output =
                security.map { AutomationDigital.output([.inactive], security: $0) { _, _ in } }
                ?? AutomationDigital.output([.inactive]) { _, _ in }
            let service =
                security.map { AutomationIOService(hasAggregate: true, security: $0) }
                ?? AutomationIOService(hasAggregate: true)
            return [input.value.security, output.value.security] + present(service.aggregate)
        },
        // Who writes a trigger has to be bonded; there is nothing else to write.
        Demands(service: "EnvironmentalSensing", usual: AttributeSecurity(write: .encrypted)) { security in
            let sensor =
                security.map { EnvironmentalSensor(.temperature, security: $0) }
                ?? EnvironmentalSensor(.temperature)
            return [sensor.value.security]
        },
        Demands(service: "EnvironmentalSensing, its changes", usual: .open) { security in
            let sensor = EnvironmentalSensor(.temperature, areTriggersSettable: true)
            let service =
                security.map { EnvironmentalSensingService([sensor], security: $0) }
                ?? EnvironmentalSensingService([sensor])
            return present(service.descriptorValueChanged)
        },
    ]

    private static let sports = [
        Demands(service: "CyclingPower", usual: .open) { security in
            let service =
                security.map {
                    CyclingPowerService(location: .fixed(.leftCrank), hasVector: true, security: $0) { _ in }
                } ?? CyclingPowerService(location: .fixed(.leftCrank), hasVector: true) { _ in }
            return [service.measurement.security] + present(service.vector) + present(service.controlPoint)
        },
        Demands(service: "CyclingSpeedAndCadence", usual: .open) { security in
            let wheel =
                security.map { CyclingSpeedAndCadenceService(security: $0) { _ in } }
                ?? CyclingSpeedAndCadenceService { _ in }
            let crank =
                security.map { CyclingSpeedAndCadenceService(crankOnlyAt: nil, security: $0) }
                ?? CyclingSpeedAndCadenceService(crankOnlyAt: nil)
            return [wheel.measurement.security, crank.measurement.security] + present(wheel.controlPoint)
        },
        Demands(service: "RunningSpeedAndCadence", usual: .open) { security in
            let service =
                security.map { RunningSpeedAndCadenceService(security: $0, onCalibrate: {}) }
                ?? RunningSpeedAndCadenceService(onCalibrate: {})
            return [service.measurement.security] + present(service.controlPoint)
        },
        Demands(service: "FitnessMachine", usual: .open) { security in
            let (ride, status) = (IndoorBikeData(kilometersPerHour: 0), TrainingStatus(.idle))
            let control = FitnessMachineControl([]) { _, _ in }
            let service =
                security.map {
                    FitnessMachineService(
                        reporting: ride,
                        trainingStatus: status,
                        security: $0,
                        control: control
                    )
                } ?? FitnessMachineService(reporting: ride, trainingStatus: status, control: control)
            return [service.data.security] + present(service.trainingStatus) + present(service.status)
        },
    ]

    private static func present<Value>(_ characteristic: Characteristic<Value>?) -> [AttributeSecurity] {
        // An optional that is missing is a mistake of the test.
        characteristic.map { [$0.security] } ?? [AttributeSecurity(read: .authenticated)]
    }
}
