import Logging
import PeripheralBlueZ
import PeripheralHeartRate
import PeripheralKit
import PeripheralStorage
import Testing

enum PeripheralKitStandIns {
    struct Position: GATTValue {
        init(decoding reader: inout ByteReader) throws(GATTDecodingError) {}
        func encode(into writer: inout ByteWriter) {}
    }

    typealias Acceleration = Position

    enum LampResponse: UInt8, GATTValue {
        case done

        init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
            self = .done
        }

        func encode(into writer: inout ByteWriter) {}
    }

    enum LampRequest: GATTValue {
        case blink(Int)

        init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
            self = .blink(Int(try reader.read(UInt8.self)))
        }

        func encode(into writer: inout ByteWriter) {}
    }

    protocol Lamp: Sendable {
        var isOn: Bool { get async }
        var brightness: UInt8 { get async }
        var isDimmable: Bool { get }
        var changes: AsyncStream<Bool> { get }
        func set(_ isOn: Bool) async throws
        func dim(to brightness: UInt8) async throws
        func blink(_ count: Int) async throws
        func execute(_ command: [UInt8]) async throws
    }

    struct Beat {
        var bpm: UInt16
    }

    protocol Sensor: Sendable {
        var beats: AsyncStream<Beat> { get }
    }

    protocol Bolt: Sendable {
        func move(toLocked isLocked: Bool) async throws
    }

    protocol Owners: Sendable {
        func contains(_ central: Central) async -> Bool
    }

    protocol Screen: Sendable {
        func show(_ passkey: UInt32) async
        func asks(whetherSame number: UInt32) async -> Bool
        func asks(_ question: String) async -> Bool
    }

    protocol Button: Sendable {
        var isHeld: Bool { get async }
        var presses: AsyncStream<Void> { get }
        func pressed() async
    }

    protocol ResetButton: Sendable {
        var presses: AsyncStream<Void> { get }
    }

    protocol Image: Sendable {
        func append(_ bytes: [UInt8]) async throws
    }

    static var audit: Characteristic<String> { fatalError() }
    static var deviceName: Characteristic<String> { fatalError() }
    static var battery: GATTService { fatalError() }
    static var bolt: any Bolt { fatalError() }
    static var brightness: Characteristic<UInt8> { fatalError() }
    static var button: any Button { fatalError() }
    static var central: Central { fatalError() }
    static var centrals: [Central] { fatalError() }
    static var door: Peripheral { fatalError() }
    static var heartRate: HeartRateService { fatalError() }
    static var image: any Image { fatalError() }
    static var channel: L2CAPChannel { fatalError() }
    static var uploads: L2CAPListener { fatalError() }
    static var isLocked: Characteristic<Bool> { fatalError() }
    static var lamp: any Lamp { fatalError() }
    static var lampPeripheral: Peripheral { fatalError() }
    static var level: UInt8 { fatalError() }
    static var owners: any Owners { fatalError() }
    static var peripheral: Peripheral { fatalError() }
    static var power: Characteristic<Bool> { fatalError() }
    static var reading: Int16 { fatalError() }
    static var readings: AsyncStream<Int16> { fatalError() }
    static var resetButton: any ResetButton { fatalError() }
    static var screen: any Screen { fatalError() }
    static var sensor: any Sensor { fatalError() }
    static var session: PeripheralSession { fatalError() }
    static var temperature: Characteristic<Int16> { fatalError() }
    static var text: String { fatalError() }
    static var transfer: Characteristic<[UInt8]> { fatalError() }
    static var upload: Characteristic<[UInt8]> { fatalError() }
    static var doors: [Peripheral] {
        get { fatalError() }
        set {}
    }
    static var light: (isOn: Bool, brightness: Int) {
        get { fatalError() }
        set {}
    }

    static func forget(_ central: Central) {}
    static func nextEntry() -> String { fatalError() }
}
