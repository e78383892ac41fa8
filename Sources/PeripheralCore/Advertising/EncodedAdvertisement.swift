/// An advertisement as it goes on the air.
public struct EncodedAdvertisement: Hashable, Sendable {
    /// What every packet carries.
    public var advertisingData: AdvertisingData
    /// What a scanner gets that asks for more.
    public var scanResponse: AdvertisingData

    /// Creates an advertisement of its two parts.
    public init(advertisingData: AdvertisingData, scanResponse: AdvertisingData = AdvertisingData()) {
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
    }
}
