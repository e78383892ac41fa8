import PeripheralBTHome
import PeripheralKit

extension BeaconValues {
    /// Prints encrypted BTHome packets with objects of 2 to 40 bytes, so with up to three blocks.
    static func printEncrypted() throws {
        for length in [0, 1, 11, 12, 13, 14, 15, 27, 28, 29, 40] {
            let key = BTHomeKey.random()
            let counter = UInt32.random(in: 0 ..< .max)
            let address = DeviceAddress(rawValue: .random(in: 0..<1 << 48))
            guard let address else { continue }
            let encryption = BTHomeEncryption(key: key, address: address, firstCounter: counter) { _ in }
            var objects: [BTHomeObject] = [.battery(97)]
            let text = String(repeating: "x", count: length)
            if length > 0 { objects.append(.text(text)) }
            show(
                "bthome",
                try .bthome(objects, isTriggerBased: length % 2 == 1, encryption: encryption),
                #""key": "\#(key.digits)", "address": "\#(address)", "sleepy": \#(length % 2 == 1), "#
                    + #""counter": \#(counter), "sensors": {"battery": 97"#
                    + (length > 0 ? #", "text": "\#(text)"}"# : "}")
            )
        }
    }
}
