package import PeripheralCore

/// An advertisement on the air of a ``VirtualGATTServer``.
package struct VirtualAdvertisement: Hashable, Sendable {
    /// The advertising data, in AD structures.
    package var advertisingData: [UInt8]
    /// The additional data that an active scan receives, in AD structures.
    package var scanResponse: [UInt8]
    package var isConnectable: Bool
    package var interval: AdvertisingInterval

    package init(
        advertisingData: [UInt8],
        scanResponse: [UInt8],
        isConnectable: Bool = true,
        interval: AdvertisingInterval = .every(.milliseconds(1280))
    ) {
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
        self.interval = interval
    }
}

/// Identifies an advertisement of a ``VirtualGATTServer``.
package struct AdvertisementID: Hashable, Comparable, Sendable {
    let number: Int

    package static func < (lhs: AdvertisementID, rhs: AdvertisementID) -> Bool {
        lhs.number < rhs.number
    }
}
