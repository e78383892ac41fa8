public import PeripheralCore

/// An advertisement that a central has received.
public struct ScanResult: Hashable, Sendable {
    /// The address of the advertiser.
    public var address: DeviceAddress

    /// The advertising data as sent, in AD structures (Core Specification, Vol 3, Part C, 11).
    public var advertisingData: [UInt8]

    /// The scan response as sent, in AD structures.
    ///
    /// The array is empty if there is no scan response.
    public var scanResponse: [UInt8]

    /// Whether a central can connect.
    public var isConnectable: Bool

    /// Creates a result, for implementations of ``TestCentral``.
    public init(
        address: DeviceAddress,
        advertisingData: [UInt8],
        scanResponse: [UInt8],
        isConnectable: Bool
    ) {
        self.address = address
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
    }
}

extension ScanResult {
    /// The decoded fields of the advertising data and the scan response, such as the name.
    public var payload: AdvertisementPayload {
        AdvertisementPayload(
            advertisingData: AdvertisingData(decoding: advertisingData),
            scanResponse: AdvertisingData(decoding: scanResponse)
        )
    }
}
