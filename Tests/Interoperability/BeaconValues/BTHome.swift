import PeripheralBTHome
import PeripheralKit

extension BeaconValues {
    /// Prints BTHome packets in the words of `bthome-ble`.
    ///
    /// Each format of each quantity has the ends of its range.
    static func printBTHome() throws {
        for (name, object, value) in measurements + counts {
            show("bthome", try .bthome([object]), #""sensors": {"\#(name)": \#(value)}"#)
        }
        for (name, sensor) in binarySensors {
            for state in [false, true] {
                show("bthome", try .bthome([.binary(sensor, state)]), #""binary": {"\#(name)": \#(state)}"#)
            }
        }
        for (objects, events) in self.events {
            show("bthome", try .bthome(objects), #""events": {\#(events)}"#)
        }
        // The objects are not in the order of their numbers.
        show(
            "bthome",
            try .bthome(
                [.text("Ab ü"), .humidity(50.55), .temperature(-7), .battery(9), .temperature(25)],
                isTriggerBased: true
            ),
            #""sleepy": true, "sensors": {"battery": 9, "temperature_1": -7, "temperature_2": 25, "#
                + #""humidity": 50.55, "text": "Ab ü"}"#
        )
        show("bthome", try .bthome([.text("ß")]), #""sensors": {"text": "ß"}"#)
        show("bthome", try .bthome([.raw([0, 0xFE])]), #""sensors": {"raw": "00fe"}"#)
        show("bthome", try .bthome([.timestamp(1_700_000_000)]), #""sensors": {"timestamp": 1700000000}"#)
        show("bthome", try .bthome([.packetID(255)]), #""sensors": {"packet_id": 255}"#)
        show("bthome", try .bthome([.channel(3)]), #""sensors": {"channel": 3}"#)
        show("bthome", try .bthome([.settingsRevision(4)]), #""sensors": {"settings_revision": 4}"#)
        show("bthome", try .bthome([.firmwareVersion(6, 1, 0)]), #""firmware": "6.1.0""#)
        show("bthome", try .bthome([.firmwareVersion(4, 2, 1, 0)]), #""firmware": "4.2.1.0""#)
        show("bthome", try .bthome([.deviceType(0x0102)]), #""type": 258"#)
    }

    private static let events: [([BTHomeObject], String)] = [
        ([.button(.press)], #""button": "press""#),
        ([.button(.doublePress)], #""button": "double_press""#),
        ([.button(.triplePress)], #""button": "triple_press""#),
        ([.button(.longPress)], #""button": "long_press""#),
        ([.button(.longDoublePress)], #""button": "long_double_press""#),
        ([.button(.longTriplePress)], #""button": "long_triple_press""#),
        ([.button(.hold)], #""button": "hold_press""#),
        ([.button(.release)], #""button": "hold_release""#),
        ([.button(.none), .button(.press)], #""button_2": "press""#),
        ([.dimmer(.left(steps: 3))], #""dimmer": "rotate_left 3""#),
        ([.dimmer(.right(steps: 255))], #""dimmer": "rotate_right 255""#),
        ([.command(.off)], #""command": "off""#),
        ([.command(.on)], #""command": "on""#),
        ([.command(.toggle)], #""command": "toggle""#),
        ([.command(.stepUp)], #""command": "step_up""#),
        ([.command(.stepDown)], #""command": "step_down""#),
    ]

    private static let counts: [(String, BTHomeObject, Double)] = [
        0, 255, 256, 65_535, 65_536, 4_294_967_295, -1, -128, -129, -32_768, -32_769, -2_147_483_648,
    ].map { ("count", .count($0), Double($0)) }

    private static let binarySensors: [(String, BTHomeBinarySensor)] = [
        ("generic", .generic),
        ("power", .power),
        ("opening", .opening),
        ("battery", .lowBattery),
        ("battery_charging", .charging),
        ("carbon_monoxide", .carbonMonoxide),
        ("cold", .cold),
        ("connectivity", .connectivity),
        ("door", .door),
        ("garage_door", .garageDoor),
        ("gas", .gas),
        ("heat", .heat),
        ("light", .light),
        ("lock", .lock),
        ("moisture", .moisture),
        ("motion", .motion),
        ("moving", .moving),
        ("occupancy", .occupancy),
        ("plug", .plug),
        ("presence", .presence),
        ("problem", .problem),
        ("running", .running),
        ("safety", .safety),
        ("smoke", .smoke),
        ("sound", .sound),
        ("tamper", .tamper),
        ("vibration", .vibration),
        ("window", .window),
    ]

    private static let measurements: [(String, BTHomeObject, Double)] = [
        ("temperature", .temperature(-327.68, objectID: 0x02), -327.68),
        ("temperature", .temperature(327.67, objectID: 0x02), 327.67),
        ("temperature", .temperature(-3276.8, objectID: 0x45), -3276.8),
        ("temperature", .temperature(3276.7, objectID: 0x45), 3276.7),
        ("temperature", .temperature(-128.0, objectID: 0x57), -128.0),
        ("temperature", .temperature(127.0, objectID: 0x57), 127.0),
        ("temperature", .temperature(-44.8, objectID: 0x58), -44.8),
        // The parser rounds to one decimal.
        ("temperature", .temperature(44.1, objectID: 0x58), 44.1),
        ("dew_point", .dewPoint(-327.68), -327.68),
        ("dew_point", .dewPoint(327.67), 327.67),
        ("humidity", .humidity(0.0, objectID: 0x03), 0.0),
        ("humidity", .humidity(655.35, objectID: 0x03), 655.35),
        ("humidity", .humidity(0.0, objectID: 0x2E), 0.0),
        ("humidity", .humidity(255.0, objectID: 0x2E), 255.0),
        ("moisture", .moisture(0.0, objectID: 0x14), 0.0),
        ("moisture", .moisture(655.35, objectID: 0x14), 655.35),
        ("moisture", .moisture(0.0, objectID: 0x2F), 0.0),
        ("moisture", .moisture(255.0, objectID: 0x2F), 255.0),
        ("pressure", .pressure(0.0), 0.0),
        ("pressure", .pressure(167772.15), 167772.15),
        ("illuminance", .illuminance(0.0), 0.0),
        ("illuminance", .illuminance(167772.15), 167772.15),
        ("light_level", .lightLevel(0.0), 0.0),
        ("light_level", .lightLevel(255.0), 255.0),
        ("uv_index", .uvIndex(0.0), 0.0),
        ("uv_index", .uvIndex(25.5), 25.5),
        ("carbon_dioxide", .carbonDioxide(0.0), 0.0),
        ("carbon_dioxide", .carbonDioxide(65535.0), 65535.0),
        ("volatile_organic_compounds", .volatileOrganicCompounds(0.0), 0.0),
        ("volatile_organic_compounds", .volatileOrganicCompounds(65535.0), 65535.0),
        ("pm25", .pm2_5(0.0), 0.0),
        ("pm25", .pm2_5(65535.0), 65535.0),
        ("pm10", .pm10(0.0), 0.0),
        ("pm10", .pm10(65535.0), 65535.0),
        ("conductivity", .conductivity(0.0), 0.0),
        ("conductivity", .conductivity(65535.0), 65535.0),
        ("precipitation", .precipitation(0.0), 0.0),
        ("precipitation", .precipitation(6553.5), 6553.5),
        ("battery", .battery(0.0), 0.0),
        ("battery", .battery(255.0), 255.0),
        ("voltage", .voltage(0.0, objectID: 0x0C), 0.0),
        ("voltage", .voltage(65.535, objectID: 0x0C), 65.535),
        ("voltage", .voltage(0.0, objectID: 0x4A), 0.0),
        ("voltage", .voltage(6553.5, objectID: 0x4A), 6553.5),
        ("current", .current(0.0, objectID: 0x43), 0.0),
        ("current", .current(65.535, objectID: 0x43), 65.535),
        ("current", .current(-32.768, objectID: 0x5D), -32.768),
        ("current", .current(32.767, objectID: 0x5D), 32.767),
        ("power", .power(0.0, objectID: 0x0B), 0.0),
        ("power", .power(167772.15, objectID: 0x0B), 167772.15),
        ("power", .power(-21474836.48, objectID: 0x5C), -21474836.48),
        ("power", .power(21474836.47, objectID: 0x5C), 21474836.47),
        ("energy", .energy(0.0, objectID: 0x0A), 0.0),
        ("energy", .energy(16777.215, objectID: 0x0A), 16777.215),
        ("energy", .energy(0.0, objectID: 0x4D), 0.0),
        ("energy", .energy(4294967.295, objectID: 0x4D), 4294967.295),
        ("gas", .gas(0.0, objectID: 0x4B), 0.0),
        ("gas", .gas(16777.215, objectID: 0x4B), 16777.215),
        ("gas", .gas(0.0, objectID: 0x4C), 0.0),
        ("gas", .gas(4294967.295, objectID: 0x4C), 4294967.295),
        ("water", .water(0.0), 0.0),
        ("water", .water(4294967.295), 4294967.295),
        ("volume", .volume(0.0, objectID: 0x4E), 0.0),
        ("volume", .volume(4294967.295, objectID: 0x4E), 4294967.295),
        ("volume", .volume(0.0, objectID: 0x47), 0.0),
        ("volume", .volume(6553.5, objectID: 0x47), 6553.5),
        ("volume", .milliliters(0.0), 0.0),
        ("volume", .milliliters(65535.0), 65535.0),
        ("volume_storage", .storedVolume(0.0), 0.0),
        ("volume_storage", .storedVolume(4294967.295), 4294967.295),
        ("volume_flow_rate", .volumeFlowRate(0.0), 0.0),
        ("volume_flow_rate", .volumeFlowRate(65.535), 65.535),
        ("mass", .kilograms(0.0), 0.0),
        ("mass", .kilograms(655.35), 655.35),
        ("mass", .pounds(0.0), 0.0),
        ("mass", .pounds(655.35), 655.35),
        ("distance", .millimeters(0.0), 0.0),
        ("distance", .millimeters(65535.0), 65535.0),
        ("distance", .meters(0.0), 0.0),
        ("distance", .meters(6553.5), 6553.5),
        ("speed", .speed(0.0, objectID: 0x44), 0.0),
        ("speed", .speed(655.35, objectID: 0x44), 655.35),
        ("speed", .speed(-2147.483648, objectID: 0x62), -2147.483648),
        ("speed", .speed(2147.483647, objectID: 0x62), 2147.483647),
        ("acceleration", .acceleration(0.0, objectID: 0x51), 0.0),
        ("acceleration", .acceleration(65.535, objectID: 0x51), 65.535),
        ("acceleration", .acceleration(-2147.483648, objectID: 0x63), -2147.483648),
        ("acceleration", .acceleration(2147.483647, objectID: 0x63), 2147.483647),
        ("gyroscope", .angularVelocity(0.0), 0.0),
        ("gyroscope", .angularVelocity(65.535), 65.535),
        ("rotation", .rotation(-3276.8), -3276.8),
        ("rotation", .rotation(3276.7), 3276.7),
        ("direction", .direction(0.0), 0.0),
        ("direction", .direction(655.35), 655.35),
        ("rotational_speed", .rotationalSpeed(0.0), 0.0),
        ("rotational_speed", .rotationalSpeed(65535.0), 65535.0),
        ("duration", .duration(0.0), 0.0),
        ("duration", .duration(16777.215), 16777.215),
    ]
}
