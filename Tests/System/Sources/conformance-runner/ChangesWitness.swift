import CRegistration
import Glibc
import OwnThread
import PeripheralCore
import PeripheralTesting

/// A central that receives each change of the services, and compares the database with the declaration.
struct ChangesWitness {
    static let baseService: BluetoothUUID = "c0f000d1-7e3c-4b6e-9d29-b3f1c0a1d001"
    static let baseValue: BluetoothUUID = "c0f000d2-7e3c-4b6e-9d29-b3f1c0a1d001"

    private let central: BumbleCentral
    private var changed = AttributeHandle(rawValue: 0)
    private var value = AttributeHandle(rawValue: 0)
    /// The handles of the present services, as Service Changed has indicated them.
    private var ranges: [UInt16: ClosedRange<UInt16>] = [:]
    private var added = 0
    private var removed = 0
    private var indications = 0
    private var comparisons = 0
    private var highest: UInt16 = 0
    /// Whether the services have all handles in the reserved room, so BlueZ indicates nothing else.
    private let isExact: Bool
    /// The first failures, because all of them would count as memory of this program.
    private(set) var failures: [String] = []

    init(_ central: BumbleCentral, isExact: Bool) { (self.central, self.isExact) = (central, isExact) }

    private mutating func fail(_ text: String) {
        if failures.count < 20 { failures.append(text) }
    }

    var summary: String {
        "\(added) additions and \(removed) removals, \(indications) indications; "
            + "\(comparisons) comparisons, handles up to 0x\(String(highest, radix: 16))"
    }

    /// Subscribes to the value that stays, and to Service Changed.
    mutating func subscribe() async throws {
        let characteristics = try await central.knownDatabase().services.flatMap(\.characteristics)
        func handle(_ uuid: BluetoothUUID) throws -> AttributeHandle {
            guard let found = characteristics.first(where: { $0.uuid == uuid }) else {
                throw TestCentralError(code: .notFound, message: "The central does not find \(uuid).")
            }
            return found.valueHandle
        }
        (changed, value) = (try handle(.serviceChanged), try handle(Self.baseValue))
        try await central.subscribe(changed, to: .indication)
        try await central.subscribe(value, to: .notification)
    }

    /// Waits for the value that follows a change, and for the indications of the change.
    mutating func observe(_ change: ChangingServices.Change, _ number: Int) async throws {
        let (new, old): (UInt16?, UInt16?) =
            switch change {
            case .add(let sensor): (sensor.number, nil)
            case .remove(let sensor): (nil, sensor.number)
            case .replace(let sensor, let other): (other.number, sensor.number)
            }
        let expected = (new == nil ? 0 : 1) + (old == nil ? 0 : 1)
        var indicated: [ClosedRange<UInt16>] = []
        var hasValue = false
        while !hasValue || indicated.count < expected && isExact {
            let (handle, update) = try await central.nextUpdate()
            if handle == value {
                let received = update.value.reversed().reduce(0) { $0 << 8 | Int($1) }
                if hasValue || received != number {
                    fail("change \(number): the value \(received) has arrived")
                }
                hasValue = true
            } else if let range = Self.range(update.value), handle == changed {
                indicated.append(range)
            }
        }
        indications += indicated.count
        (added, removed) = (added + (new == nil ? 0 : 1), removed + (old == nil ? 0 : 1))
        guard isExact else { return }
        if let old {
            if let range = ranges.removeValue(forKey: old), let index = indicated.firstIndex(of: range) {
                indicated.remove(at: index)
            } else {
                fail("change \(number): the removed service is not indicated, but \(Self.text(indicated))")
            }
        }
        if let new { ranges[new] = indicated.popLast() }
        if !indicated.isEmpty { fail("change \(number): indications too many, \(Self.text(indicated))") }
    }

    private static func text(_ ranges: [ClosedRange<UInt16>]) -> String {
        ranges.map {
            "\(AttributeHandle(rawValue: $0.lowerBound)) to \(AttributeHandle(rawValue: $0.upperBound))"
        }
        .joined(separator: ", ")
    }

    private static func range(_ value: [UInt8]) -> ClosedRange<UInt16>? {
        guard value.count == 4 else { return nil }
        let first = UInt16(value[0]) | UInt16(value[1]) << 8
        let last = UInt16(value[2]) | UInt16(value[3]) << 8
        return first <= last ? first...last : nil
    }

    /// Compares the database, a value of each service, and the exported objects with the present services.
    mutating func compare(with present: [ChangingServices.Sensor], after number: Int) async throws {
        comparisons += 1
        let found = try await central.discover().applicationServices
        let others = found.filter { $0.uuid != Self.baseService }
        if found.count != others.count + 1 || others.count != present.count {
            fail("after \(number): \(found.count) services instead of \(present.count + 1)")
        }
        for sensor in present {
            guard let service = others.first(where: { $0.uuid == sensor.contents.uuid }) else {
                fail("after \(number): service \(sensor.contents.uuid) is missing")
                continue
            }
            if ChangingServices.Contents(service) != sensor.contents {
                fail("after \(number): \(service) is not as declared")
            }
            let handles = service.handles.lowerBound.rawValue...service.handles.upperBound.rawValue
            if isExact, ranges[sensor.number] != handles {
                let indicated = Self.text([ranges[sensor.number]].compactMap(\.self))
                fail("after \(number): handles \(Self.text([handles])), indicated \(indicated)")
            }
            if let first = service.characteristics.first {
                let value = try await central.read(first.valueHandle, offset: 0)
                let expected = [UInt8(truncatingIfNeeded: sensor.number), UInt8(sensor.number >> 8)]
                if value != expected { fail("after \(number): \(value) of \(sensor.number)") }
            }
        }
        highest = max(highest, found.map(\.handles.upperBound.rawValue).max() ?? 0)
        if highest >= 0x0400 { fail("after \(number): handles up to \(highest)") }
        try await expectSilence(after: number)
        await compareObjects(with: present, after: number)
    }

    /// By now, an indication too many would have arrived.
    private mutating func expectSilence(after number: Int) async throws {
        while true {
            do {
                let event = try await central.ask("next 1")
                indications += 1
                if isExact || event.dropFirst(2).first != "indicate" {
                    fail("after \(number): \(event.joined(separator: " "))")
                }
            } catch let error as TestCentralError where error.code == .timedOut {
                return
            }
        }
    }

    private mutating func compareObjects(with present: [ChangingServices.Sensor], after number: Int) async {
        let found = await OwnThread.run { () -> [String] in
            guard let text = registration_objects(getpid()) else { return ["no answer"] }
            defer { free(text) }
            return String(cString: text).split(separator: "\n").map(String.init)
        }
        // The declaration does not determine the paths.
        let objects = found.map { line in
            line.split(separator: " ").dropFirst().joined(separator: " ")
        }
        var expected = ["GattService1 \(Self.baseService)", "GattCharacteristic1 \(Self.baseValue)"]
        for contents in present.map(\.contents) {
            expected.append("GattService1 \(contents.uuid.fullDescription)")
            expected += contents.characteristics.map { "GattCharacteristic1 \($0.uuid.fullDescription)" }
        }
        if objects.sorted() != expected.map({ "org.bluez." + $0 }).sorted() {
            fail("after \(number): \(found.count) objects instead of \(expected.count): \(found)")
        }
    }
}

extension BluetoothUUID {
    /// All digits, as on the bus.
    fileprivate var fullDescription: String {
        let text = description.lowercased()
        return text.count == 4 ? "0000\(text)-0000-1000-8000-00805f9b34fb" : text
    }
}
