// Counts, times and information about the device.

extension BTHomeObject {
    private static let countQuantity = BTHomeQuantity(
        "count",
        "",
        .unsigned(0x09, bytes: 1),
        .unsigned(0x3D, bytes: 2),
        .unsigned(0x3E, bytes: 4),
        .signed(0x59, bytes: 1),
        .signed(0x5A, bytes: 2),
        .signed(0x5B, bytes: 4)
    )

    /// A count.
    ///
    /// The numbers are 0x09, 0x3D and 0x3E for counts of 1, 2 and 4 bytes from 0, and 0x59, 0x5A and 0x5B for
    /// signed counts of 1, 2 and 4 bytes.
    ///
    /// - Parameters:
    ///   - count: The count, from −2,147,483,648 to 4,294,967,295.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func count(_ count: Int, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(countQuantity, Double(count), objectID)
    }

    /// The number of a channel, object 0x60.
    public static func channel(_ channel: UInt8) -> BTHomeObject {
        BTHomeObject(id: 0x60, [channel])
    }

    /// The revision of the settings of the device, object 0x65.
    public static func settingsRevision(_ revision: UInt8) -> BTHomeObject {
        BTHomeObject(id: 0x65, [revision])
    }

    /// A time in seconds since 1 January 1970, 0:00 UTC, object 0x50.
    public static func timestamp(_ secondsSince1970: UInt32) -> BTHomeObject {
        BTHomeObject(id: 0x50, secondsSince1970.littleEndianBytes)
    }

    /// The number of the packet, object 0x00.
    ///
    /// Receivers ignore a packet with the number of the packet before it. A new event needs a new number, or
    /// receivers take the repetition of a packet for another event. After 255, the number returns to 0.
    public static func packetID(_ number: UInt8) -> BTHomeObject {
        BTHomeObject(id: 0x00, [number])
    }

    /// The number of the type of the device, which its manufacturer chooses, object 0xF0.
    public static func deviceType(_ number: UInt16) -> BTHomeObject {
        BTHomeObject(id: 0xF0, number.littleEndianBytes)
    }

    /// The version of the firmware as three numbers, object 0xF2.
    public static func firmwareVersion(_ major: UInt8, _ minor: UInt8, _ patch: UInt8) -> BTHomeObject {
        BTHomeObject(id: 0xF2, [patch, minor, major])
    }

    /// The version of the firmware as four numbers, object 0xF1.
    public static func firmwareVersion(
        _ major: UInt8,
        _ minor: UInt8,
        _ patch: UInt8,
        _ build: UInt8
    ) -> BTHomeObject {
        BTHomeObject(id: 0xF1, [build, patch, minor, major])
    }
}

extension FixedWidthInteger {
    /// The bytes of the integer, least significant byte first.
    var littleEndianBytes: [UInt8] {
        stride(from: 0, to: Self.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
