import PeripheralBTHome
import PeripheralBeacon
import PeripheralKit

/// Prints beacons as bytes, and in the words of independent parsers.
///
/// One line for each beacon: the format, the bytes of the advertising data, and the expected fields as JSON.
@main
enum BeaconValues {
    static func main() throws {
        try printBeacons()
        try printBTHome()
        try printEncrypted()
    }

    /// Prints an advertisement with the fields that the parser must find, as JSON.
    static func show(_ format: String, _ advertisement: Advertisement, _ fields: String) {
        print(format, advertisement.structures.hexadecimal, "{\(fields)}")
    }
}

extension Advertisement {
    /// The advertising data without flags, in the order in which BlueZ sends it.
    fileprivate var structures: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ type: UInt8, _ content: [UInt8]) {
            bytes += [UInt8(content.count + 1), type] + content
        }
        if let services, !services.isEmpty { append(0x03, services.flatMap(\.littleEndianBytes)) }
        for (company, data) in manufacturerData {
            append(0xFF, [UInt8(company & 0xFF), UInt8(company >> 8)] + data)
        }
        for (uuid, data) in serviceData { append(0x16, uuid.littleEndianBytes + data) }
        return bytes
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}
