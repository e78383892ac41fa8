import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZModel

/// PeripheralKit examines the room of an advertisement by the Core Specification, and the model by what BlueZ
/// does.
///
/// The two must agree: what PeripheralKit accepts and refuses is what the newest BlueZ accepts and refuses.
@Suite(.timeLimit(.minutes(1)))
struct AdvertisementRoomTests {
    @Test(arguments: [Advertisement.Kind.connectable, .broadcast])
    func agreesWithTheNewestBlueZ(kind: Advertisement.Kind) async {
        var random = SeededGenerator(seed: 4711)
        for number in 0..<5_000 {
            // Other tests wait for one of the few threads.
            if number.isMultiple(of: 100) { await Task.yield() }
            let advertisement = Advertisement.random(kind, using: &random)
            // A secondary channel exists on Bluetooth 5 only.
            let adapters: [AdvertisingCapabilities] =
                advertisement.secondaryChannel == nil ? [.legacy, .extended] : [.extended]
            for adapter in adapters {
                // The kernel adds flags to a broadcast where there is room, and then counts them.
                let plan = advertisement.plan(for: adapter)
                guard !plan.entries.contains(where: { $0.source == .kernel && $0.field == .flags }) else {
                    continue
                }
                let issues = advertisement.roomIssues(named: "advertisement")
                let generation = adapter.isExtended ? "Bluetooth 5" : "Bluetooth 4"
                let isRefused = issues.contains { $0.severity == .error || $0.reason.contains(generation) }
                if isRefused { #expect(!plan.isPossible, "\(number): \(plan)") }
                // bluetoothd sends both parts to the kernel in one message of 252 bytes.
                guard plan.isConnectable || plan.advertisingData.byteCount < 200 else { continue }
                #expect(isRefused == !plan.isPossible, "\(number): \(plan)")
                // A Bluetooth 5 adapter may have more room for the name.
                guard plan.isPossible, adapter == adapters[0] else { continue }
                let isCut = { (issue: DeclarationIssue) in issue.reason.hasPrefix("only its first ") }
                #expect(issues.filter(isCut) == plan.issues.filter(isCut), "\(number): \(plan)")
            }
        }
    }
}

extension Advertisement {
    /// An advertisement that may or may not fit; its data is not empty.
    fileprivate static func random(
        _ kind: Kind,
        using random: inout SeededGenerator
    ) -> Advertisement {
        var advertisement = Advertisement(kind)
        if Bool.random(using: &random) {
            advertisement.localName = String(repeating: "é", count: .random(in: 1...40, using: &random))
        }
        advertisement.services = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            BluetoothUUID.random(using: &random)
        }
        if Bool.random(using: &random) { advertisement.appearance = 0x0340 }
        if Int.random(in: 0..<4, using: &random) == 0 { advertisement.includes.insert(.txPower) }
        if Int.random(in: 0..<4, using: &random) == 0 { advertisement.secondaryChannel = .oneM }
        if Int.random(in: 0..<8, using: &random) == 0 {
            advertisement.interval = .between(.milliseconds(10_000), and: .milliseconds(11_000))
        }
        advertisement.manufacturerData = .random(key: 0x0059, using: &random)
        advertisement.serviceData = .random(key: .random(using: &random), using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 {
            advertisement.scanResponse.manufacturerData = .random(key: 0x004C, using: &random)
        }
        return advertisement
    }
}

extension BluetoothUUID {
    fileprivate static func random(using random: inout SeededGenerator) -> BluetoothUUID {
        Bool.random(using: &random)
            ? BluetoothUUID(UInt16.random(in: 0x1800...0x18FF, using: &random))
            : BluetoothUUID("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001")
    }
}

extension Dictionary where Value == [UInt8] {
    fileprivate static func random(key: Key, using random: inout SeededGenerator) -> Self {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: [key: random.bytes(count: .random(in: 1...10, using: &random))]
        case 1: [key: random.bytes(count: .random(in: 20...32, using: &random))]
        case 2: [key: random.bytes(count: .random(in: 60...300, using: &random))]
        default: [:]
        }
    }
}
