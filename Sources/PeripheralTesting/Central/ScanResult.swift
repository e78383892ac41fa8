public import PeripheralCore

/// An advertisement that a central has received.
public struct ScanResult: Hashable, Sendable {
    /// The address of the advertiser.
    public var address: DeviceAddress

    /// The raw bytes of the advertising data.
    ///
    /// The bytes consist of AD structures (Core Specification, Vol 3, Part C, 11).
    public var advertisingData: [UInt8]

    /// The raw bytes of the scan response, which consist of AD structures.
    ///
    /// The array is empty if there is no scan response.
    public var scanResponse: [UInt8]

    /// Whether a central can connect to the advertiser.
    public var isConnectable: Bool

    /// The advertising interval, or `nil` if the central does not know it.
    public var interval: AdvertisingInterval?

    /// Creates a scan result.
    ///
    /// Use this initializer when you implement ``TestCentral``.
    public init(
        address: DeviceAddress,
        advertisingData: [UInt8],
        scanResponse: [UInt8],
        isConnectable: Bool,
        interval: AdvertisingInterval? = nil
    ) {
        self.address = address
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
        self.interval = interval
    }
}

extension ScanResult {
    /// The decoded fields of the advertising data and the scan response.
    ///
    /// An example of a field is the local name.
    public var payload: AdvertisementPayload {
        AdvertisementPayload(
            advertisingData: AdvertisingData(decoding: advertisingData),
            scanResponse: AdvertisingData(decoding: scanResponse)
        )
    }
}
