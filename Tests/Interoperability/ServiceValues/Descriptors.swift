import PeripheralAutomationIO
import PeripheralBattery
import PeripheralEnvironmentalSensing
import PeripheralHID
import PeripheralHealthThermometer
import PeripheralKit
import PeripheralTesting

/// The descriptors of the services.
///
/// Only a published peripheral shows their bytes.
extension ServiceValues {
    static func descriptors() async throws -> [(service: String, samples: [Sample])] {
        [
            ("AutomationIO", try await automationDescriptors()),
            ("Battery", try await batteryDescriptors()),
            ("EnvironmentalSensing", try await sensorDescriptors() + quantityFormats()),
            ("HID", try await hidDescriptors()),
            ("HealthThermometer", try await thermometerDescriptors()),
        ]
    }

    /// What a presentation format says: the number of its unit is one that the decoder has to know by this
    /// name.
    private static func format(
        _ type: String,
        _ exponent: Int,
        _ unit: (number: Int, name: String),
        _ which: (number: Int, name: String)
    ) -> Field {
        [
            "format": .text(type.uppercased()), "format_name": .text(type), "exponent": .integer(exponent),
            "unit": .integer(unit.number), "unit_name": .text(unit.name),
            "namespace": "BLUETOOTH_SIG_ASSIGNED_NUMBERS", "description": .integer(which.number),
            "description_name": .text(which.name),
        ]
    }

    private static let percentage = (number: 0x27AD, name: "percentage")
    private static let unitless = (number: 0x2700, name: "unitless")

    private static func batteryDescriptors() async throws -> [Sample] {
        let battery = BatteryService(level: BatteryLevel(50), which: .left)
        return try await Peripheral("Values") { battery }.test { central in
            [
                try await .descriptor(
                    .characteristicPresentationFormat,
                    of: battery.level,
                    readBy: central,
                    is: format("uint8", 0, percentage, (0x010D, "left"))
                )
            ]
        }
    }

    private static func thermometerDescriptors() async throws -> [Sample] {
        let thermometer = HealthThermometerService(
            interval: .settable(60, within: 1...3600) { _ in },
            security: .open
        )
        guard let interval = thermometer.measurementInterval else { return [] }
        return try await Peripheral("Values") { thermometer }.test { central in
            [
                try await .descriptor(
                    .validRange,
                    of: interval,
                    readBy: central,
                    is: ["min_value": 1, "max_value": 3600]
                )
            ]
        }
    }

    private static func hidDescriptors() async throws -> [Sample] {
        let reports: [(HIDReport, Field)] = [
            (.input(id: 1, length: 1, security: .open), ["report_id": 1, "report_type": 1]),
            (.output(id: 2, length: 1, security: .open) { _, _ in }, ["report_id": 2, "report_type": 2]),
            (
                .feature(id: 255, length: 1, security: .open, read: { [0] }, write: { _, _ in }),
                ["report_id": 255, "report_type": 3]
            ),
        ]
        let hid = HIDService(
            reportMap: [0x05, 0x01],
            reports: reports.map(\.0),
            externalReport: .batteryLevel,
            security: .open
        )
        return try await Peripheral("Values") { hid }.test { central in
            var samples = [
                try await Sample.descriptor(
                    .externalReportReference,
                    of: hid.reportMap,
                    readBy: central,
                    is: ["external_report_id": 0x2A19]
                )
            ]
            for (report, fields) in reports {
                samples.append(
                    try await .descriptor(.reportReference, of: report.value, readBy: central, is: fields)
                )
            }
            return samples
        }
    }

    private static func automationDescriptors() async throws -> [Sample] {
        let buttons = AutomationDigital.input(
            [.inactive, .inactive, .inactive],
            name: "Knöpfe",
            which: .front,
            hasTriggers: true
        )
        let tank = AutomationAnalog.input(
            0,
            name: "Tank",
            format: PresentationFormat(.uint16, exponent: -1, unit: .percentage),
            within: 5...1000,
            hasTriggers: true
        )
        let io = AutomationIOService(digitals: [buttons], analogs: [tank])
        return try await Peripheral("Values") { io }.test { central in
            let found = try await (central.locate(buttons.value), central.locate(tank.value))
            try await central.write(found.0.handle(of: .valueTriggerSetting), [4, 0x3F])
            try await central.write(found.1.handle(of: .valueTriggerSetting), [1, 0x34, 0x12])
            try await central.write(found.1.handle(of: .timeTriggerSetting), [1, 10, 0, 0])
            func digital(_ type: BluetoothUUID, is fields: Field) async throws -> Sample {
                try await .descriptor(type, of: buttons.value, readBy: central, is: fields)
            }
            func analog(_ type: BluetoothUUID, is fields: Field) async throws -> Sample {
                try await .descriptor(type, of: tank.value, readBy: central, is: fields)
            }
            return [
                try await digital(.characteristicUserDescription, is: ["description": "Knöpfe"]),
                try await digital(.numberOfDigitals, is: ["number_of_digitals": 3]),
                try await digital(.valueTriggerSetting, is: ["condition": 4, "value": 0x3F]),
                try await digital(
                    .characteristicPresentationFormat,
                    is: format("uint2", 0, unitless, (0x0100, "front"))
                ),
                try await analog(.characteristicUserDescription, is: ["description": "Tank"]),
                try await analog(.validRange, is: ["min_value": 5, "max_value": 1000]),
                try await analog(.valueTriggerSetting, is: ["condition": 1, "value": 0x1234]),
                try await analog(.timeTriggerSetting, is: ["condition": 1, "time_interval": 10]),
                try await analog(
                    .characteristicPresentationFormat,
                    is: format("uint16", -1, percentage, (0, "unknown"))
                ),
            ]
        }
    }

    private static func sensorDescriptors() async throws -> [Sample] {
        let temperature = EnvironmentalSensor(
            .temperature,
            of: EnvironmentalMeasurement(
                sampling: .maximum,
                period: 60,
                updateInterval: 10,
                application: .outside,
                uncertainty: 1.5
            ),
            triggers: [.less(than: 20), .changed],
            logic: .any,
            name: "Terrasse",
            range: -40...85
        )
        let humidity = EnvironmentalSensor(.humidity, triggers: [.every(seconds: 3600)], range: 5...95)
        let weather = EnvironmentalSensingService([temperature, humidity])
        return try await Peripheral("Values") { weather }.test { central in
            func of(_ sensor: EnvironmentalSensor, _ type: BluetoothUUID, is fields: Field) async throws
                -> Sample
            {
                try await .descriptor(type, of: sensor.value, readBy: central, is: fields)
            }
            return [
                try await of(temperature, .characteristicUserDescription, is: ["description": "Terrasse"]),
                try await of(
                    temperature,
                    .environmentalSensingMeasurement,
                    is: [
                        "sampling_function": 4, "measurement_period": 60, "update_interval": 10,
                        "application": 0x1C, "measurement_uncertainty": 3,
                    ]
                ),
                try await of(
                    temperature,
                    .environmentalSensingTriggerSetting,
                    is: ["condition": 4, "operand": 2000]
                ),
                try await of(
                    temperature,
                    .environmentalSensingConfiguration,
                    is: ["trigger_logic_value": true]
                ),
                try await of(temperature, .validRange, is: ["min_value": -4000, "max_value": 8500]),
                try await of(
                    humidity,
                    .environmentalSensingTriggerSetting,
                    is: ["condition": 1, "operand": 3600]
                ),
                try await of(humidity, .validRange, is: ["min_value": 500, "max_value": 9500]),
            ]
        }
    }

    /// The types, exponents and units of the quantities, after the GATT Specification Supplement.
    private static let quantities: [(EnvironmentalQuantity, String, Int, (number: Int, name: String))] = [
        (.temperature, "sint16", -2, celsius), (.humidity, "uint16", -2, percentage),
        (.pressure, "uint32", -1, (0x2724, "pressure (pascal)")), (.dewPoint, "sint8", 0, celsius),
        (.heatIndex, "sint8", 0, celsius), (.windChill, "sint8", 0, celsius),
        (.trueWindSpeed, "uint16", -2, velocity), (.trueWindDirection, "uint16", -2, angle),
        (.apparentWindSpeed, "uint16", -2, velocity), (.apparentWindDirection, "uint16", -2, angle),
        (.gustFactor, "uint8", -1, unitless), (.rainfall, "uint16", -3, length),
        (.illuminance, "uint24", -2, (0x2731, "illuminance (lux)")),
        (.irradiance, "uint16", -1, (0x27B6, "irradiance (watt per square metre)")),
        (.uvIndex, "uint8", 0, unitless), (.carbonDioxide, "uint16", 0, (0x27C4, "parts per million")),
        (.volatileOrganicCompounds, "uint16", 0, (0x27C5, "parts per billion")),
        (.pollen, "uint24", 0, (0x27B5, "concentration (count per cubic metre)")),
        (.elevation, "sint24", -2, length), (.magneticDeclination, "uint16", -2, angle),
    ]

    private static let celsius = (number: 0x272F, name: "Celsius temperature (degree Celsius)")
    private static let velocity = (number: 0x2712, name: "velocity (metres per second)")
    private static let angle = (number: 0x2763, name: "plane angle (degree)")
    private static let length = (number: 0x2701, name: "length (metre)")

    private static func quantityFormats() async throws -> [Sample] {
        let inside = (number: 0x010B, name: "inside")
        var sensors: [(EnvironmentalSensor, Field)] = quantities.map { quantity, type, exponent, unit in
            (EnvironmentalSensor(quantity, which: .inside), format(type, exponent, unit, inside))
        }
        let density = floatFormat((0x2715, "density (kilogram per cubic metre)"))
        sensors += densities.map { (EnvironmentalSensor($0, which: .inside), density) }
        let methane = EnvironmentalSensor(.methane, which: .inside)
        sensors.append((methane, floatFormat((0x27C5, "parts per billion"))))
        let weather = EnvironmentalSensingService(sensors.map(\.0))
        return try await Peripheral("Values") { weather }.test { [sensors] central in
            var samples: [Sample] = []
            for (sensor, fields) in sensors {
                samples.append(
                    try await .descriptor(
                        .characteristicPresentationFormat,
                        of: sensor.value,
                        readBy: central,
                        is: fields
                    )
                )
            }
            return samples
        }
    }

    private static let densities: [EnvironmentalQuantity] = [
        .particulateMatter1, .particulateMatter2_5, .particulateMatter10, .ozone, .nitrogenDioxide,
        .sulfurDioxide, .ammonia, .carbonMonoxide, .nonMethaneVolatileOrganicCompounds, .sulfurHexafluoride,
    ]

    /// The decoder has another name for the type by itself than by the list of types.
    private static func floatFormat(_ unit: (number: Int, name: String)) -> Field {
        [
            "format": "SFLOAT", "format_name": "medfloat16", "exponent": 0, "unit": .integer(unit.number),
            "unit_name": .text(unit.name), "namespace": "BLUETOOTH_SIG_ASSIGNED_NUMBERS",
            "description": 0x010B, "description_name": "inside",
        ]
    }
}
